//! Runs cases of one kernel on both models.

use std::ops::Range;
use std::time::Duration;

use hexagon_runtime::device::{Call, DdrOperand};
use kernel_gen::ddr::{DdrImage, DdrLayouts};
use kernel_gen::ir::{Element, HvxStep, OperandLayout, OperandRole, Statement, StepInput, StepKind};
use kernel_gen::tolerance::{Tolerance, as_multiplied};
use kernel_gen::{Arch, Kernel, Plan, Verified};

use super::judge::judge_rows;
use super::outputs::Outputs;
use super::tunables::{self, VTCM_BYTES};
use super::{CrossCheckError, Trial, Wrong};
use crate::closure;
use crate::isolated::{Isolated, Unanswered};
use crate::row_exponent::row_exponent;
use crate::step_check::{StepCheckError, check_step};

/// Threads of the fast model: the split of a request over workers must not change a bit.
const FAST_THREADS: u32 = 3;
/// A row is sent again at most so often, each time with a further 2^-8.
const RETRIES: usize = 3;
/// Processor time of one run: thousands of times what a case takes.
const LIMIT: Duration = Duration::from_secs(20);

/// A compiled kernel in its models.
pub(super) struct Bench {
    kernel: Verified,
    pub(super) layouts: DdrLayouts,
    checked: Isolated,
    fast: Isolated,
    limit: Duration,
}

impl Bench {
    pub fn new(kernel: Verified, library: &str) -> Result<Bench, CrossCheckError> {
        let checked = Isolated::new(library, true, 1, VTCM_BYTES, LIMIT)?;
        let fast = Isolated::new(library, false, FAST_THREADS, VTCM_BYTES, LIMIT)?;
        Ok(Bench { layouts: DdrLayouts::for_kernel(kernel.kernel()), kernel, checked, fast, limit: LIMIT })
    }

    /// Every step of the kernel by itself, as it is written.
    pub fn check_steps(&self) -> Result<(), CrossCheckError> {
        let mut checked: Vec<&HvxStep> = Vec::new();
        for step in Arch::ALL.iter().flat_map(|&arch| &self.kernel.on(arch).kernel().steps) {
            if checked.iter().any(|other| other.source == step.source) {
                continue;
            }
            check_step(step, self.limit).map_err(|error| match error {
                StepCheckError::Compile(error) => CrossCheckError::Compile(error),
                StepCheckError::Wrong(failure) => CrossCheckError::Step(failure),
            })?;
            checked.push(step);
        }
        Ok(())
    }

    /// Processor time of one run.
    pub fn set_limit(&mut self, limit: Duration) {
        self.limit = limit;
        self.checked.set_limit(limit);
        self.fast.set_limit(limit);
    }

    pub fn kernel(&self) -> &Verified {
        &self.kernel
    }

    /// Whether every operand can be laid out, and every output read back.
    pub fn check_layouts(&self) -> Result<(), CrossCheckError> {
        for operand in Arch::ALL.iter().flat_map(|&arch| &self.kernel.on(arch).kernel().operands) {
            self.layouts.of(operand)?;
            let rows_of_floats = operand.layout == OperandLayout::RowMajor && operand.element == Element::F32;
            if operand.role == OperandRole::Output && !rows_of_floats {
                return Err(CrossCheckError::Aborted(format!(
                    "output `{}` is not row-major f32, which is all a cross-check can read back",
                    operand.name
                )));
            }
        }
        Ok(())
    }

    /// The plan of a case, or why there is none.
    pub fn plan_text(&self, trial: &Trial) -> String {
        match tunables::plan(&self.kernel, trial) {
            Ok(plan) => plan.to_string(),
            Err(error) => error.to_string(),
        }
    }

