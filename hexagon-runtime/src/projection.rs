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
}
