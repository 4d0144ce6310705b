//! Requests on the NPU device: token buckets and the retry rule.

use crate::device::{DeviceFault, Product};
use crate::projection::Projection;
use crate::request_buffer::RequestBuffer;
use crate::route::{Planned, Route};
use crate::row_scale::{EXPONENT_LIMIT, FORCED_OVERFLOW, RETRIES, retry_exponent};
use crate::session::Session;
use crate::{Counters, Direction};

/// The sessions of the device and the buffer of their retries.
pub(crate) struct Npu {
    sessions: Vec<Session>,
    retry: RequestBuffer,
}

impl Npu {
    pub fn new(sessions: Vec<Session>) -> Npu {
        Npu { sessions, retry: RequestBuffer::default() }
    }

    /// Computes all rows of `buffer`, with retries; rows in `forced` start with a scale that overflows.
    ///
    /// Returns the rows that still overflow after the last retry; their output means nothing. `buffer.exponents` ends
    /// as what each row was computed with.
    pub fn run(
        &mut self,
        projection: &Projection,
        direction: Direction,
        route: &Route,
        buffer: &mut RequestBuffer,
        forced: impl Iterator<Item = usize>,
        counters: &mut Counters,
    ) -> Result<Vec<usize>, DeviceFault> {
        for row in forced {
            if let Some(exponent) = buffer.exponents.get_mut(row) {
                *exponent = (*exponent + FORCED_OVERFLOW).min(EXPONENT_LIMIT);
            }
        }
        let unmapped = || DeviceFault::Lost("no NPU session maps this weight".to_owned());
        let session = projection.session.and_then(|number| self.sessions.get_mut(number)).ok_or_else(unmapped)?;
        send(session, projection, direction, route, buffer, |_| {
            counters.answered_by_device(direction, projection.weight.precision());
        })?;
        for _ in 0..RETRIES {
            let again: Vec<(usize, i32)> =
                buffer.flagged().map(|row| (row, retry_exponent(buffer.exponents[row]))).collect();
            if again.is_empty() {
                break;
            }
            counters.rows_retried += again.len() as u64;
            self.retry.gather(buffer, &again);
            send(session, projection, direction, route, &mut self.retry, |_| {})?;
            for (index, (row, exponent)) in again.into_iter().enumerate() {
                buffer.exponents[row] = exponent;
                buffer.flags[row] = self.retry.flags[index];
                self.retry.copy_output_row(index, buffer, row);
            }
        }
        Ok(buffer.flagged().collect())
    }
}

/// Sends every row once, in as many requests as the largest bucket makes of them.
fn send(
    session: &mut Session,
    projection: &Projection,
    direction: Direction,
    route: &Route,
    buffer: &mut RequestBuffer,
    mut answered: impl FnMut(&Planned),
) -> Result<(), DeviceFault> {
    let mut first = 0;
    let unplanned = || DeviceFault::Lost("the planner has no plan for this product".to_owned());
    for (_, rows, planned) in route.parts(buffer.rows).ok_or_else(unplanned)? {
        session.run(product(projection, direction, planned, buffer, first, rows).ok_or_else(unplanned)?)?;
        answered(planned);
        first += rows;
    }
    Ok(())
}

/// Rows `first..first + rows` of a buffer as a product. `None` for a weight no kernel reads.
fn product<'a>(
    projection: &'a Projection,
    direction: Direction,
    planned: &'a Planned,
    buffer: &'a mut RequestBuffer,
    first: usize,
    rows: usize,
) -> Option<Product<'a>> {
    let weight = projection.weight.operand()?;
    let (input_width, output_width) = direction.widths(projection.out, projection.in_);
    let (input_stride, output_stride) = (buffer.input_stride(), buffer.output_stride());
    let (input, output, exponents, flags) = buffer.device_rows(first, rows);
    // Extents fit u32: the planner has solved for them.
    Some(Product {
        plan: &planned.for_device,
        axes: [rows as u32, projection.out as u32, projection.in_ as u32],
        rows: 0..rows as u32,
        input,
        input_width: input_width as u32,
        input_stride: input_stride as u32,
        weight,
        output,
        output_width: output_width as u32,
        output_stride: output_stride as u32,
        exponents,
        flags,
    })
}
