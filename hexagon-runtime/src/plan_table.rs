use std::fmt;

use crate::planner::Routes;
use crate::projection::Projection;
use crate::route::Decision;
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

impl PlanOutcome {
    pub(crate) fn of(decision: &Decision) -> PlanOutcome {
        match &decision.outcome {
            Ok(planned) => PlanOutcome::Supported {
                tiles: planned.plan.tunables.iter().map(|t| (t.name.clone(), t.value)).collect(),
                vtcm_bytes: planned.plan.vtcm_bytes,
                hash: planned.plan.hash(),
            },
            Err(reason) => PlanOutcome::Unsupported { reason: reason.clone() },
        }
    }
}

/// How every (projection, direction, token bucket) is computed. `Display` prints it with equal layers on one line.
#[derive(Clone, Debug, Default)]
pub struct PlanTable {
    rows: Vec<PlanRow>,
    /// Token buckets each direction of a projection has.
    buckets: usize,
    vtcm_bytes: u32,
}

impl PlanTable {
    pub(crate) fn new(projections: &[Projection], routes: &[Routes], vtcm_bytes: u32) -> PlanTable {
        let mut rows = Vec::new();
        for (projection, routes) in projections.iter().zip(routes) {
            for direction in Direction::ALL {
                for decision in &routes[direction as usize].decisions {
                    rows.push(PlanRow {
                        projection: projection.name.clone(),
                        out: projection.out,
                        in_: projection.in_,
                        direction,
                        precision: projection.weight.precision(),
                        bucket: decision.bucket,
                        outcome: PlanOutcome::of(decision),
                    });
                }
            }
        }
        let buckets = routes.first().map_or(0, |routes| routes[0].decisions.len());
        PlanTable { rows, buckets, vtcm_bytes }
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
        PlanTable { rows: self.refused().cloned().collect(), ..*self }
    }

    fn refused(&self) -> impl Iterator<Item = &PlanRow> {
        self.rows.iter().filter(|row| matches!(row.outcome, PlanOutcome::Unsupported { .. }))
    }
}

/// A line of the table: a row, or the rows that one reason keeps from the device.
struct Line<'a> {
    row: &'a PlanRow,
    /// `None`: both.
    direction: Option<Direction>,
    /// `None`: all.
    bucket: Option<usize>,
}

impl PlanTable {
    /// A reason that holds for a whole direction or projection, such as a weight that does not fit FP16, is said once.
    fn lines(&self) -> Vec<Line<'_>> {
        let mut lines = Vec::new();
        for projection in self.rows.chunk_by(|a, b| a.projection == b.projection) {
            if self.one_reason(projection, Direction::ALL.len()) {
                lines.push(Line { row: &projection[0], direction: None, bucket: None });
                continue;
            }
            for rows in projection.chunk_by(|a, b| a.direction == b.direction) {
                let direction = Some(rows[0].direction);
                if self.one_reason(rows, 1) {
                    lines.push(Line { row: &rows[0], direction, bucket: None });
                } else {
                    lines.extend(rows.iter().map(|row| Line { row, direction, bucket: Some(row.bucket) }));
                }
            }
        }
        lines
    }

    /// Whether `rows` are all buckets of so many directions, refused for the same reason.
    fn one_reason(&self, rows: &[PlanRow], directions: usize) -> bool {
        let refused = rows.iter().all(|row| matches!(row.outcome, PlanOutcome::Unsupported { .. }));
        let same = rows.windows(2).all(|pair| pair[0].outcome == pair[1].outcome);
        refused && same && rows.len() > 1 && rows.len() == directions * self.buckets
    }
}

/// Lines that differ in layer numbers only.
struct Group<'a> {
    pattern: String,
    line: Line<'a>,
    count: usize,
}

impl fmt::Display for PlanTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rows.is_empty() {
            return writeln!(f, "CPU device: every product is an f32 GEMM, no plans");
        }
        let mut groups: Vec<Group<'_>> = Vec::new();
        for line in self.lines() {
            let pattern = layer_pattern(&line.row.projection);
            let key = |line: &Line<'_>| (line.row.out, line.row.in_, line.direction, line.row.precision, line.bucket);
            let same = |group: &&mut Group<'_>| {
                let other = &group.line;
                group.pattern == pattern && key(other) == key(&line) && other.row.outcome == line.row.outcome
            };
            match groups.iter_mut().find(same) {
                Some(group) => group.count += 1,
                None => groups.push(Group { pattern, line, count: 1 }),
            }
        }
        let names: Vec<String> = groups
            .iter()
            .map(|group| match group.count {
                1 => group.line.row.projection.clone(),
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
            let Line { row, direction, bucket } = group.line;
            let shape = format!("{} × {}", row.out, row.in_);
            let direction = direction.map_or("both".to_owned(), |direction| direction.to_string());
            let bucket = bucket.map_or("all".to_owned(), |bucket| bucket.to_string());
            write!(f, "{name:<width$}  {shape:>13}  {direction:<10}  {:<4}  {bucket:>6}  ", row.precision)?;
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
            buckets: 1,
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
    #[test]
    fn a_reason_that_holds_for_all_buckets_is_said_once() {
        let refused = |direction, bucket| PlanRow {
            direction,
            bucket,
            ..row("model.layers.0.mlp.up_proj", PlanOutcome::Unsupported { reason: "does not fit FP16".into() })
        };
        let both: Vec<PlanRow> = Direction::ALL
            .into_iter()
            .flat_map(|direction| [32, 128].map(|bucket| refused(direction, bucket)))
            .collect();
        let text = |rows: &[PlanRow]| PlanTable { rows: rows.to_vec(), buckets: 2, vtcm_bytes: 8 << 20 }.to_string();
        let whole = text(&both);
        assert_eq!(whole.matches("does not fit FP16").count(), 1, "{whole}");
        assert!(whole.contains("both") && whole.contains("   all  CPU:"), "{whole}");
        let forward = text(&both[..2]);
        assert_eq!(forward.matches("does not fit FP16").count(), 1, "{forward}");
        assert!(forward.contains("forward") && forward.contains("   all  CPU:"), "{forward}");
        // A bucket that is missing here has a plan.
        let part = text(&both[..3]);
        assert_eq!(part.matches("does not fit FP16").count(), 2, "{part}");
        assert!(part.contains("input_grad") && part.contains("    32  CPU:"), "{part}");
    }
}
