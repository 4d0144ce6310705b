//! How resident weights are spread over NPU sessions: one session maps what its 32-bit address space holds.

use std::ops::Range;

use crate::projection::Projection;
use crate::weight::Weight;

/// Bytes of weights a session maps unless told otherwise: below the 3.2 to 3.5 GB a process on the NPU can address in
/// practice, with room for buffers and code.
pub const SESSION_BYTES: u64 = 3_000_000_000;

/// A weight to place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResidentWeight {
    /// Projection.
    pub name: String,
    /// Neighbours of one group (a layer) stay in one session where that costs no further session.
    pub group: usize,
    /// Resident bytes.
    pub bytes: u64,
}

/// What one session maps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionShare {
    /// Places among the weights given.
    pub weights: Range<usize>,
    /// Bytes of all of them.
    pub bytes: u64,
}

/// An NPU session of a runtime: what it maps and what it answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionUse {
    /// First projection, in the order they were added.
    pub first: String,
    /// Last projection.
    pub last: String,
    /// Projections it maps.
    pub projections: usize,
    /// Bytes of their weights.
    pub bytes: u64,
    /// Requests it answered up to the last finished one.
    pub requests: u64,
}

/// A weight no session can hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{name} needs {bytes} bytes, an NPU session holds {limit}: raise --session-bytes, keep the weight in fewer bits, or \
     leave it to the CPU"
)]
pub struct SessionError {
    /// Projection.
    pub name: String,
    /// Its resident bytes.
    pub bytes: u64,
    /// Bytes a session may hold.
    pub limit: u64,
}

/// Spreads `weights`, in model order, over as few sessions of at most `limit` bytes as an unbroken order allows. Layers
/// stay whole if that needs no further session; the fullest session is as small as it can be. So a pass changes the
/// session as seldom as possible, and each has the most room left.
///
/// # Errors
/// A weight of more than `limit` bytes.
pub fn split_sessions(weights: &[ResidentWeight], limit: u64) -> Result<Vec<SessionShare>, SessionError> {
    if let Some(weight) = weights.iter().find(|weight| weight.bytes > limit) {
        return Err(SessionError { name: weight.name.clone(), bytes: weight.bytes, limit });
    }
    Ok(spread(weights, limit))
}

/// [`split_sessions`] of weights that each fit.
fn spread(weights: &[ResidentWeight], limit: u64) -> Vec<SessionShare> {
    let whole: Vec<Range<usize>> = groups(weights);
    let single: Vec<Range<usize>> = (0..weights.len()).map(|at| at..at + 1).collect();
    let fewest = fill(weights, &single, limit).len();
    let fits = |units: &[Range<usize>], limit| {
        let shares = fill(weights, units, limit);
        (shares.len() <= fewest && shares.iter().all(|share| share.bytes <= limit)).then_some(shares)
    };
    let units = if fits(&whole, limit).is_some() { whole } else { single };
    // The smallest limit that still makes do with as many sessions.
    let (mut low, mut high) = (0, limit);
    while low < high {
        let middle = low + (high - low) / 2;
        match fits(&units, middle) {
            Some(_) => high = middle,
            None => low = middle + 1,
        }
    }
    fill(weights, &units, high)
}

/// Gives every projection with a weight the device can read its session, of at most `limit` bytes of weights each. One whose
/// weight is larger than that gets none.
pub(crate) fn assign_sessions(projections: &mut [Projection], limit: u64) -> Vec<SessionUse> {
    let fits = |p: &Projection| !matches!(p.weight, Weight::F32(_)) && p.weight.bytes() as u64 <= limit;
    let mut placed: Vec<&mut Projection> = projections.iter_mut().filter(|projection| fits(projection)).collect();
    let weights: Vec<ResidentWeight> = placed
        .iter()
        .map(|p| ResidentWeight { name: p.name.clone(), group: p.group, bytes: p.weight.bytes() as u64 })
        .collect();
    let shares = spread(&weights, limit);
    for (number, share) in shares.iter().enumerate() {
        placed[share.weights.clone()].iter_mut().for_each(|projection| projection.session = Some(number));
    }
    let used = |SessionShare { weights: range, bytes }: SessionShare| SessionUse {
        first: weights[range.start].name.clone(),
        last: weights[range.end - 1].name.clone(),
        projections: range.len(),
        bytes,
        requests: 0,
    };
    shares.into_iter().map(used).collect()
}

fn groups(weights: &[ResidentWeight]) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    for (at, weight) in weights.iter().enumerate() {
        match groups.last_mut() {
            Some(last) if weights[last.start].group == weight.group => last.end = at + 1,
            _ => groups.push(at..at + 1),
        }
    }
    groups
}

/// Units in order, a new session wherever the next unit does not fit. A unit larger than the limit stands alone.
fn fill(weights: &[ResidentWeight], units: &[Range<usize>], limit: u64) -> Vec<SessionShare> {
    let mut shares: Vec<SessionShare> = Vec::new();
    for unit in units {
        let bytes: u64 = weights[unit.clone()].iter().map(|weight| weight.bytes).sum();
        match shares.last_mut() {
            Some(share) if share.bytes + bytes <= limit => {
                share.weights.end = unit.end;
                share.bytes += bytes;
            }
            _ => shares.push(SessionShare { weights: unit.clone(), bytes }),
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(layers: &[&[u64]]) -> Vec<ResidentWeight> {
        let layer = |(group, bytes): (usize, &&[u64])| -> Vec<ResidentWeight> {
            let one = |(at, &bytes): (usize, &u64)| ResidentWeight { name: format!("{group}.{at}"), group, bytes };
            bytes.iter().enumerate().map(one).collect()
        };
        layers.iter().enumerate().flat_map(layer).collect()
    }

    fn split(layers: &[&[u64]], limit: u64) -> Vec<(Range<usize>, u64)> {
        let shares = split_sessions(&weights(layers), limit).unwrap();
        shares.into_iter().map(|share| (share.weights, share.bytes)).collect()
    }

    #[test]
    fn layers_stay_whole_and_sessions_are_even() {
        assert_eq!(split(&[&[2, 2], &[2, 2], &[2, 2]], 100), [(0..6, 12)]);
        assert_eq!(split(&[&[2, 2], &[2, 2], &[2, 2], &[2, 2]], 14), [(0..4, 8), (4..8, 8)]);
        assert_eq!(split(&[], 14), []);
    }

    #[test]
    fn a_layer_is_cut_only_to_save_a_session() {
        assert_eq!(split(&[&[3, 3], &[3, 3], &[3, 3]], 9), [(0..3, 9), (3..6, 9)]);
        assert_eq!(split(&[&[3, 3], &[3, 3], &[3, 3]], 11), [(0..3, 9), (3..6, 9)]);
        assert_eq!(split(&[&[3, 3], &[3, 3], &[3, 3]], 12), [(0..4, 12), (4..6, 6)]);
    }

    #[test]
    fn a_weight_beyond_a_session_is_named() {
        let error = split_sessions(&weights(&[&[3], &[3, 15]]), 14).unwrap_err().to_string();
        assert!(error.starts_with("1.1 needs 15 bytes, an NPU session holds 14"), "{error}");
    }
}
