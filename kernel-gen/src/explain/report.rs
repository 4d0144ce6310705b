//! The explanation as text.

use std::fmt;

use super::{Explanation, Use};
use crate::cost::Counts;

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.plan)?;
        for requirement in &self.requirements {
            writeln!(f, "Requires {requirement}")?;
        }
        if !self.requirements.is_empty() {
            writeln!(f)?;
        }
        self.schedule(f)?;
        self.vtcm(f)?;
        self.counts(f)?;
        self.prediction(f)
    }
}

impl Explanation {
    fn schedule(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Schedule, token rows {}..{}", self.rows.start, self.rows.end)?;
        for line in &self.lines {
            let runs = match line.step {
                Some(step) => format!("  ×{}", self.cost.steps[step].runs),
                None => String::new(),
            };
            writeln!(f, "  {}{}{runs}    {}", "  ".repeat(line.depth), line.text, line.source)?;
        }
        writeln!(f)
    }

    fn vtcm(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "VTCM: {} of {} bytes", self.plan.vtcm_bytes, self.map.vtcm_bytes)?;
        for window in &self.map.windows {
            writeln!(
                f,
                "  {:<10} {:#08x}..{:#08x}  {:>9} B{}",
                window.name,
                window.offset,
                window.offset + window.bytes,
                window.bytes,
                if window.stages > 1 { format!("  {} stages", window.stages) } else { String::new() }
            )?;
        }
        let names: Vec<&str> = self.map.windows.iter().map(|w| w.name.as_str()).collect();
        let widest = self.map.steps.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
        writeln!(f, "  {:widest$}  {}", "in step", names.join("  "))?;
        for (row, (label, _)) in self.map.steps.iter().enumerate() {
            write!(f, "  {label:widest$}  ")?;
            for window in &self.map.windows {
                write!(f, "{:<width$}", window.uses[row].mark(), width = window.name.len() + 2)?;
            }
            writeln!(f)?;
        }
        writeln!(
            f,
            "  {} filled, {} read, {} held for a later step, {} loads in flight, {} free\n",
            Use::Filled.mark(),
            Use::Read.mark(),
            Use::Held.mark(),
            Use::InFlight.mark(),
            Use::Free.mark()
        )
    }

    fn counts(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Counts (exact)")?;
        let head = ["runs", "packets", "tiles", "strips", "descriptors", "DMA bytes", "rows read B", "rows written B"];
        let widest = self.cost.steps.iter().map(|s| s.label.len()).max().unwrap_or(0).max(5);
        write!(f, "  {:widest$}", "step")?;
        for name in head {
            write!(f, " {name:>14}")?;
        }
        writeln!(f)?;
        for step in &self.cost.steps {
            row(f, &step.label, widest, Some(step.runs), &step.counts)?;
        }
        row(f, "all", widest, None, &self.cost.total)?;
        writeln!(f)
    }

    fn prediction(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let p = &self.prediction;
        writeln!(f, "Prediction, not a measurement: no phone has run this kernel. Bound by {}.", p.bound)?;
        let ms = |seconds: f64| format!("{:>9.3} ms", seconds * 1e3);
        writeln!(f, "  HMX multiplies      {}", ms(p.hmx_seconds))?;
        writeln!(
            f,
            "  HVX, busiest thread {}  ({} packets, {} with all workers)",
            ms(p.hvx_seconds),
            self.cost.busiest_packets,
            self.cost.vector_packets
        )?;
        writeln!(f, "  DDR                 {}", ms(p.ddr_seconds))?;
        writeln!(f, "  in emitted order    {}  (HVX and HMX in turn, DMA beside them)", ms(p.in_order_seconds))?;
        writeln!(
            f,
            "  all units busy      {}  (no order of these steps with this split is faster)",
            ms(p.overlapped_seconds)
        )?;
        writeln!(f, "Constants")?;
        for c in self.machine.constants() {
            writeln!(f, "  {:<29} {:>12} {:<8} {}: {}", c.name, c.value, c.unit, c.certainty, c.source)?;
        }
        Ok(())
    }
}

fn row(f: &mut fmt::Formatter<'_>, label: &str, widest: usize, runs: Option<u64>, counts: &Counts) -> fmt::Result {
    write!(f, "  {label:widest$} {:>14}", runs.map(|n| n.to_string()).unwrap_or_default())?;
    for count in [
        counts.packets,
        counts.tiles,
        counts.strips,
        counts.dma_descriptors,
        counts.dma_bytes,
        counts.row_bytes_read,
        counts.row_bytes_written,
    ] {
        write!(f, " {count:>14}")?;
    }
    writeln!(f)
}
