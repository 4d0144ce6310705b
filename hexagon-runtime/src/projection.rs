use crate::weight::Weight;

/// Names one projection of one runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProjectionId(pub(crate) usize);

/// One frozen weight and its name.
pub(crate) struct Projection {
    pub name: String,
    pub out: usize,
    pub in_: usize,
    pub weight: Weight,
    /// Why the weight is not in the precision asked for.
    pub misfit: Option<String>,
    /// Projections of one group (a layer) share a session where that costs no further one.
    pub group: usize,
    /// The NPU session that maps the weight; `None`: none does, the CPU computes with it.
    pub session: Option<usize>,
}

#[cfg(test)]
impl Projection {
    /// The only weight of session 0.
    pub fn alone(name: &str, (out, in_): (usize, usize), weight: Weight) -> Projection {
        Projection { name: name.to_owned(), out, in_, weight, misfit: None, group: 0, session: Some(0) }
    }
}
