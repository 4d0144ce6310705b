//! Compares the device with the effective weights before the first request.
//!
//! Every projection computes a few rows in both directions and is compared, output by output, with an f64 sum of the
//! effective weights and the FP16-rounded scaled rows. Every plan then computes those rows repeated over its bucket,
//! which must give the same bits: rows do not depend on their neighbours, their place or the bucket.

mod pattern;
mod reference;

use std::collections::HashSet;

use pattern::{PATTERN_ROWS, pattern_rows, repeated};
use reference::Reference;

use crate::device::DeviceFault;
use crate::npu::Npu;
use crate::planner::Routes;
use crate::projection::Projection;
use crate::request_buffer::RequestBuffer;
use crate::route::Route;
use crate::row_scale::{RETRY_STEP, row_exponent};
use crate::{Counters, Direction, Precision};

/// Operations a check over a whole bucket may cost; larger products repeat fewer rows.
pub(crate) struct Effort {
    /// Multiply-adds.
    pub bucket_products: usize,
    /// Host threads of the reference.
    pub threads: usize,
}

/// Checks every route and takes from the device what fails, with the reason.
pub(crate) fn check(npu: &mut Npu, projections: &[Projection], routes: &mut [Routes], effort: &Effort) {
    let mut seen = HashSet::new();
    for (projection, routes) in projections.iter().zip(routes) {
        for direction in Direction::ALL {
            let route = &mut routes[direction as usize];
            if route.choose(PATTERN_ROWS).is_none() {
                continue;
            }
            let first = match compare(npu, projection, direction, route, effort.threads) {
                Ok(first) => first,
                Err(reason) => {
                    route.refuse(&format!("start-up check: {reason}"));
                    continue;
                }
            };
            let shape: (Direction, Precision, usize, usize) =
                (direction, projection.weight.precision(), projection.out, projection.in_);
            if seen.insert(shape) {
                check_buckets(npu, projection, direction, route, &first, effort);
            }
        }
    }
}

/// Computes the pattern rows and compares them with the reference; returns them for comparison with other buckets.
fn compare(
    npu: &mut Npu,
    projection: &Projection,
    direction: Direction,
    route: &Route,
    threads: usize,
) -> Result<RequestBuffer, String> {
    let (input_width, output_width) = direction.widths(projection.out, projection.in_);
    let rows = pattern_rows(input_width);
    let (buffer, overflowing) = compute(npu, projection, direction, route, &rows, PATTERN_ROWS)?;
    let Some((_, planned)) = route.choose(PATTERN_ROWS) else {
        return Err("no plan".to_owned());
    };
    let reference =
        Reference::compute(projection, direction, &rows, &buffer.exponents, planned.partial_length, threads);
    let mut answers = vec![0.0; PATTERN_ROWS * output_width];
    buffer.read(&mut answers);
    for row in 0..PATTERN_ROWS {
        check_guard(row, &rows[row * input_width..(row + 1) * input_width], &buffer, &reference)?;
        if overflowing.contains(&row) {
            continue;
        }
        for column in 0..output_width {
            let at = row * output_width + column;
            let (expected, bound) = (reference.values[at], reference.bounds[at]);
            let got = f64::from(answers[at]);
            let error = (got - expected).abs();
            if error.is_nan() || error > bound {
                return Err(format!(
                    "row {row}, column {column} is {got:e}, the effective weights give {expected:e} ± {bound:.1e}"
                ));
            }
        }
    }
    Ok(buffer)
}

/// A row may be flagged, now or in an earlier attempt, only where a partial sum reaches the guard, and must be there:
/// garbage that always overflows would otherwise go to the CPU row by row and never be compared.
fn check_guard(row: usize, values: &[f32], buffer: &RequestBuffer, reference: &Reference) -> Result<(), String> {
    let first_exponent = row_exponent(values).map_err(|_| "the check's own rows are not finite".to_owned())?;
    let exponent = buffer.exponents[row];
    let largest = reference.largest_partials[row];
    if buffer.flags[row] == 0 && largest > GUARD * (1.0 + GUARD_SLACK) {
        return Err(format!("row {row} has a partial sum of {largest:e} and no overflow flag"));
    }
    let flagged_at = match (buffer.flags[row] != 0, exponent < first_exponent) {
        (true, _) => largest,
        (false, true) => largest * 2f64.powi(RETRY_STEP),
        (false, false) => return Ok(()),
    };
    if flagged_at < GUARD * (1.0 - GUARD_SLACK) {
        return Err(format!("row {row} has an overflow flag, but its largest partial sum is {flagged_at:e}"));
    }
    Ok(())
}

/// Magnitude at which a partial sum is flagged, …
const GUARD: f64 = 60_000.0;
/// … give or take the rounding of a row at another scale.
const GUARD_SLACK: f64 = 0.01;

