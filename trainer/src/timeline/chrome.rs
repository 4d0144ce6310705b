//! The trace format of Chrome and Perfetto.

use serde::Serialize;
use serde_json::{Value, json};

use super::{Lane, Span};

/// One complete event; times in microseconds.
#[derive(Serialize)]
struct Event<'a> {
    name: &'a str,
    cat: &'a str,
    ph: &'a str,
    ts: f64,
    dur: f64,
    pid: u32,
    tid: usize,
}

pub(super) fn trace(spans: &[Span]) -> serde_json::Result<String> {
    let tid = |lane: Lane| Lane::ALL.iter().position(|other| *other == lane).unwrap_or_default();
    let mut events: Vec<Value> = Lane::ALL
        .into_iter()
        .map(|lane| {
            let name = lane.name();
            json!({ "name": "thread_name", "ph": "M", "pid": 1, "tid": tid(lane), "args": { "name": name } })
        })
        .collect();
    for span in spans {
        events.push(serde_json::to_value(Event {
            name: &span.name,
            cat: span.work.name(),
            ph: "X",
            ts: span.start.as_secs_f64() * 1e6,
            dur: span.length().as_secs_f64() * 1e6,
            pid: 1,
            tid: tid(span.lane),
        })?);
    }
    serde_json::to_string(&json!({ "displayTimeUnit": "ms", "traceEvents": events }))
}
