//! The report as text.

use std::fmt;

use super::products::{BucketPlan, DirectionPlan, NpuSeconds, Product};
use super::report::Report;
use crate::flops::Flops;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} ({}): a step of {} tokens in one sequence on {}, weights {}, adapters of rank {} everywhere\n",
            self.model, self.architecture, self.tokens, self.arch, self.policy, self.adapters.rank
        )?;
        self.projections(f)?;
        self.session_list(f)?;
        self.operations(f)?;
        self.time(f)?;
        self.plans(f)?;
        self.activation_list(f)?;
        self.memory(f)?;
        writeln!(f, "What is counted")?;
        self.counted.iter().try_for_each(|line| writeln!(f, "  {line}"))
    }
}

impl Report {
    fn projections(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Frozen projections")?;
        writeln!(
            f,
            "  {:<24} {:<10} {:>14} {:>6} {:>15}  {:<4} {:>15}",
            "projection", "kind", "out × in", "count", "parameters", "prec", "bytes"
        )?;
        for p in &self.products {
            let (shape, parameters, bytes) = (shape(p), grouped(p.parameters), grouped(p.bytes));
            let Product { name, kind, count, precision, .. } = p;
            writeln!(f, "  {name:<24} {kind:<10} {shape:>14} {count:>6} {parameters:>15}  {precision:<4} {bytes:>15}")?;
        }
        let r = &self.resident;
        let kept: Vec<String> = [("F32", r.f32_bytes), ("FP16", r.f16_bytes), ("Q8", r.q8_bytes)]
            .into_iter()
            .filter(|(_, bytes)| *bytes > 0)
            .map(|(name, bytes)| format!("{} {name}", size(bytes)))
            .collect();
        writeln!(f, "  {} projections, {} parameters", r.projections, grouped(r.parameters))?;
        writeln!(
            f,
            "  resident {} = {} ({} B); all FP16 {} ({} B)",
            size(r.bytes),
            kept.join(" + "),
            grouped(r.bytes),
            size(r.all_f16_bytes),
            grouped(r.all_f16_bytes)
        )?;
        writeln!(
            f,
            "  not among them: embedding {}, {}, everything else {}; text model {} parameters\n",
            grouped(r.embedding_parameters),
            match r.head_parameters {
                0 => "the head is the embedding".to_owned(),
                head => format!("head {}", grouped(head)),
            },
            grouped(r.other_parameters),
            grouped(r.model_parameters)
        )
    }

    fn session_list(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sessions = &self.sessions.sessions;
        writeln!(f, "NPU sessions: {} of up to {} of weights each", sessions.len(), size(self.sessions.limit))?;
        for (number, s) in sessions.iter().enumerate() {
            let (number, bytes, count) = (number + 1, size(s.bytes), s.projections);
            writeln!(f, "  {number}  {bytes:>9}  {count:>3} projections  {} .. {}", s.first, s.last)?;
        }
        writeln!(f)
    }

    fn operations(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Operations of a step, TFLOP")?;
        writeln!(
            f,
            "  {:<10} {:>12} {:>9} {:>10} {:>11} {:>9} {:>10}",
            "phase", "projections", "head", "attention", "delta rule", "LoRA", "all"
        )?;
        let phases = &self.flops;
        let all = phases.forward + phases.recompute + phases.backward;
        for (name, flops) in
            [("forward", phases.forward), ("recompute", phases.recompute), ("backward", phases.backward), ("all", all)]
        {
            let Flops { projections, head, attention, delta_net, lora } = flops;
            let [p, h, a, d, l, t] =
                [projections, head, attention, delta_net, lora, flops.total()].map(|n| n as f64 / 1e12);
            writeln!(f, "  {name:<10} {p:>12.3} {h:>9.3} {a:>10.3} {d:>11.3} {l:>9.3} {t:>10.3}")?;
        }
        writeln!(f)
    }

    fn time(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Predicted NPU time of a step")?;
        writeln!(f, "  {}", self.npu.note)?;
        writeln!(f, "  {:<10} {:>12} {:>15}", "phase", "as emitted", "all units busy")?;
        let npu = &self.npu;
        for (name, seconds) in
            [("forward", npu.forward), ("recompute", npu.recompute), ("backward", npu.backward), ("all", npu.total)]
        {
            let NpuSeconds { in_order, overlapped } = seconds;
            writeln!(f, "  {name:<10} {in_order:>10.3} s {overlapped:>13.3} s")?;
        }
        writeln!(f, "  each request, one projection")?;
        for product in &self.products {
            for (direction, plan) in directions(product) {
                for request in &plan.requests {
                    let (name, bucket) = (&product.name, request.bucket);
                    let (ms, busy) = (request.seconds.in_order * 1e3, request.seconds.overlapped * 1e3);
                    writeln!(
                        f,
                        "  {name:<24} {direction:<10} {:>5} rows in bucket {bucket:<5} {ms:>9.3} ms {busy:>9.3} ms  {}",
                        request.rows, request.bound
                    )?;
                }
            }
        }
        writeln!(f)
    }

