use std::fmt;

use crate::planner::Routes;
use crate::projection::Projection;
use crate::{Direction, Precision};

/// How one (projection, direction, token bucket) is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanRow {
    /// Projection.
    pub projection: String,
    /// Output features.
    pub out: usize,
    /// Input features.
    pub in_: usize,
    /// Direction.
    pub direction: Direction,
    /// What the weight is kept in.
    pub precision: Precision,
    /// Token bucket.
    pub bucket: usize,
    /// The plan, or why the CPU computes it.
    pub outcome: PlanOutcome,
}

/// A plan in numbers, or the reason for none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanOutcome {
    /// The device computes it.
    Supported {
        /// (tunable, value) in declaration order.
        tiles: Vec<(String, u32)>,
        /// VTCM the windows take.
        vtcm_bytes: u32,
        /// Hash of the plan.
        hash: u64,
    },
    /// The CPU float path computes it.
    Unsupported {
        /// Why.
        reason: String,
    },
}

/// How every (projection, direction, token bucket) is computed. `Display` prints it with equal layers on one line.
#[derive(Clone, Debug, Default)]
pub struct PlanTable {
    rows: Vec<PlanRow>,
    vtcm_bytes: u32,
}

impl PlanTable {
    pub(crate) fn new(projections: &[Projection], routes: &[Routes], vtcm_bytes: u32) -> PlanTable {
        let mut rows = Vec::new();
        for (projection, routes) in projections.iter().zip(routes) {
            for direction in Direction::ALL {
                for decision in &routes[direction as usize].decisions {
                    let outcome = match &decision.outcome {
                        Ok(planned) => PlanOutcome::Supported {
                            tiles: planned.plan.tunables.iter().map(|t| (t.name.clone(), t.value)).collect(),
                            vtcm_bytes: planned.plan.vtcm_bytes,
                            hash: planned.plan.hash(),
                        },
                        Err(reason) => PlanOutcome::Unsupported { reason: reason.clone() },
                    };
                    rows.push(PlanRow {
                        projection: projection.name.clone(),
                        out: projection.out,
                        in_: projection.in_,
                        direction,
                        precision: projection.weight.precision(),
                        bucket: decision.bucket,
                        outcome,
                    });
                }
            }
        }
        PlanTable { rows, vtcm_bytes }
    }

    /// Every row, one projection after the other; empty on the CPU device.
    pub fn rows(&self) -> &[PlanRow] {
        &self.rows
    }

    /// Rows the CPU computes although an NPU device is configured.
    pub fn unsupported(&self) -> usize {
        self.refused().count()
    }

    /// The table of those rows alone, with their reasons.
    pub fn only_unsupported(&self) -> PlanTable {
        PlanTable { rows: self.refused().cloned().collect(), vtcm_bytes: self.vtcm_bytes }
    }

    fn refused(&self) -> impl Iterator<Item = &PlanRow> {
        self.rows.iter().filter(|row| matches!(row.outcome, PlanOutcome::Unsupported { .. }))
    }
}

/// Rows that differ in layer numbers only.
struct Group<'a> {
    pattern: String,
    row: &'a PlanRow,
    count: usize,
}

impl fmt::Display for PlanTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rows.is_empty() {
            return writeln!(f, "CPU device: every product is an f32 GEMM, no plans");
        }
        let mut groups: Vec<Group<'_>> = Vec::new();
        for row in &self.rows {
            let pattern = layer_pattern(&row.projection);
            let same = |group: &&mut Group<'_>| {
                let other = group.row;
                group.pattern == pattern
                    && (other.out, other.in_, other.direction, other.precision, other.bucket, &other.outcome)
                        == (row.out, row.in_, row.direction, row.precision, row.bucket, &row.outcome)
            };
            match groups.iter_mut().find(same) {
                Some(group) => group.count += 1,
                None => groups.push(Group { pattern, row, count: 1 }),
            }
        }
        let names: Vec<String> = groups
            .iter()
            .map(|group| match group.count {
                1 => group.row.projection.clone(),
                count => format!("{} ×{count}", group.pattern),
            })
            .collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max("projection".len());
        let header = format!(
            "{:<width$}  {:>13}  {:<10}  {:<4}  {:>6}  plan",
            "projection", "out × in", "direction", "prec", "bucket"
        );
        writeln!(f, "{header}")?;
        for (name, group) in names.iter().zip(&groups) {
            let row = group.row;
            let shape = format!("{} × {}", row.out, row.in_);
            write!(f, "{name:<width$}  {shape:>13}  {:<10}  {:<4}  {:>6}  ", row.direction, row.precision, row.bucket)?;
            match &row.outcome {
                PlanOutcome::Supported { tiles, vtcm_bytes, .. } => {
                    for (tile, value) in tiles {
                        write!(f, "{tile}={value:<5} ")?;
                    }
                    writeln!(f, "VTCM {vtcm_bytes} of {} B", self.vtcm_bytes)?;
                }
                PlanOutcome::Unsupported { reason } => writeln!(f, "CPU: {reason}")?,
            }
        }
        Ok(())
    }
}

/// The name with every number between dots as `*`.
fn layer_pattern(name: &str) -> String {
    let part = |part: &str| {
        if part.parse::<usize>().is_ok() { "*".to_owned() } else { part.to_owned() }
    };
    name.split('.').map(part).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(projection: &str, outcome: PlanOutcome) -> PlanRow {
        let (direction, precision) = (Direction::Forward, Precision::Q8);
        PlanRow { projection: projection.into(), out: 1536, in_: 576, direction, precision, bucket: 128, outcome }
    }

    #[test]
    fn equal_layers_share_a_line() {
        let supported = PlanOutcome::Supported {
            tiles: vec![("mc".into(), 128), ("kc".into(), 576)],
            vtcm_bytes: 1 << 20,
            hash: 1,
        };
        let table = PlanTable {
            rows: vec![
                row("model.layers.0.mlp.up_proj", supported.clone()),
                row("model.layers.1.mlp.up_proj", supported),
                row("model.layers.2.mlp.up_proj", PlanOutcome::Unsupported { reason: "forced".into() }),
            ],
            vtcm_bytes: 8 << 20,
        };
        let text = table.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(lines[1].starts_with("model.layers.*.mlp.up_proj ×2"), "{text}");
        assert!(lines[1].contains("mc=128") && lines[1].contains("VTCM 1048576 of 8388608 B"), "{text}");
        assert!(lines[2].starts_with("model.layers.2.mlp.up_proj ") && lines[2].ends_with("CPU: forced"), "{text}");
        assert_eq!(table.unsupported(), 1);
    }
}
