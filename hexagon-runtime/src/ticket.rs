use crate::{Direction, Runtime, RuntimeError};

/// A request in flight. It borrows the runtime, so the type system allows one at a time.
///
/// Dropping a ticket waits for the request and throws its result away.
#[must_use = "wait() on the ticket to get the result"]
pub struct Ticket<'a> {
    runtime: &'a mut Runtime,
    index: usize,
    direction: Direction,
    rows: usize,
}

impl<'a> Ticket<'a> {
    pub(crate) fn new(runtime: &'a mut Runtime, index: usize, direction: Direction, rows: usize) -> Self {
        Ticket { runtime, index, direction, rows }
    }

    /// Blocks until the request is answered and overwrites `out`, `rows` × output width values, dense row-major.
    ///
    /// # Errors
    /// [`RuntimeError::OutputLength`]; [`RuntimeError::Trapped`] when the checked model stopped the kernel;
    /// [`RuntimeError::ServiceStopped`].
    pub fn wait(self, out: &mut [f32]) -> Result<(), RuntimeError> {
        let projection = &self.runtime.projections()[self.index];
        let width = self.direction.widths(projection.out, projection.in_).1;
        if out.len() != self.rows * width {
            return Err(RuntimeError::OutputLength {
                name: projection.name.clone(),
                direction: self.direction,
                rows: self.rows,
                width,
                got: out.len(),
            });
        }
        self.runtime.collect()?;
        self.runtime.read(out);
        Ok(())
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        // Without wait() nobody asked for the result; an error of the device shows again at the next submit.
        let _ = self.runtime.collect();
    }
}
