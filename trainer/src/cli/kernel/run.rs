//! `permafrost kernel run`

use std::time::Instant;

use clap::Args;
use hexagon_runtime::Overflow;
use hexagon_runtime::device::{Call, DdrOperand, ModelPool};
use kernel_gen::ddr::{DdrImage, DdrLayouts};
use kernel_gen::ir::OperandRole;
use kernel_gen::tolerance::{Tolerance, as_multiplied};
use kernel_gen::{Plan, Verified, cost};
use rayon::prelude::*;
use serde_json::json;

use super::model::Model;
use super::operand_data::{Random, row_exponent, values};
use super::selection::{self, PlanArgs, Tile};
use super::{KernelError, footprint, json};
use crate::cli::limits::seed;

/// Flags of `permafrost kernel run`.
#[derive(Args, Debug)]
pub(super) struct RunArgs {
    /// Kernel.
    kernel: String,
    #[command(flatten)]
    plan: PlanArgs,
    /// Tile sizes in place of the planner's: NAME=VALUE,…
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true)]
    tiles: Vec<Tile>,
    /// Seed of the operands.
    #[arg(long, default_value_t = 0, allow_hyphen_values = true, value_parser = seed)]
    seed: u64,
    /// Use the model that traps on broken rules, which is slower.
    #[arg(long)]
    checked: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Products of the reference, about five seconds of one core. Larger shapes compare a seeded sample of outputs.
const REFERENCE_PRODUCTS: u64 = 1 << 31;
/// Products of the contraction that judging one output takes: its value, its partial sums, and their magnitudes.
const EVALUATIONS: u64 = 4;
/// Upper ends of the histogram, in parts of the tolerance.
const BINS: [(f64, &str); 7] = [
    (0.0, "exact"),
    (1.0 / 64.0, "to 1/64"),
    (1.0 / 16.0, "to 1/16"),
    (0.25, "to 1/4"),
    (0.5, "to 1/2"),
    (1.0, "to 1"),
    (f64::INFINITY, "outside"),
];

/// Errors of the outputs compared.
#[derive(Default)]
struct Errors {
    bins: [usize; BINS.len()],
    compared: usize,
    largest: f64,
    largest_reference: f64,
    worst: Option<(usize, usize, f32, f64)>,
}

impl RunArgs {
    /// Runs the kernel and prints how far it is from its reference.
    pub fn run(self) -> Result<(), KernelError> {
        let kernel = selection::kernel(&self.kernel)?;
        let plan = self.plan.plan(&kernel, &self.tiles)?;
        let extents: Vec<usize> = plan.axes.iter().map(|a| a.extent as usize).collect();
        footprint::check(kernel.on(plan.arch).kernel(), &extents)?;
        let model = Model::of(&kernel, self.checked)?;
        let kernel = kernel.on(plan.arch);
        let contraction = cost::contraction_axis(kernel);
        let images = images(kernel, &extents, extents[contraction.0], self.seed)?;
        let operands = images.iter().map(|i| DdrOperand::new(&i.bytes, i.rows, i.cols, i.row_stride)).collect();
        let mut call = Call::new(&plan, &self.plan.shape.0, operands)?;
        let exponents = exponents(kernel, &extents, &images);
        call.exponents_mut().copy_from_slice(&exponents);
        let vtcm = plan.arch.vtcm_bytes();
        let mut pool = ModelPool::open(model.variant, 1, vtcm, Overflow::default())?;
        let start = Instant::now();
        pool.call(&mut call, 0..extents[0] as u32)?;
        let seconds = start.elapsed().as_secs_f64();

        let errors = compare(kernel, &plan, &extents, &images, &exponents, &call, self.seed)?;
        let flagged = call.flags().iter().filter(|&&flag| flag != 0).count();
        let outside = errors.bins[BINS.len() - 1];
        if self.json {
            json::print(&json!({
                "plan": json::plan(&plan),
                "model": if self.checked { "checked" } else { "fast" },
                "model_seconds": seconds,
                "flagged_rows": flagged,
                "compared": errors.compared,
                "outside": outside,
                "largest_error": errors.largest,
                "largest_reference": errors.largest_reference,
                "histogram": BINS.iter().zip(errors.bins)
                    .map(|((_, name), count)| json!({ "tolerance": name, "outputs": count })).collect::<Vec<_>>(),
            }));
        } else {
            outln!("{plan}");
            let model = if self.checked { "checked" } else { "fast" };
            outln!("{model} model, one thread: {:.1} ms on this CPU; says nothing about a phone", seconds * 1e3);
            errors.print(extents[0], flagged);
        }
        if outside > 0 {
            return Err(KernelError::Wrong { kernel: self.kernel, outside, compared: errors.compared });
        }
        Ok(())
    }
}

