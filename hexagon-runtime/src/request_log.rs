//! When each request was handed over, computed and collected.

use std::time::Instant;

use crate::Direction;

/// One request in time. All instants are of the caller's thread but `started` and `ended`, which are of the service
/// thread; they come in the order of the fields.
#[derive(Clone, Debug)]
pub struct RequestSpan {
    /// Projection.
    pub projection: String,
    /// Direction.
    pub direction: Direction,
    /// Token rows.
    pub rows: usize,
    /// Whether the CPU float path computed it.
    pub on_cpu: bool,
    /// The caller began to hand the rows over.
    pub submitted: Instant,
    /// They were copied and on their way; the caller went on with its own work.
    pub sent: Instant,
    /// The service thread began to compute.
    pub started: Instant,
    /// It was done.
    pub ended: Instant,
    /// The caller began to wait for the result; may lie before `started` or after `ended`.
    pub waited: Instant,
    /// The result was copied out.
    pub collected: Instant,
}

/// What is known of a request before its answer.
struct Open {
    projection: String,
    direction: Direction,
    rows: usize,
    submitted: Instant,
    sent: Instant,
}

/// Finished requests, and the one in flight.
#[derive(Default)]
pub(crate) struct RequestLog {
    open: Option<Open>,
    done: Vec<RequestSpan>,
}

impl RequestLog {
    pub fn sent(&mut self, projection: &str, direction: Direction, rows: usize, submitted: Instant) {
        let projection = projection.to_owned();
        self.open = Some(Open { projection, direction, rows, submitted, sent: Instant::now() });
    }

    pub fn answered(&mut self, (started, ended): (Instant, Instant), waited: Instant, on_cpu: bool) {
        let Some(Open { projection, direction, rows, submitted, sent }) = self.open.take() else { return };
        let collected = Instant::now();
        let span =
            RequestSpan { projection, direction, rows, on_cpu, submitted, sent, started, ended, waited, collected };
        self.done.push(span);
    }

    /// The last answer has been copied out.
    pub fn read(&mut self) {
        if let Some(span) = self.done.last_mut() {
            span.collected = Instant::now();
        }
    }

    pub fn take(&mut self) -> Vec<RequestSpan> {
        std::mem::take(&mut self.done)
    }
}