    /// Runs one case.
    pub fn run(&mut self, trial: &Trial) -> Result<(), Wrong> {
        let plan = tunables::plan(&self.kernel, trial).map_err(|error| Wrong::Plan(error.to_string()))?;
        let images = self.images(trial)?;
        let verified = self.kernel.on(plan.arch);
        let kernel = verified.kernel();
        let scaled = scales_rows(&kernel.schedule);
        let mut exponents = exponents(kernel, trial, &images);
        let call = || call(&plan, trial, &images);
        let (mut checked_call, mut fast_call) = (call()?, call()?);
        let outputs = Outputs::of(kernel, trial, &images);
        let mut pending: Vec<usize> = trial.rows().collect();
        let mut answered: Vec<Option<Vec<u8>>> = vec![None; trial.extents[0]];
        for _ in 0..=RETRIES {
            for (model, call) in [(&mut self.checked, &mut checked_call), (&mut self.fast, &mut fast_call)] {
                call.exponents_mut().copy_from_slice(&exponents);
                outputs.clear(call);
                let Range { start, end } = trial.rows();
                model.call(call, outputs.operand(), trial.overflow, start as u32..end as u32).map_err(unanswered)?;
                outputs.check_untouched(call)?;
            }
            let flagged: Vec<usize> = trial.rows().filter(|&row| checked_call.flags()[row] != 0).collect();
            let effective = images.iter().map(|image| image.effective.as_slice());
            let operands = as_multiplied(kernel, &trial.extents, effective, &exponents);
            let tolerance = Tolerance::new(verified, &plan, &trial.extents, &operands, &exponents)
                .map_err(|error| Wrong::Device(error.to_string()))?;
            let not_finite = not_finite(kernel, trial, &operands);
            let judged = closure::call(|| {
                let expected = |row, column| tolerance.element(row, column);
                judge_rows(&outputs, &checked_call, &pending, not_finite.as_deref(), expected)
            });
            judged.map_err(|said| Wrong::Reference(format!("the reference of the kernel panicked: {said}")))??;
            for row in trial.rows().filter(|row| !flagged.contains(row)) {
                outputs.same_bits(row, &checked_call, &fast_call)?;
                let bytes = outputs.row_bytes(row, &checked_call);
                if answered[row].get_or_insert_with(|| bytes.clone()) != &bytes {
                    return Err(Wrong::Unstable { row });
                }
            }
            if flagged.is_empty() || !scaled {
                return Ok(());
            }
            for &row in &flagged {
                exponents[row] = (exponents[row] - 8).max(-126);
            }
            pending = flagged;
        }
        Ok(())
    }

    fn images(&self, trial: &Trial) -> Result<Vec<DdrImage>, Wrong> {
        let kernel = self.kernel.on(trial.arch()).kernel();
        (0..kernel.operands.len())
            .map(|index| {
                let operand = &kernel.operands[index];
                let layout = self.layouts.of(operand).map_err(|error| Wrong::Device(error.to_string()))?;
                let [rows, cols] = operand.shape(&trial.extents);
                let values = trial.values(kernel, index);
                closure::call(|| layout.image(&values, rows, cols)).map_err(|said| {
                    let name = &operand.name;
                    Wrong::Reference(format!(
                        "the layout of operand `{name}`, or the reference of its step, panicked: {said}"
                    ))
                })
            })
            .collect()
    }
}

/// e of every token row, over all activations of the row; 0 for a kernel without row scale.
fn exponents(kernel: &Kernel, trial: &Trial, images: &[DdrImage]) -> Vec<i32> {
    let scaled = scales_rows(&kernel.schedule);
    (0..trial.extents[0])
        .map(|row| {
            let mut values = Vec::new();
            for (operand, image) in kernel.operands.iter().zip(images) {
                if scaled && operand.role == OperandRole::Activation {
                    let cols = trial.extents[operand.axes[1].0];
                    values.extend(image.effective[row * cols..(row + 1) * cols].iter().map(|&x| x as f32));
                }
            }
            row_exponent(&values)
        })
        .collect()
}

fn scales_rows(body: &[Statement]) -> bool {
    body.iter().any(|statement| match statement {
        Statement::Loop(l) => scales_rows(&l.body),
        Statement::Step(step) => {
            matches!(step.kind, StepKind::PackRows { scale: true, .. } | StepKind::PackCols { scale: true, .. })
        }
    })
}

fn call(plan: &Plan, trial: &Trial, images: &[DdrImage]) -> Result<Call, Wrong> {
    let axes: Vec<u32> = trial.extents.iter().map(|&extent| extent as u32).collect();
    let operands = images.iter().map(|i| DdrOperand::new(&i.bytes, i.rows, i.cols, i.row_stride)).collect();
    Call::new(plan, &axes, operands).map_err(|fault| Wrong::Device(fault.to_string()))
}

fn unanswered(why: Unanswered) -> Wrong {
    match why {
        Unanswered::Device(fault) => Wrong::Device(fault.to_string()),
        Unanswered::Ended(text) => Wrong::Ended(text),
        Unanswered::Hung(text) => Wrong::Hung(text),
    }
}

/// The first element of an operand that is not a finite number, and what made it.
fn not_finite(kernel: &Kernel, trial: &Trial, operands: &[Vec<f64>]) -> Option<String> {
    let (operand, at, value) = kernel.operands.iter().zip(operands).find_map(|(operand, values)| {
        let at = values.iter().position(|value| !value.is_finite())?;
        Some((operand, at, values[at]))
    })?;
    let cols = operand.shape(&trial.extents)[1].max(1);
    let maker = match operand.layout {
        OperandLayout::Tiles(format) => kernel.steps.iter().find(
            |step| matches!(step.input, StepInput::Packed(own, _) if own == format && format.dequantise.is_none()),
        ),
        _ => None,
    };
    let maker = maker.map_or(String::new(), |step| format!(", by the reference of step `{}`", step.name));
    Some(format!("element ({}, {}) of operand `{}` is {value}{maker}", at / cols, at % cols, operand.name))
}
