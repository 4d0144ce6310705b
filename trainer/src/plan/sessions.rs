//! Which projections go to which NPU session.

use hexagon_runtime::{ResidentWeight, SessionError, split_sessions};
use serde::Serialize;

use crate::registry::{ModelConfig, PrecisionPolicy};

/// One session's share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Session {
    /// First projection, in model order.
    pub first: String,
    /// Last projection.
    pub last: String,
    /// Number of projections.
    pub projections: usize,
    /// Their resident bytes.
    pub bytes: u64,
}

/// All sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sessions {
    /// Bytes of weights one may map.
    pub limit: u64,
    /// They, in model order.
    pub sessions: Vec<Session>,
}

impl Sessions {
    /// Splits the projections of `config` under `policy`.
    ///
    /// # Errors
    /// A projection that is larger than a session.
    pub fn of(config: &ModelConfig, policy: &PrecisionPolicy, limit: u64) -> Result<Sessions, SessionError> {
        let layer = |group: usize| {
            config.layer_projections(group).into_iter().map(move |p| {
                let bytes = p.bytes(policy.of(p.kind));
                ResidentWeight { name: p.name, group, bytes }
            })
        };
        let weights: Vec<ResidentWeight> = (0..config.layers).flat_map(layer).collect();
        let session = |share: hexagon_runtime::SessionShare| Session {
            first: weights[share.weights.start].name.clone(),
            last: weights[share.weights.end - 1].name.clone(),
            projections: share.weights.len(),
            bytes: share.bytes,
        };
        Ok(Sessions { limit, sessions: split_sessions(&weights, limit)?.into_iter().map(session).collect() })
    }
}