/// Repeats the pattern rows over every bucket.
fn check_buckets(
    npu: &mut Npu,
    projection: &Projection,
    direction: Direction,
    route: &mut Route,
    first: &RequestBuffer,
    effort: &Effort,
) {
    let (input_width, output_width) = direction.widths(projection.out, projection.in_);
    let rows = pattern_rows(input_width);
    let mut expected = vec![0.0; PATTERN_ROWS * output_width];
    first.read(&mut expected);
    let affordable = effort.bucket_products / (projection.out * projection.in_);
    for index in 0..route.decisions.len() {
        let bucket = route.decisions[index].bucket;
        if route.decisions[index].outcome.is_err() {
            continue;
        }
        let count = bucket.min(affordable.max(PATTERN_ROWS));
        let alone = route.only(bucket);
        let verdict = compute(npu, projection, direction, &alone, &repeated(&rows, input_width, count), count)
            .and_then(|(buffer, _)| {
                let mut answers = vec![0.0; count * output_width];
                buffer.read(&mut answers);
                let differs = (0..answers.len()).find(|at| {
                    let (row, column) = (at / output_width, at % output_width);
                    let same_row = row % PATTERN_ROWS * output_width + column;
                    first.flags[row % PATTERN_ROWS] == 0 && answers[*at].to_bits() != expected[same_row].to_bits()
                });
                match differs {
                    None => Ok(()),
                    Some(at) => Err(format!(
                        "of {count} rows, row {} column {} has other bits than the same row in a small request",
                        at / output_width,
                        at % output_width
                    )),
                }
            });
        if let Err(reason) = verdict {
            route.decisions[index].outcome = Err(format!("start-up check: {reason}"));
        }
    }
}

