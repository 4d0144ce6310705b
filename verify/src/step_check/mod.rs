//! An author's step by itself: its body against its reference, on both models.
//!
//! ```no_run
//! # fn my_kernel() -> kernel_gen::Kernel { kernel_gen::library::forward_q8() }
//! verify::assert_step(&my_kernel().steps[0]);
//! ```
//!
//! The cross-check of a kernel runs it for each of its steps before it draws a case, because the output of a kernel says little
//! about the reference of a step on FP16 tiles. Every element must be the reference rounded once to FP16, and where that is
//! not a finite number no finite one. Zeros of either sign are the same. What a step on FP16 numbers makes of infinity and NaN is
//! not asked.

mod error;
mod tiles;

use std::time::Duration;

use half::f16;
use hexagon_runtime::Overflow;
use hexagon_runtime::device::{Call, CompileError, DdrOperand, DeviceFault};
use kernel_gen::ir::{HvxStep, InputTile, Pairs, StepInput, TILE, TILE_BYTES};
use kernel_gen::plan::{PlannedAxis, PlannedWindow};
use kernel_gen::{Arch, Plan, emit_step_c, fnv1a_32};

pub use error::{StepCheckError, StepFailure, WrongStep};
use tiles::{Tile, tiles};

use crate::closure;
use crate::isolated::{Isolated, Unanswered};

/// The kernel around the body.
const KERNEL: &str = include_str!("kernel.c");
const VTCM_BYTES: u32 = 1 << 20;
/// Room for any tile; a patch of rows takes most.
const WINDOW_BYTES: u32 = 16384;
/// Processor time for all tiles: thousands of times what they take.
const LIMIT: Duration = Duration::from_secs(20);

/// Checks `step` by itself.
///
/// # Panics
/// With the first element that is wrong, or what stopped the body.
#[track_caller]
pub fn assert_step(step: &HvxStep) {
    if let Err(error) = check_step(step, LIMIT) {
        panic!("{error}");
    }
}

/// Checks `step` by itself; the body may take `limit` of processor time on each model, in whole seconds. Returns the number of
/// tiles it was run on.
///
/// # Errors
/// [`StepCheckError`].
pub fn check_step(step: &HvxStep, limit: Duration) -> Result<usize, StepCheckError> {
    let wrong =
        |wrong| StepCheckError::Wrong(Box::new(StepFailure { step: step.name.clone(), source: step.source, wrong }));
    let tiles = tiles(step.input);
    let expected = expected(step, &tiles).map_err(|said| wrong(WrongStep::Reference(said)))?;
    let checked = run(step, &tiles, true, limit)?.map_err(|said| wrong(WrongStep::Stopped(said)))?;
    let got = elements(&checked);
    if let Some(at) = (0..expected.len()).find(|&at| !same(got[at], expected[at])) {
        return Err(wrong(WrongStep::element(step, &tiles, at, &got, &expected)));
    }
    let fast = run(step, &tiles, false, limit)?.map_err(|said| wrong(WrongStep::Stopped(said)))?;
    if let Some(at) = (0..checked.len()).find(|&at| checked[at] != fast[at]) {
        return Err(wrong(WrongStep::bits(&tiles, at / 2, &got, &elements(&fast))));
    }
    Ok(tiles.len())
}

fn expected(step: &HvxStep, tiles: &[Tile]) -> Result<Vec<f16>, String> {
    closure::call(|| tiles.iter().flat_map(|tile| elements(&step.expected(&tile.bytes))).collect())
}

fn elements(bytes: &[u8]) -> Vec<f16> {
    bytes.as_chunks().0.iter().map(|&half| f16::from_le_bytes(half)).collect()
}

fn same(got: f16, expected: f16) -> bool {
    if expected.is_finite() { got == expected } else { !got.is_finite() }
}

/// Where in a tile the element lies that is the `at`th in memory.
fn place(at: usize) -> (usize, usize) {
    let edge = TILE as usize;
    let (pair, rest) = (at / (2 * edge), at % (2 * edge));
    (2 * pair + rest % 2, rest / 2)
}