impl Errors {
    fn print(&self, rows: usize, flagged: usize) {
        if flagged > 0 {
            outln!("{flagged} of {rows} rows are flagged for retry with a smaller scale and not compared");
        }
        outln!(
            "{} outputs compared; largest error {:.3e}, largest reference {:.3e}",
            self.compared,
            self.largest,
            self.largest_reference
        );
        outln!("error in parts of the tolerance");
        let most = self.bins.iter().copied().max().unwrap_or(1).max(1);
        for ((_, name), count) in BINS.iter().zip(self.bins) {
            outln!("  {name:<9} {count:>10} {}", "#".repeat((count * 50).div_ceil(most)));
        }
        if let Some((row, column, got, expected)) = self.worst {
            outln!("worst: row {row}, column {column}: got {got:e}, the reference says {expected:e}");
        }
    }

    fn add(mut self, other: Errors) -> Errors {
        for (bin, more) in self.bins.iter_mut().zip(other.bins) {
            *bin += more;
        }
        self.compared += other.compared;
        self.largest_reference = self.largest_reference.max(other.largest_reference);
        if other.worst.is_some() && (self.worst.is_none() || other.largest > self.largest) {
            (self.largest, self.worst) = (other.largest, other.worst);
        }
        self
    }
}

fn images(kernel: &Verified, extents: &[usize], contraction: usize, seed: u64) -> Result<Vec<DdrImage>, KernelError> {
    let kernel = kernel.kernel();
    let layouts = DdrLayouts::for_kernel(kernel);
    (0..kernel.operands.len())
        .map(|index| {
            let operand = &kernel.operands[index];
            let [rows, cols] = operand.shape(extents);
            let values = values(kernel, index, extents, contraction, seed);
            Ok(layouts.of(operand)?.image(&values, rows, cols))
        })
        .collect()
}

fn exponents(kernel: &Verified, extents: &[usize], images: &[DdrImage]) -> Vec<i32> {
    let activations: Vec<(&DdrImage, usize)> = kernel
        .kernel()
        .operands
        .iter()
        .zip(images)
        .filter(|(operand, _)| operand.role == OperandRole::Activation)
        .map(|(operand, image)| (image, extents[operand.axes[1].0]))
        .collect();
    let row = |row: usize| -> Vec<f32> {
        let values = activations.iter().flat_map(|(image, cols)| &image.effective[row * cols..(row + 1) * cols]);
        values.map(|&x| x as f32).collect()
    };
    (0..extents[0]).map(|r| row_exponent(&row(r))).collect()
}

/// Compares outputs with the reference: all, or a seeded sample of a large shape. The tolerance is that of the cross-check.
fn compare(
    kernel: &Verified,
    plan: &Plan,
    extents: &[usize],
    images: &[DdrImage],
    exponents: &[i32],
    call: &Call,
    seed: u64,
) -> Result<Errors, KernelError> {
    let ir = kernel.kernel();
    let length = extents[cost::contraction_axis(kernel).0];
    let Some(output) = ir.operands.iter().position(|o| o.role == OperandRole::Output) else {
        return Ok(Errors::default());
    };
    let width = extents[ir.operands[output].axes[1].0];
    let operands = as_multiplied(ir, extents, images.iter().map(|image| image.effective.as_slice()), exponents);
    let tolerance = Tolerance::new(kernel, plan, extents, &operands, exponents)?;
    let bytes = call.operands()[output].bytes();
    let stride = images[output].row_stride as usize;

    let one = |(i, j): (usize, usize)| -> Errors {
        let at = i * stride + 4 * j;
        let got = f32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let expected = tolerance.element(i, j);
        let error = (f64::from(got) - expected.value).abs();
        let part = if error == 0.0 { 0.0 } else { error / expected.bound };
        // NaN falls into the last bin.
        let bin = BINS.iter().position(|(end, _)| part <= *end).unwrap_or(BINS.len() - 1);
        let mut errors =
            Errors { compared: 1, largest: error, largest_reference: expected.value.abs(), ..Errors::default() };
        errors.bins[bin] = 1;
        errors.worst = Some((i, j, got, expected.value));
        errors
    };
    let kept = |&(i, _): &(usize, usize)| call.flags()[i] == 0;
    let outputs = extents[0] * width;
    let affordable = (REFERENCE_PRODUCTS / (EVALUATIONS * length as u64)).max(1) as usize;
    Ok(if outputs <= affordable {
        (0..outputs)
            .into_par_iter()
            .map(|n| (n / width, n % width))
            .filter(kept)
            .map(one)
            .reduce(Errors::default, Errors::add)
    } else {
        let mut random = Random::new(!seed);
        let mut draw = |n: usize| (random.bits() % n as u64) as usize;
        let sample: Vec<(usize, usize)> = (0..affordable).map(|_| (draw(extents[0]), draw(width))).collect();
        sample.into_par_iter().filter(kept).map(one).reduce(Errors::default, Errors::add)
    })
}