    fn plans(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Device plans by shape, of {} B of VTCM", grouped(self.vtcm_bytes.into()))?;
        let mut seen = Vec::new();
        for product in &self.products {
            let key = (product.rows, product.cols, &product.precision);
            if seen.contains(&key) {
                continue;
            }
            seen.push(key);
            for (direction, plan) in directions(product) {
                let label = format!("  {:>14}  {:<4}  {direction:<10}", shape(product), product.precision);
                match whole_reason(&plan.buckets) {
                    Some(reason) => writeln!(f, "{label}  bucket   all  CPU: {reason}")?,
                    None => plan.buckets.iter().try_for_each(|bucket| {
                        write!(f, "{label}  bucket {:>5}  ", bucket.bucket)?;
                        bucket_line(f, bucket)
                    })?,
                }
            }
        }
        writeln!(f)
    }

    fn activation_list(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let a = &self.activations;
        writeln!(f, "Activations, f32")?;
        for kind in &a.kinds {
            writeln!(
                f,
                "  {} {} layers: stored {} each, computed again {} each (the input)",
                kind.layers,
                kind.kind,
                size(kind.stored_bytes),
                size(kind.recomputed_bytes)
            )?;
            let parts: Vec<String> =
                kind.buffers.iter().map(|(name, bytes)| format!("{name} {}", size(*bytes))).collect();
            writeln!(f, "    input {}, {}", size(kind.recomputed_bytes), parts.join(", "))?;
        }
        writeln!(
            f,
            "  every layer stored {}; every layer computed again {}, the one at work included",
            size(a.all_stored_bytes),
            size(a.all_recomputed_bytes)
        )?;
        let layers: usize = a.kinds.iter().map(|kind| kind.layers).sum();
        writeln!(
            f,
            "  --activation-bytes {}: {} of {layers} layers computed again ({}), {} at once\n",
            a.budget,
            a.recomputed.len(),
            ranges(&a.recomputed),
            size(a.bytes)
        )
    }

    fn memory(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let a = &self.adapters;
        writeln!(
            f,
            "Adapters of rank {}: {} tensors, {} parameters, {}; gradients {}, optimizer {}\n",
            a.rank,
            a.tensors,
            grouped(a.parameters),
            size(a.bytes),
            size(a.gradient_bytes),
            size(a.optimizer_bytes)
        )?;
        writeln!(f, "Predicted peak memory")?;
        for part in &self.peak {
            writeln!(f, "  {:<40} {:>10}", part.name, size(part.bytes))?;
        }
        writeln!(f, "  {:<40} {:>10}", "all", size(self.step_bytes))?;
        writeln!(f, "  {:<40} {:>10}", "while the model is loaded", size(self.loading_bytes))?;
        writeln!(f, "  {:<40} {:>10}\n", "the larger", size(self.peak_bytes))
    }
}

fn directions(product: &Product) -> [(&'static str, &DirectionPlan); 2] {
    [("forward", &product.forward), ("input_grad", &product.input_grad)]
}

fn shape(product: &Product) -> String {
    format!("{} × {}", product.rows, product.cols)
}

/// The reason that keeps every bucket from the device, if it is one.
fn whole_reason(buckets: &[BucketPlan]) -> Option<&str> {
    let first = buckets.first()?.unsupported.as_deref()?;
    buckets.iter().all(|bucket| bucket.unsupported.as_deref() == Some(first)).then_some(first)
}

fn bucket_line(f: &mut fmt::Formatter<'_>, bucket: &BucketPlan) -> fmt::Result {
    if let Some(reason) = &bucket.unsupported {
        return writeln!(f, "CPU: {reason}");
    }
    for (tile, value) in &bucket.tiles {
        write!(f, "{tile}={value:<5} ")?;
    }
    writeln!(f, "VTCM {} B", grouped(bucket.vtcm_bytes.into()))
}

/// 1234567 as 1,234,567.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Decimal bytes in the unit that reads best.
fn size(bytes: u64) -> String {
    match bytes {
        1_000_000_000.. => format!("{:.2} GB", bytes as f64 / 1e9),
        1_000_000.. => format!("{:.1} MB", bytes as f64 / 1e6),
        1_000.. => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{bytes} B"),
    }
}

/// Ascending numbers as 0-3, 7; `none` without any.
fn ranges(numbers: &[usize]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b).map(|run| match (run.first(), run.last()) {
        (Some(first), Some(last)) if first != last => format!("{first}-{last}"),
        _ => run[0].to_string(),
    });
    let text = runs.collect::<Vec<_>>().join(", ");
    if text.is_empty() { "none".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!([0, 999, 1000, 4_739_563_520].map(grouped), ["0", "999", "1,000", "4,739,563,520"]);
        assert_eq!([12, 4_200, 129_900_000, 4_739_563_520].map(size), ["12 B", "4.2 kB", "129.9 MB", "4.74 GB"]);
        assert_eq!(ranges(&[0, 1, 2, 7, 9, 10]), "0-2, 7, 9-10");
        assert_eq!(ranges(&[]), "none");
    }
}
