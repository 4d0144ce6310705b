use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::engine::Engine;
use crate::plan_table::PlanTable;
use crate::projection::{Projection, ProjectionId};
use crate::request_buffer::RequestBuffer;
use crate::request_log::{RequestLog, RequestSpan};
use crate::service::Service;
use crate::{Counters, Direction, RuntimeError, SessionUse, Ticket};

/// Computes products with frozen weights on the configured device.
pub struct Runtime {
    projections: Arc<[Projection]>,
    plan_table: PlanTable,
    plan_hash: u64,
    service: Service,
    buffer: RequestBuffer,
    counters: Counters,
    device_time: Duration,
    sessions: Vec<SessionUse>,
    /// A request was sent and not collected yet.
    in_flight: bool,
    /// `None`: nobody asked for it.
    log: Option<RequestLog>,
}

impl Runtime {
    pub(crate) fn start(
        projections: Arc<[Projection]>,
        plan_table: PlanTable,
        plan_hash: u64,
        sessions: Vec<SessionUse>,
        engine: Engine,
    ) -> Result<Runtime, RuntimeError> {
        let service = Service::start(engine)?;
        let (buffer, counters) = (RequestBuffer::default(), Counters::default());
        Ok(Runtime {
            projections,
            plan_table,
            plan_hash,
            service,
            buffer,
            counters,
            device_time: Duration::ZERO,
            sessions,
            in_flight: false,
            log: None,
        })
    }

    /// Starts one product: copies `input` (`rows` × input width, dense row-major) and returns at once.
    ///
    /// # Errors
    /// [`RuntimeError::UnknownProjection`], [`RuntimeError::InputLength`], [`RuntimeError::InputNotFinite`].
    pub fn submit(
        &mut self,
        id: ProjectionId,
        direction: Direction,
        input: &[f32],
        rows: usize,
    ) -> Result<Ticket<'_>, RuntimeError> {
        // A ticket that was leaked instead of dropped left its answer behind.
        self.collect()?;
        let submitted = self.log.is_some().then(Instant::now);
        let projection = self.projections.get(id.0).ok_or(RuntimeError::UnknownProjection { index: id.0 })?;
        let (input_width, output_width) = direction.widths(projection.out, projection.in_);
        if Some(input.len()) != rows.checked_mul(input_width) {
            return Err(RuntimeError::InputLength {
                name: projection.name.clone(),
                direction,
                rows,
                width: input_width,
                got: input.len(),
            });
        }
        self.buffer.fill(input, rows, input_width, output_width).map_err(|bad| RuntimeError::InputNotFinite {
            name: projection.name.clone(),
            direction,
            row: bad.row,
            column: bad.column,
            value: input[bad.row * input_width + bad.column],
        })?;
        self.service.send(id.0, direction, std::mem::take(&mut self.buffer))?;
        self.in_flight = true;
        if let (Some(log), Some(submitted)) = (&mut self.log, submitted) {
            log.sent(&self.projections[id.0].name, direction, rows, submitted);
        }
        Ok(Ticket::new(self, id.0, direction, rows))
    }

    /// [`Runtime::submit`] and [`Ticket::wait`] in one call.
    ///
    /// # Errors
    /// Those of the two.
    pub fn run(
        &mut self,
        id: ProjectionId,
        direction: Direction,
        input: &[f32],
        rows: usize,
        out: &mut [f32],
    ) -> Result<(), RuntimeError> {
        self.submit(id, direction, input, rows)?.wait(out)
    }

    /// Switches recording of requests on, or off and forgets what was recorded.
    pub fn record_requests(&mut self, on: bool) {
        self.log = on.then(RequestLog::default);
    }

    /// The requests answered since recording began or since the last call.
    pub fn take_requests(&mut self) -> Vec<RequestSpan> {
        self.log.as_mut().map_or_else(Vec::new, RequestLog::take)
    }

    /// How every (projection, direction, token bucket) is computed.
    pub fn plan_table(&self) -> &PlanTable {
        &self.plan_table
    }

    /// Counters up to the last finished request.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Time the NPU device computed, up to the last finished request; zero on the CPU device.
    pub fn device_time(&self) -> Duration {
        self.device_time
    }

    /// The NPU sessions, and requests each answered up to the last finished one; none on the CPU device.
    pub fn sessions(&self) -> &[SessionUse] {
        &self.sessions
    }

    /// Hash over every plan in use, part of a run's identity: another plan rounds differently.
    pub fn plan_hash(&self) -> u64 {
        self.plan_hash
    }

    /// (out, in) of a projection.
    pub fn shape(&self, id: ProjectionId) -> Option<(usize, usize)> {
        self.projections.get(id.0).map(|projection| (projection.out, projection.in_))
    }

    /// Bytes of all resident weights.
    pub fn resident_bytes(&self) -> usize {
        self.projections.iter().map(|projection| projection.weight.bytes()).sum()
    }

    pub(crate) fn projections(&self) -> &[Projection] {
        &self.projections
    }

    /// Waits for the request in flight, if any.
    pub(crate) fn collect(&mut self) -> Result<(), RuntimeError> {
        if !std::mem::take(&mut self.in_flight) {
            return Ok(());
        }
        let waited = self.log.is_some().then(Instant::now);
        let answer = self.service.receive()?;
        self.buffer = answer.buffer;
        let computed_by_cpu = |counters: &Counters| counters.cpu_requests + counters.fallbacks;
        let on_cpu = computed_by_cpu(&answer.counters) > computed_by_cpu(&self.counters);
        self.counters = answer.counters;
        if let (Some(log), Some(waited)) = (&mut self.log, waited) {
            log.answered((answer.started, answer.ended), waited, on_cpu);
        }
        self.device_time = answer.device_time;
        for (session, requests) in self.sessions.iter_mut().zip(answer.session_requests) {
            session.requests = requests;
        }
        answer.result
    }

    /// Copies the collected answer out.
    pub(crate) fn read(&mut self, out: &mut [f32]) {
        self.buffer.read(out);
        if let Some(log) = &mut self.log {
            log.read();
        }
    }
}
