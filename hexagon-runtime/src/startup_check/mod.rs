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
    let reference = Reference::compute(projection, direction, &rows, &buffer.exponents, planned.partial_length, threads);
    let mut answers = vec![0.0; PATTERN_ROWS * output_width];
    buffer.read(&mut answers);
    for row in (0..PATTERN_ROWS).filter(|row| !overflowing.contains(row)) {
        for column in 0..output_width {
            let at = row * output_width + column;
            let (expected, bound) = (reference.values[at], reference.bounds[at]);
            let got = f64::from(answers[at]);
            // Written so that a NaN fails.
            if !((got - expected).abs() <= bound) {
                return Err(format!(
                    "row {row}, column {column} is {got:e}, the effective weights give {expected:e} ± {bound:.1e}"
                ));
            }
        }
    }
    Ok(buffer)
}

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
        let verdict =
            compute(npu, projection, direction, &alone, &repeated(&rows, input_width, count), count).and_then(
                |(buffer, _)| {
                    let mut answers = vec![0.0; count * output_width];
                    buffer.read(&mut answers);
                    let differs = (0..answers.len()).find(|at| {
                        let (row, column) = (at / output_width, at % output_width);
                        let same_row = row % PATTERN_ROWS * output_width + column;
                        first.flags[row % PATTERN_ROWS] == 0
                            && answers[*at].to_bits() != expected[same_row].to_bits()
                    });
                    match differs {
                        None => Ok(()),
                        Some(at) => Err(format!(
                            "of {count} rows, row {} column {} has other bits than the same row in a small request",
                            at / output_width,
                            at % output_width
                        )),
                    }
                },
            );
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
    buffer.fill(rows, count, input_width, output_width).map_err(|_| "the check's own rows are not finite".to_owned())?;
    let nothing_forced = std::iter::empty();
    let overflowing = npu
        .run(projection, direction, route, &mut buffer, nothing_forced, &mut Counters::default())
        .map_err(|fault: DeviceFault| fault.to_string())?;
    Ok((buffer, overflowing))
}
