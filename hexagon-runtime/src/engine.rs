//! What the service thread does with a request.

use std::sync::Arc;

use crate::float_path::FloatPath;
use crate::projection::Projection;
use crate::request_buffer::RequestBuffer;
use crate::{Counters, Direction, RuntimeError};

pub(crate) struct Engine {
    projections: Arc<[Projection]>,
    float_path: FloatPath,
    pub counters: Counters,
}

impl Engine {
    pub fn new(projections: Arc<[Projection]>, threads: usize) -> Engine {
        Engine {
            projections,
            float_path: FloatPath::new(threads),
            counters: Counters::default(),
        }
    }

    pub fn answer(
        &mut self,
        index: usize,
        direction: Direction,
        buffer: &mut RequestBuffer,
    ) -> Result<(), RuntimeError> {
        if buffer.rows == 0 {
            return Ok(());
        }
        let projection = &self.projections[index];
        self.counters.cpu_requests += 1;
        let (input, output) = buffer.float_rows(0, buffer.rows);
        self.float_path.run(
            &projection.weight,
            (projection.out, projection.in_),
            direction,
            input,
            output,
        );
        Ok(())
    }
}
