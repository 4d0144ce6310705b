//! The schedule flattened: every step with the loops around it.

use crate::ir::{AxisId, Loop, Statement, Step};

/// A step and its surroundings.
pub(crate) struct Placed<'k> {
    pub step: &'k Step,
    /// From the outermost in.
    pub loops: Vec<&'k Loop>,
}

impl<'k> Placed<'k> {
    /// Every step of `schedule`, in program order.
    pub fn all(schedule: &'k [Statement]) -> Vec<Placed<'k>> {
        fn walk<'k>(body: &'k [Statement], loops: &mut Vec<&'k Loop>, out: &mut Vec<Placed<'k>>) {
            for statement in body {
                match statement {
                    Statement::Step(step) => out.push(Placed { step, loops: loops.clone() }),
                    Statement::Loop(inner) => {
                        loops.push(inner);
                        walk(&inner.body, loops, out);
                        loops.pop();
                    }
                }
            }
        }
        let mut out = Vec::new();
        walk(schedule, &mut Vec::new(), &mut out);
        out
    }

    /// The loop over `axis` around the step.
    pub fn loop_over(&self, axis: AxisId) -> Option<&'k Loop> {
        self.loops.iter().copied().find(|l| l.axis == axis)
    }
}
