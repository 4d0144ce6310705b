//! The VTCM layout for given tile sizes: windows in declaration order, each at a multiple of 2048 bytes.

use super::requirement::Setting;
use super::{MAX_EXTENT, Plan, PlanError, PlannedAxis, PlannedTunable, PlannedWindow, RESERVED_BYTES, Share};
use crate::{
    Arch, Verified,
    ir::{Candidates, Kernel, OperandLayout, StepKind, TILE, Tunable, VECTOR_BYTES, WindowId},
    verify::Placed,
};

/// Largest width and stride of a wide 2-D descriptor (24-bit fields).
const DMA_STRIDE_LIMIT: u64 = (1 << 24) - 1;
/// Most rows of a 2-D descriptor (16-bit field).
const DMA_ROWS_LIMIT: u64 = (1 << 16) - 1;

pub(super) fn check_axes(kernel: &Kernel, axes: &[u32]) -> Result<(), PlanError> {
    if axes.len() != kernel.axes.len() {
        return Err(PlanError::AxisCount {
            kernel: kernel.name.clone(),
            expected: kernel.axes.len(),
            given: axes.len(),
        });
    }
    for (axis, &extent) in kernel.axes.iter().zip(axes) {
        if extent == 0 || extent > MAX_EXTENT {
            return Err(PlanError::Extent {
                kernel: kernel.name.clone(),
                axis: axis.name.clone(),
                extent,
                limit: MAX_EXTENT,
            });
        }
    }
    Ok(())
}

/// Rows of blocks hold whole blocks: the files they come from have no others.
pub(super) fn check_blocks(kernel: &Kernel, axes: &[u32]) -> Result<(), PlanError> {
    for operand in &kernel.operands {
        let OperandLayout::Blocks(format) = operand.layout else {
            continue;
        };
        let extent = axes[operand.axes[1].0];
        if !extent.is_multiple_of(TILE) {
            return Err(PlanError::Blocks {
                kernel: kernel.name.clone(),
                axis: kernel.axes[operand.axes[1].0].name.clone(),
                extent,
                operand: operand.name.clone(),
                format: format.name,
            });
        }
    }
    Ok(())
}

/// What each window takes for these tile sizes.
pub(super) fn shares(kernel: &Kernel, tunables: &[u32]) -> Vec<Share> {
    kernel.windows.iter().map(|window| Share::of(window, tunables)).collect()
}

/// Bytes of all windows for these tile sizes.
pub(super) fn bytes(kernel: &Kernel, tunables: &[u32]) -> u64 {
    kernel.windows.iter().fold(0, |sum, window| sum.saturating_add(window.bytes(tunables).unwrap_or(u64::MAX)))
}

/// Bytes of all windows together.
pub(super) fn total(shares: &[Share]) -> u64 {
    shares.iter().fold(0, |sum, share| sum.saturating_add(share.bytes()))
}

/// What windows may take of `vtcm_bytes`.
pub(super) fn budget(vtcm_bytes: u32) -> u64 {
    u64::from(vtcm_bytes.saturating_sub(RESERVED_BYTES))
}

pub(super) fn capacity_error(
    kernel: &Kernel,
    arch: Arch,
    vtcm_bytes: u32,
    mut shares: Vec<Share>,
    advice: String,
) -> PlanError {
    let largest = (0..shares.len()).rev().max_by_key(|&i| shares[i].bytes()).unwrap_or(0);
    let needs = if shares.is_empty() {
        Share { window: String::new(), stage_bytes: 0, stages: 0 }
    } else {
        shares.remove(largest)
    };
    PlanError::Capacity {
        kernel: kernel.name.clone(),
        needs,
        taken: shares,
        arch,
        vtcm_bytes,
        reserved: RESERVED_BYTES,
        advice,
    }
}

