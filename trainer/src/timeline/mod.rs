//! What ran when: spans on lanes, recorded while a run goes on, written as a picture, a page or a Chrome trace.

mod chrome;
mod html;
mod requests;
mod summary;
mod svg;
mod write;

use std::sync::Mutex;
use std::time::{Duration, Instant};

pub use write::{TimelineError, TimelineFile};

/// Who did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// Optimizer steps and their phases.
    Step,
    /// The thread that computes what lies between the frozen products.
    Cpu,
    /// The service thread: frozen products, on the NPU device.
    Npu,
}

impl Lane {
    /// All of them, as they are drawn.
    pub const ALL: [Lane; 3] = [Lane::Step, Lane::Cpu, Lane::Npu];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Lane::Step => "step",
            Lane::Cpu => "CPU",
            Lane::Npu => "NPU",
        }
    }
}

/// What kind of thing it is, for colours and sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Work {
    /// A step or a phase of it.
    Phase,
    /// CPU work with no request in flight.
    Alone,
    /// CPU work while a request is in flight.
    Beside,
    /// Copying rows in or out.
    Copy,
    /// Waiting for a request.
    Wait,
    /// A forward product.
    Forward,
    /// An input gradient.
    InputGrad,
    /// A product the CPU float path answered.
    Float,
}

impl Work {
    /// All of them, as the legend lists them.
    pub const ALL: [Work; 8] =
        [Work::Phase, Work::Alone, Work::Beside, Work::Copy, Work::Wait, Work::Forward, Work::InputGrad, Work::Float];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Work::Phase => "phase",
            Work::Alone => "CPU alone",
            Work::Beside => "CPU beside a request",
            Work::Copy => "copy",
            Work::Wait => "wait",
            Work::Forward => "forward",
            Work::InputGrad => "input gradient",
            Work::Float => "CPU float path",
        }
    }

    fn colour(self) -> &'static str {
        match self {
            Work::Phase => "#b9c9d8",
            Work::Alone => "#7b8794",
            Work::Beside => "#4c9f70",
            Work::Copy => "#f2cf9f",
            Work::Wait => "#eef1f4",
            Work::Forward => "#3a7ca5",
            Work::InputGrad => "#e07b39",
            Work::Float => "#b23a48",
        }
    }
}

/// One thing that took time.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Who did it.
    pub lane: Lane,
    /// What kind of thing.
    pub work: Work,
    /// What it was.
    pub name: String,
    /// When it began, since the recorder was made.
    pub start: Duration,
    /// When it ended.
    pub end: Duration,
}

impl Span {
    /// How long it took.
    pub fn length(&self) -> Duration {
        self.end.saturating_sub(self.start)
    }
}

/// Takes spans from any thread.
#[derive(Debug)]
pub struct Recorder {
    origin: Instant,
    /// Steps to record; the run goes on unrecorded after them.
    steps: usize,
    spans: Mutex<Vec<Span>>,
}

impl Recorder {
    /// An empty recorder for the first `steps` steps of a run; its clock starts now.
    pub fn new(steps: usize) -> Recorder {
        Recorder { origin: Instant::now(), steps, spans: Mutex::new(Vec::new()) }
    }

    /// Whether step `step`, counted from 0, is recorded.
    pub fn wants(&self, step: usize) -> bool {
        step < self.steps
    }

    /// Adds a span; one without length is left out.
    pub fn add(&self, lane: Lane, work: Work, name: impl Into<String>, start: Instant, end: Instant) {
        if end <= start {
            return;
        }
        let since = |instant: Instant| instant.saturating_duration_since(self.origin);
        let span = Span { lane, work, name: name.into(), start: since(start), end: since(end) };
        // A thread that panicked while it held the list left it whole: a push is the last thing it does.
        self.spans.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(span);
    }

    /// Every span, by lane and start.
    pub fn spans(&self) -> Vec<Span> {
        let mut spans = self.spans.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone();
        let lane = |span: &Span| Lane::ALL.iter().position(|lane| *lane == span.lane);
        spans.sort_by(|a, b| lane(a).cmp(&lane(b)).then(a.start.cmp(&b.start)).then(b.end.cmp(&a.end)));
        spans
    }
}

#[cfg(test)]
mod tests;
