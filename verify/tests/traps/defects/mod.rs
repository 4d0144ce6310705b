//! The defects, by the unit whose rule they break. `{K}` in an edit is the name of the kernel's copy.

mod multiply;
mod numbers;
mod own_steps;
mod transfers;
mod vtcm;
mod workers;

/// One defect in otherwise right C.
#[derive(Clone, Copy)]
pub struct Defect {
    /// What is wrong.
    pub what: &'static str,
    /// The kernel it is put into.
    pub kernel: &'static str,
    /// Right text and what it becomes.
    pub edits: &'static [(&'static str, &'static str)],
    /// Words of the rule.
    pub says: &'static str,
    /// Step the trap must name.
    pub step: &'static str,
    /// Whether the trap comes from a step, which it must name; the others come from the entry or the loops.
    pub in_a_step: bool,
}

/// Rules no C of a kernel can break: the host's own memory.
pub const UNREACHABLE: [&str; 2] =
    ["the model has no memory for another scattered word", "the model has no memory for another accessed vector"];

const fn step(
    what: &'static str,
    kernel: &'static str,
    step: &'static str,
    edits: &'static [(&'static str, &'static str)],
    says: &'static str,
) -> Defect {
    Defect { what, kernel, edits, says, step, in_a_step: true }
}

const fn elsewhere(
    what: &'static str,
    kernel: &'static str,
    edits: &'static [(&'static str, &'static str)],
    says: &'static str,
) -> Defect {
    Defect { what, kernel, edits, says, step: "", in_a_step: false }
}

const FORWARD_F16: &str = "forward_f16";
const INPUT_GRAD_F16: &str = "input_grad_f16";
const FORWARD_Q8: &str = "forward_q8";
const INPUT_GRAD_Q8: &str = "input_grad_q8";
const FORWARD_Q8_BLOCKS: &str = "forward_q8_blocks";
const BY_QFLOAT: &str = "forward_q8_by_qfloat";
const BF16_ROWS: &str = "input_grad_bf16_rows";

/// All of them.
pub fn all() -> Vec<Defect> {
    [multiply::DEFECTS, transfers::DEFECTS, vtcm::DEFECTS, workers::DEFECTS, numbers::DEFECTS, own_steps::DEFECTS]
        .concat()
}