fn compute(
    npu: &mut Npu,
    projection: &Projection,
    direction: Direction,
    route: &Route,
    rows: &[f32],
    count: usize,
) -> Result<(RequestBuffer, Vec<usize>), String> {
    let (input_width, output_width) = direction.widths(projection.out, projection.in_);
    let mut buffer = RequestBuffer::default();
    buffer
        .fill(rows, count, input_width, output_width)
        .map_err(|_| "the check's own rows are not finite".to_owned())?;
    let nothing_forced = std::iter::empty();
    let overflowing = npu
        .run(projection, direction, route, &mut buffer, nothing_forced, &mut Counters::default())
        .map_err(|fault: DeviceFault| fault.to_string())?;
    Ok((buffer, overflowing))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::config::{DeviceKind, RuntimeConfig};
    use crate::device::{ModelPool, Variant};
    use crate::faults::Faults;
    use crate::kernels::Kernels;
    use crate::planner;
    use crate::route::Planned;
    use crate::session::Session;
    use crate::weight::Weight;
    use crate::{Overflow, WeightData};

    const SIZE: usize = 96;

    struct Case {
        projections: Vec<Projection>,
        routes: Vec<Routes>,
        kernels: Kernels,
        config: RuntimeConfig,
    }

    fn case(precision: Precision, checked: bool) -> Case {
        let device = DeviceKind::Model { checked };
        let config =
            RuntimeConfig { device, precision, threads: 1, token_buckets: vec![32, 64], ..RuntimeConfig::default() };
        let weights: Vec<f32> = (0..SIZE * SIZE).map(|i| ((i * 37 % 211) as f32 - 105.0) * 1e-3).collect();
        let resident = Weight::resident("w", SIZE, SIZE, WeightData::F32(&weights), precision).unwrap();
        let projections = vec![Projection::alone("w", (SIZE, SIZE), resident.weight)];
        let kernels = Kernels::verify().unwrap();
        let routes = planner::plan(&projections, &kernels, &config, &Faults::default());
        Case { projections, routes, kernels, config }
    }

    impl Case {
        fn alter(&mut self, bucket: usize, direction: Direction, alter: impl Fn(&Kernels, &mut kernel_gen::Plan)) {
            let decision = &mut self.routes[0][direction as usize].decisions[bucket];
            let planned = decision.outcome.as_ref().unwrap();
            let mut plan = planned.plan.clone();
            alter(&self.kernels, &mut plan);
            let partial_length = planned.partial_length;
            decision.outcome = Ok(Arc::new(Planned { for_device: (&plan).into(), plan, partial_length }));
        }

        /// The reasons of (direction, bucket) after the check; empty where the device stays.
        fn check(&mut self) -> [[String; 2]; 2] {
            let checked = self.config.device == DeviceKind::Model { checked: true };
            let pool =
                ModelPool::open(Variant::select(checked), 1, self.config.vtcm_bytes, Overflow::default()).unwrap();
            let effort = Effort { bucket_products: 1 << 30, threads: 1 };
            let mut npu = Npu::new(vec![Session::new(pool, self.projections.iter())]);
            check(&mut npu, &self.projections, &mut self.routes, &effort);
            let reason = |d: &crate::route::Decision| d.outcome.as_ref().err().cloned().unwrap_or_default();
            self.routes[0].each_ref().map(|route| [0, 1].map(|bucket| reason(&route.decisions[bucket])))
        }
    }

    #[test]
    fn a_sound_kernel_passes() {
        for precision in [Precision::F16, Precision::Q8] {
            for checked in [false, true] {
                assert_eq!(case(precision, checked).check(), <[[String; 2]; 2]>::default());
            }
        }
    }

    #[test]
    fn a_kernel_that_computes_something_else_is_refused_with_numbers() {
        let mut case = case(Precision::Q8, false);
        for bucket in [0, 1] {
            // The weight is square, so the other direction's kernel runs and gives X·W for X·Wᵀ.
            case.alter(bucket, Direction::Forward, |kernels, plan| {
                let other = kernels.of(Direction::InputGrad, Precision::Q8).unwrap();
                let axes: Vec<u32> = plan.axes.iter().map(|axis| axis.extent).collect();
                *plan = kernel_gen::plan::solve(other, plan.arch, &axes, 8 << 20).unwrap();
            });
        }
        let [forward, input_grad] = case.check();
        for reason in forward {
            assert!(reason.contains("start-up check: row 0, column") && reason.contains("±"), "{reason}");
        }
        assert_eq!(input_grad, <[String; 2]>::default());
    }

    #[test]
    fn a_bucket_with_other_bits_is_refused() {
        let mut case = case(Precision::F16, false);
        case.alter(1, Direction::InputGrad, |kernels, plan| {
            // Three partial sums where the other bucket has one.
            let kernel = kernels.of(Direction::InputGrad, Precision::F16).unwrap();
            let axes: Vec<u32> = plan.axes.iter().map(|axis| axis.extent).collect();
            *plan = kernel_gen::Plan::with_tunables(kernel, plan.arch, &axes, 8 << 20, &[32, 32, 32]).unwrap();
        });
        let [forward, [small, large]] = case.check();
        assert_eq!(forward, <[String; 2]>::default());
        assert_eq!(small, "");
        assert!(large.contains("other bits"), "{large}");
    }

    #[test]
    fn a_session_computes_with_no_weight_of_another() {
        let mut case = case(Precision::Q8, false);
        case.projections
            .push(Projection { session: Some(1), ..self::case(Precision::Q8, false).projections.remove(0) });
        let open = || ModelPool::open(Variant::Portable, 1, case.config.vtcm_bytes, Overflow::default()).unwrap();
        // Session 1 maps the first weight, which belongs to session 0, and the other way round.
        let [zero, one] = [1, 0].map(|other| Session::new(open(), std::iter::once(&case.projections[other])));
        let effort = Effort { bucket_products: 1 << 30, threads: 1 };
        check(&mut Npu::new(vec![zero, one]), &case.projections[..1], &mut case.routes, &effort);
        for decision in case.routes[0].iter().flat_map(|route| &route.decisions) {
            let reason = decision.outcome.as_ref().err().unwrap();
            assert!(reason.contains("belongs to another NPU session"), "{reason}");
        }
    }

    #[test]
    fn a_trap_of_the_checked_model_is_the_reason_with_its_place() {
        let mut case = case(Precision::Q8, true);
        case.alter(0, Direction::Forward, |_, plan| {
            // One tile where three are packed.
            plan.windows[0].stage_bytes = 2048;
        });
        let [[small, _], _] = case.check();
        assert!(small.contains("stopped the kernel") && small.contains("forward_q8.rs:"), "{small}");
    }

    #[test]
    fn flags_must_be_where_partial_sums_reach_the_guard_and_nowhere_else() {
        let row = [1.0f32, -0.5];
        let verdict = |flag: u8, retries: i32, largest: f64| {
            let mut buffer = RequestBuffer::default();
            buffer.fill(&row, 1, 2, 2).unwrap();
            buffer.flags[0] = flag;
            buffer.exponents[0] -= retries * RETRY_STEP;
            let reference = Reference { values: vec![], bounds: vec![], largest_partials: vec![largest] };
            check_guard(0, &row, &buffer, &reference)
        };
        assert_eq!(verdict(0, 0, 59_000.0), Ok(()));
        assert!(verdict(0, 0, 70_000.0).unwrap_err().contains("no overflow flag"));
        assert_eq!(verdict(0, 1, 300.0), Ok(()));
        assert!(verdict(0, 1, 100.0).unwrap_err().contains("has an overflow flag"));
        assert_eq!(verdict(1, 3, 70_000.0), Ok(()));
        assert!(verdict(1, 3, 0.1).unwrap_err().contains("has an overflow flag"));
    }
}