pub(super) fn place(
    verified: &Verified,
    arch: Arch,
    axes: &[u32],
    vtcm_bytes: u32,
    tunables: &[u32],
) -> Result<Plan, PlanError> {
    let kernel = verified.on(arch).kernel();
    check_axes(kernel, axes)?;
    check_blocks(kernel, axes)?;
    check_tunables(kernel, tunables)?;
    Setting { kernel, arch, axes, vtcm_bytes }.check(tunables)?;
    check_dma(kernel, axes, tunables)?;

    let shares = shares(kernel, tunables);
    if total(&shares) > budget(vtcm_bytes) {
        let advice = "take smaller tiles, or fewer stages".to_string();
        return Err(capacity_error(kernel, arch, vtcm_bytes, shares, advice));
    }
    // The sum of all windows is below 2^32, so no part of it can overflow.
    let mut offset = 0_u32;
    let mut windows = Vec::with_capacity(shares.len());
    for share in &shares {
        let stage_bytes = share.stage_bytes as u32;
        windows.push(PlannedWindow { name: share.window.clone(), offset, stage_bytes, stages: share.stages });
        offset += stage_bytes * share.stages;
    }
    Ok(Plan {
        kernel: kernel.name.clone(),
        kernel_id: kernel.id(),
        arch,
        axes: kernel
            .axes
            .iter()
            .zip(axes)
            .map(|(axis, &extent)| PlannedAxis { name: axis.name.clone(), extent })
            .collect(),
        tunables: kernel
            .tunables
            .iter()
            .zip(tunables)
            .map(|(tunable, &value)| PlannedTunable { name: tunable.name.clone(), value })
            .collect(),
        windows,
        vtcm_bytes: offset,
    })
}

fn check_tunables(kernel: &Kernel, tunables: &[u32]) -> Result<(), PlanError> {
    if tunables.len() != kernel.tunables.len() {
        return Err(PlanError::TunableCount {
            kernel: kernel.name.clone(),
            expected: kernel.tunables.len(),
            given: tunables.len(),
        });
    }
    for (tunable, &value) in kernel.tunables.iter().zip(tunables) {
        if !tunable.allows(value) {
            return Err(PlanError::Tunable {
                kernel: kernel.name.clone(),
                tunable: tunable.name.clone(),
                value,
                allowed: allowed(tunable),
            });
        }
    }
    Ok(())
}

fn allowed(tunable: &Tunable) -> String {
    let granule = tunable.granule();
    match &tunable.candidates {
        Candidates::List(values) => {
            let legal: Vec<String> = values.iter().filter(|&&v| tunable.allows(v)).map(u32::to_string).collect();
            format!("one of {}", legal.join(", "))
        }
        Candidates::Range { min, max } => format!("a multiple of {granule} in {min}..={max}"),
    }
}

/// Every load as one descriptor: the fields it needs.
fn check_dma(kernel: &Kernel, axes: &[u32], tunables: &[u32]) -> Result<(), PlanError> {
    for placed in Placed::all(&kernel.schedule) {
        let StepKind::Load { window, operand, block } = placed.step.kind else {
            continue;
        };
        let WindowId(index) = window;
        let extents = kernel.windows[index].extents;
        let [rows, cols] = extents.map(|t| u64::from(tunables[t.0]));
        let source_cols = u64::from(axes[block[1].0]);
        let (row_field, rows, width, stride) = match kernel.operands[operand.0].layout {
            OperandLayout::RowMajor | OperandLayout::Vector => {
                // FP16 rows padded to a vector.
                (0, rows, cols * 2, (source_cols * 2).next_multiple_of(u64::from(VECTOR_BYTES)))
            }
            OperandLayout::Tiles(format) => (1, cols / u64::from(TILE), format.bytes.into(), format.bytes.into()),
            OperandLayout::Blocks(format) => {
                let row = |cols: u64| cols / u64::from(TILE) * u64::from(format.bytes);
                (0, rows, row(cols), row(source_cols))
            }
        };
        let tunable = |side: usize| format!("tunable `{}`", kernel.tunables[extents[side].0].name);
        let fields = [
            ("row count", rows, DMA_ROWS_LIMIT, tunable(row_field)),
            ("width", width, DMA_STRIDE_LIMIT, tunable(1)),
            ("source stride", stride, DMA_STRIDE_LIMIT, format!("axis `{}`", kernel.axes[block[1].0].name)),
        ];
        for (field, value, limit, cure) in fields {
            if value > limit {
                return Err(PlanError::Dma {
                    kernel: kernel.name.clone(),
                    window: kernel.windows[index].name.clone(),
                    field,
                    value,
                    limit,
                    cure,
                });
            }
        }
    }
    Ok(())
}
