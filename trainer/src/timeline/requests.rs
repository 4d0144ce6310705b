//! Spans out of the runtime's requests: one after the other, they say what both threads did at any time.

use std::time::Instant;

use hexagon_runtime::{Direction, RequestSpan};

use super::{Lane, Recorder, Work};

impl Recorder {
    /// Adds the requests of a stretch of time that began at `start` and ended at `end`: what the service thread computed,
    /// and what the calling thread did around it.
    pub fn add_requests(&self, requests: &[RequestSpan], start: Instant, end: Instant) {
        let mut free = start;
        for request in requests {
            let name = label(request);
            let work = match (request.on_cpu, request.direction) {
                (true, _) => Work::Float,
                (false, Direction::Forward) => Work::Forward,
                (false, Direction::InputGrad) => Work::InputGrad,
            };
            self.add(Lane::Npu, work, name.clone(), request.started, request.ended);
            self.add(Lane::Cpu, Work::Alone, format!("before {name}"), free, request.submitted);
            self.add(Lane::Cpu, Work::Copy, format!("rows of {name}"), request.submitted, request.sent);
            self.add(Lane::Cpu, Work::Beside, format!("beside {name}"), request.sent, request.waited);
            let answered = request.ended.clamp(request.waited, request.collected.max(request.waited));
            self.add(Lane::Cpu, Work::Wait, format!("waiting for {name}"), request.waited, answered);
            self.add(Lane::Cpu, Work::Copy, format!("result of {name}"), answered, request.collected);
            free = request.collected;
        }
        self.add(Lane::Cpu, Work::Alone, "after the last request", free, end);
    }
}

/// Direction, layer and projection, without what all names have in common.
fn label(request: &RequestSpan) -> String {
    let name = request.projection.strip_prefix("model.").unwrap_or(&request.projection);
    format!("{name} {}, {} rows", request.direction, request.rows)
}
