//! What the service thread does with a request: the device, or the CPU float path.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::device::DeviceFault;
use crate::faults::Faults;
use crate::float_path::FloatPath;
use crate::npu::Npu;
use crate::planner::Routes;
use crate::projection::Projection;
use crate::request_buffer::RequestBuffer;
use crate::{Counters, Direction, RuntimeError};

/// An NPU device, and where each projection goes.
pub(crate) struct Routed {
    pub npu: Npu,
    pub routes: Vec<Routes>,
    pub faults: Faults,
}

pub(crate) struct Engine {
    projections: Arc<[Projection]>,
    float_path: FloatPath,
    /// `None`: the CPU device.
    routed: Option<Routed>,
    pub counters: Counters,
    /// Time the NPU device computed, retries included.
    pub device_time: Duration,
    /// Requests each NPU session answered.
    pub session_requests: Vec<u64>,
}

impl Engine {
    pub fn new(projections: Arc<[Projection]>, threads: usize, routed: Option<Routed>) -> Engine {
        Engine {
            projections,
            float_path: FloatPath::new(threads),
            routed,
            counters: Counters::default(),
            device_time: Duration::ZERO,
            session_requests: Vec::new(),
        }
    }

    /// Answers all rows of `buffer`.
    pub fn answer(
        &mut self,
        index: usize,
        direction: Direction,
        buffer: &mut RequestBuffer,
    ) -> Result<(), RuntimeError> {
        let rows = buffer.rows;
        if rows == 0 {
            return Ok(());
        }
        let Engine { projections, float_path, routed, counters, device_time, session_requests } = self;
        let projection = &projections[index];
        let on_cpu = |buffer: &mut RequestBuffer, first, rows| {
            let (input, output) = buffer.float_rows(first, rows);
            float_path.run(&projection.weight, (projection.out, projection.in_), direction, input, output);
        };
        let Some(Routed { npu, routes, faults }) = routed else {
            counters.cpu_requests += 1;
            on_cpu(buffer, 0, rows);
            return Ok(());
        };
        let route = &routes[index][direction as usize];
        if route.choose(rows).is_none() {
            counters.fallbacks += 1;
            on_cpu(buffer, 0, rows);
            return Ok(());
        }
        let forced = faults.overflow_rows_of(&projection.name);
        let (start, before) = (Instant::now(), counters.forward + counters.input_grad);
        let answered = npu.run(projection, direction, route, buffer, forced, counters);
        *device_time += start.elapsed();
        if let Some(session) = projection.session {
            session_requests.resize(session_requests.len().max(session + 1), 0);
            session_requests[session] += counters.forward + counters.input_grad - before;
        }
        match answered {
            Ok(overflowing) => {
                counters.rows_to_cpu += overflowing.len() as u64;
                for row in overflowing {
                    on_cpu(buffer, row, 1);
                }
                Ok(())
            }
            // A trap is a wrong kernel: going on would hide what the checked model is for.
            Err(DeviceFault::Trapped(fault)) => {
                Err(RuntimeError::Trapped { name: projection.name.clone(), direction, fault })
            }
            Err(fault) => {
                tracing::warn!(projection = projection.name, %direction, %fault, "the CPU answers this request");
                counters.fallbacks += 1;
                on_cpu(buffer, 0, rows);
                Ok(())
            }
        }
    }
}
