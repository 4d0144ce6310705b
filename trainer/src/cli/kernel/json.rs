//! Plans, counts and predictions as JSON.

use std::path::PathBuf;

use kernel_gen::Plan;
use kernel_gen::cost::{Cost, Counts, Prediction};
use kernel_gen::explain::Explanation;
use serde_json::{Value, json};

/// Prints a value.
pub(super) fn print(value: &Value) {
    outln!("{value:#}");
}

/// Files written. A path that is no UTF-8 is shown as far as it is.
pub(super) fn files(written: &[PathBuf]) -> Value {
    json!({ "files": written.iter().map(|path| path.display().to_string()).collect::<Vec<_>>() })
}

pub(super) fn plan(plan: &Plan) -> Value {
    json!({
        "kernel": plan.kernel,
        "arch": plan.arch.to_string(),
        "axes": plan.axes.iter().map(|a| (a.name.clone(), json!(a.extent))).collect::<serde_json::Map<_, _>>(),
        "tunables": plan.tunables.iter().map(|t| (t.name.clone(), json!(t.value))).collect::<serde_json::Map<_, _>>(),
        "windows": plan.windows.iter().map(|w| json!({
            "name": w.name, "offset": w.offset, "stage_bytes": w.stage_bytes, "stages": w.stages,
        })).collect::<Vec<_>>(),
        "vtcm_bytes": plan.vtcm_bytes,
        "hash": format!("{:016x}", plan.hash()),
    })
}

pub(super) fn counts(counts: &Counts) -> Value {
    json!({
        "packets": counts.packets,
        "tiles": counts.tiles,
        "stores": counts.stores,
        "dma_bytes": counts.dma_bytes,
        "dma_descriptors": counts.dma_descriptors,
        "strips": counts.strips,
        "strip_tiles": counts.strip_tiles,
        "row_bytes_read": counts.row_bytes_read,
        "row_bytes_written": counts.row_bytes_written,
    })
}

pub(super) fn cost(cost: &Cost) -> Value {
    json!({
        "total": counts(&cost.total),
        "steps": cost.steps.iter().map(|step| json!({
            "step": step.label, "source": step.source.to_string(), "runs": step.runs, "counts": counts(&step.counts),
            "predicted_vector_packets": step.vector_packets,
            "predicted_busiest_packets": step.busiest_packets,
        })).collect::<Vec<_>>(),
    })
}

fn prediction(p: &Prediction) -> Value {
    json!({
        "note": "prediction from published and inferred constants; not a measurement",
        "bound": p.bound.to_string(),
        "hmx_seconds": p.hmx_seconds,
        "hvx_seconds": p.hvx_seconds,
        "ddr_seconds": p.ddr_seconds,
        "in_order_seconds": p.in_order_seconds,
        "overlapped_seconds": p.overlapped_seconds,
    })
}

pub(super) fn explanation(e: &Explanation) -> Value {
    json!({
        "plan": plan(&e.plan),
        "rows": [e.rows.start, e.rows.end],
        "schedule": e.lines.iter().map(|line| json!({
            "depth": line.depth, "text": line.text, "source": line.source.to_string(), "step": line.step,
        })).collect::<Vec<_>>(),
        "vtcm": {
            "bytes": e.map.vtcm_bytes,
            "steps": e.map.steps.iter().map(|(label, _)| label).collect::<Vec<_>>(),
            "windows": e.map.windows.iter().map(|w| json!({
                "name": w.name, "offset": w.offset, "bytes": w.bytes, "stages": w.stages,
                "uses": w.uses.iter().map(|u| format!("{u:?}")).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
        },
        "cost": cost(&e.cost),
        "prediction": prediction(&e.prediction),
        "constants": e.machine.constants().iter().map(|c| json!({
            "name": c.name, "value": c.value, "unit": c.unit, "certainty": c.certainty.to_string(), "source": c.source,
        })).collect::<Vec<_>>(),
    })
}
