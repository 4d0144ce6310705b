//! Where one (projection, direction) is computed, per token bucket.

use std::sync::Arc;

use kernel_gen::Plan;

use crate::device::KernelPlan;

/// A plan, and what the runtime needs beside it.
pub(crate) struct Planned {
    pub plan: Plan,
    pub for_device: KernelPlan,
    /// Contraction length of one FP16 partial sum.
    pub partial_length: usize,
}

/// One token bucket: a plan, or why there is none.
#[derive(Clone)]
pub(crate) struct Decision {
    pub bucket: usize,
    pub outcome: Result<Arc<Planned>, String>,
}

/// All buckets, ascending.
#[derive(Clone, Default)]
pub(crate) struct Route {
    pub decisions: Vec<Decision>,
}

impl Route {
    /// The smallest supported bucket that holds `rows`, else the largest supported one; `None` means the CPU.
    pub fn choose(&self, rows: usize) -> Option<(usize, &Arc<Planned>)> {
        let supported = || self.decisions.iter().filter_map(|d| d.outcome.as_ref().ok().map(|plan| (d.bucket, plan)));
        supported().find(|(bucket, _)| *bucket >= rows).or_else(|| supported().next_back())
    }

    /// The requests `rows` rows become, as (bucket, rows, plan); `None` means the CPU.
    pub fn parts(&self, rows: usize) -> Option<Vec<(usize, usize, &Arc<Planned>)>> {
        let (mut parts, mut left) = (Vec::new(), rows);
        while left > 0 {
            let (bucket, planned) = self.choose(left)?;
            let rows = bucket.min(left);
            parts.push((bucket, rows, planned));
            left -= rows;
        }
        Some(parts)
    }

    /// Takes every bucket from the device.
    pub fn refuse(&mut self, reason: &str) {
        for decision in &mut self.decisions {
            if decision.outcome.is_ok() {
                decision.outcome = Err(reason.to_owned());
            }
        }
    }

    /// This route with one of its buckets alone.
    pub fn only(&self, bucket: usize) -> Route {
        Route { decisions: self.decisions.iter().filter(|d| d.bucket == bucket).cloned().collect() }
    }
}
