use crate::{Direction, Precision};

/// What happened since the runtime started. Every detour a number took is counted here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counters {
    /// Forward requests the NPU device answered (a submit above the largest token bucket is several requests).
    pub forward: u64,
    /// Input-gradient requests the NPU device answered.
    pub input_grad: u64,
    /// Part of `forward` whose weight is FP16.
    pub forward_f16: u64,
    /// Part of `forward` whose weight is Q8.
    pub forward_q8: u64,
    /// Part of `input_grad` whose weight is FP16.
    pub input_grad_f16: u64,
    /// Part of `input_grad` whose weight is Q8.
    pub input_grad_q8: u64,
    /// Rows sent to the device again with a smaller scale; a row retried twice counts twice.
    pub rows_retried: u64,
    /// Rows that still overflowed after the last retry and were answered by the CPU float path.
    pub rows_to_cpu: u64,
    /// Whole requests answered by the CPU float path although an NPU device is configured.
    pub fallbacks: u64,
    /// Requests answered by the CPU device because it is the configured device.
    pub cpu_requests: u64,
}

impl Counters {
    pub(crate) fn answered_by_device(&mut self, direction: Direction, precision: Precision) {
        let (total, f16, q8) = match direction {
            Direction::Forward => (&mut self.forward, &mut self.forward_f16, &mut self.forward_q8),
            Direction::InputGrad => (&mut self.input_grad, &mut self.input_grad_f16, &mut self.input_grad_q8),
        };
        *total += 1;
        match precision {
            Precision::F16 => *f16 += 1,
            Precision::Q8 => *q8 += 1,
            // The planner never gives an f32 weight to the device.
            Precision::F32 => unreachable!("an f32 weight has no kernel"),
        }
    }
}
