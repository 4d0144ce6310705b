//! A kernel under a plan, for people: loops after lowering, VTCM step by step, counts, and what bounds it.

mod report;
mod schedule;
mod svg;
mod vtcm;

use std::ops::Range;

use crate::{
    Plan, Verified,
    cost::{Cost, Machine, Prediction, cost, predict},
};

pub use schedule::{Line, lines};
pub use vtcm::{Use, VtcmMap, WindowUse};

/// Everything there is to say about one request of a kernel. `Display` prints it.
#[derive(Debug, Clone)]
pub struct Explanation {
    /// The plan.
    pub plan: Plan,
    /// Token rows of the request.
    pub rows: Range<u32>,
    /// What the tile sizes had to satisfy beside fitting VTCM, as written.
    pub requirements: Vec<String>,
    /// Loops and steps in program order.
    pub lines: Vec<Line>,
    /// Which window is in use in which step.
    pub map: VtcmMap,
    /// What every step does.
    pub cost: Cost,
    /// The constants of the prediction.
    pub machine: Machine,
    /// How long that would take.
    pub prediction: Prediction,
}

/// Explains token rows `rows` of `kernel` under `plan`.
pub fn explain(kernel: &Verified, plan: &Plan, rows: Range<u32>) -> Explanation {
    let kernel = kernel.on(plan.arch);
    let cost = cost(kernel, plan, rows.clone());
    let machine = Machine::of(plan.arch);
    let prediction = predict(&cost, &machine);
    Explanation {
        plan: plan.clone(),
        requirements: kernel.kernel().requirements.iter().map(|r| format!("{} ({})", r.text, r.source)).collect(),
        lines: lines(kernel, plan, rows.clone()),
        map: VtcmMap::of(kernel, plan),
        rows,
        cost,
        machine,
        prediction,
    }
}

impl Explanation {
    /// The VTCM map as an SVG picture.
    pub fn svg(&self) -> String {
        svg::draw(&self.plan, &self.map)
    }
}