/// All FP16 tiles the body makes, or what stopped it.
fn run(
    step: &HvxStep,
    tiles: &[Tile],
    checked: bool,
    limit: Duration,
) -> Result<Result<Vec<u8>, String>, CompileError> {
    let mut isolated = Isolated::new(&unit(step), checked, 1, VTCM_BYTES, limit)?;
    let count = tiles.len() as u32;
    let (input, output) = (laid_out(step.input, tiles), vec![0; tiles.len() * TILE_BYTES as usize]);
    let operand = |bytes: &[u8]| DdrOperand::new(bytes, count, TILE * TILE, TILE_BYTES);
    let call = Call::new(&plan(step, count), &[count], vec![operand(&input), operand(&output)]);
    let answered = match call {
        Ok(mut call) => isolated.call(&mut call, 1, Overflow::default(), 0..count).map(|()| call),
        Err(fault) => Err(Unanswered::Device(fault)),
    };
    Ok(match answered {
        Ok(call) => Ok(call.operands()[1].bytes().to_vec()),
        Err(Unanswered::Device(DeviceFault::Trapped(fault))) => Err(rule(step, tiles, &fault).unwrap_or(fault)),
        Err(Unanswered::Device(fault)) => Err(fault.to_string()),
        Err(Unanswered::Ended(said) | Unanswered::Hung(said)) => Err(said),
    })
}

/// The rule of a fault of the checked model, with the tile it was broken at instead of the kernel around it.
fn rule(step: &HvxStep, tiles: &[Tile], fault: &str) -> Option<String> {
    let (_, at) = fault.split_once(&format!("`{}` at tile=", step.name))?;
    let (tile, rule) = at.split_once(": ")?;
    let family = tiles.get(tile.parse::<usize>().ok()?)?.family;
    Some(format!("{rule} (the input tile: {family})"))
}

/// The C of the body and of the kernel around it.
fn unit(step: &HvxStep) -> String {
    let HvxStep { name, input, source, .. } = step;
    let patches = if matches!(input, StepInput::Rows(_)) { "#define PATCHES\n" } else { "" };
    format!(
        "{}\n#define STEP {name}_tile\n#define STEP_WORDS \"{name}\"\n#define STEP_SOURCE {:?}\n\
         #define KERNEL_ID {:#010x}u\n#define INPUT_BYTES {}u\n{patches}{KERNEL}",
        emit_step_c(step),
        source.to_string(),
        fnv1a_32(name.as_bytes()),
        input.tile_bytes(),
    )
}

fn plan(step: &HvxStep, tiles: u32) -> Plan {
    let window =
        |name: &str, offset, stage_bytes| PlannedWindow { name: name.to_owned(), offset, stage_bytes, stages: 1 };
    Plan {
        kernel: step.name.clone(),
        kernel_id: fnv1a_32(step.name.as_bytes()),
        arch: Arch::V79,
        axes: vec![PlannedAxis { name: "tile".to_owned(), extent: tiles }],
        tunables: Vec::new(),
        windows: vec![
            window("from", 0, WINDOW_BYTES),
            window("to", WINDOW_BYTES, WINDOW_BYTES),
            // Room behind the tile, where a body that writes by plain C is seen.
            window("behind", 2 * WINDOW_BYTES, WINDOW_BYTES),
        ],
        vtcm_bytes: 3 * WINDOW_BYTES,
    }
}

/// One tile behind the other; patches of rows in pairs, row by row.
fn laid_out(input: StepInput, tiles: &[Tile]) -> Vec<u8> {
    if !matches!(input, StepInput::Rows(_)) {
        return tiles.iter().flat_map(|tile| tile.bytes.iter().copied()).collect();
    }
    let row = 2 * TILE as usize;
    let mut bytes = vec![0; tiles.len().next_multiple_of(2) * TILE_BYTES as usize];
    for (at, tile) in tiles.iter().enumerate() {
        let pair = at / 2 * 2 * TILE_BYTES as usize + at % 2 * row;
        for (index, values) in tile.bytes.chunks(row).enumerate() {
            let to = pair + index * 2 * row;
            bytes[to..to + row].copy_from_slice(values);
        }
    }
    bytes
}

/// What the reference sees at the place of element (p, q), if its input has numbers at places.
fn sees(step: &HvxStep, tile: &Tile, p: usize, q: usize) -> Option<(&'static str, f64)> {
    let input = InputTile::new(&tile.bytes);
    match step.input {
        StepInput::F16 => Some(("tile.element", input.element(p, q))),
        StepInput::Rows(Pairs::Rows) => Some(("tile.patch", input.patch(p, q))),
        StepInput::Rows(Pairs::Cols) | StepInput::Packed(..) => None,
    }
}
