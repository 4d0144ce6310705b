use std::fmt;

/// How every (projection, direction, token bucket) is computed; `Display` prints it.
#[derive(Clone, Debug, Default)]
pub struct PlanTable {}

impl fmt::Display for PlanTable {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}
