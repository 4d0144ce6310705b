//! Spans out of requests, and the three forms they are written in.

use std::fs;
use std::time::{Duration, Instant};

use hexagon_runtime::{Direction, RequestSpan};
use serde_json::Value;

use super::{Lane, Recorder, Span, TimelineFile, Work};

/// A request by its instants in milliseconds: submitted, sent, started, ended, waited, collected.
fn request(origin: Instant, direction: Direction, at: [u64; 6]) -> RequestSpan {
    let [submitted, sent, started, ended, waited, collected] = at.map(|ms| origin + Duration::from_millis(ms));
    let projection = "model.layers.3.mlp.up_proj".to_owned();
    RequestSpan { projection, direction, rows: 64, on_cpu: false, submitted, sent, started, ended, waited, collected }
}

/// Two requests in 100 ms: one the caller waits for, one that is done before it is asked for.
fn recorded() -> Recorder {
    let recorder = Recorder::new(1);
    let start = recorder.origin + Duration::from_millis(5);
    let at = |ms| recorder.origin + Duration::from_millis(ms);
    recorder.add(Lane::Step, Work::Phase, "step 0 <&>", start, at(100));
    recorder.add(Lane::Step, Work::Phase, "gradient", start, at(90));
    let requests = [
        request(recorder.origin, Direction::Forward, [10, 12, 13, 30, 20, 32]),
        request(recorder.origin, Direction::InputGrad, [40, 41, 42, 50, 60, 61]),
    ];
    recorder.add_requests(&requests, start, at(90));
    recorder
}

#[test]
fn requests_tell_what_both_threads_did() {
    let spans = recorded().spans();
    let of = |lane: Lane| -> Vec<(Work, u128, u128)> {
        let chosen = spans.iter().filter(|span| span.lane == lane);
        chosen.map(|span| (span.work, span.start.as_millis(), span.end.as_millis())).collect()
    };
    assert_eq!(of(Lane::Npu), [(Work::Forward, 13, 30), (Work::InputGrad, 42, 50)]);
    assert_eq!(
        of(Lane::Cpu),
        [
            (Work::Alone, 5, 10),
            (Work::Copy, 10, 12),
            (Work::Beside, 12, 20),
            (Work::Wait, 20, 30),
            (Work::Copy, 30, 32),
            (Work::Alone, 32, 40),
            (Work::Copy, 40, 41),
            (Work::Beside, 41, 60),
            (Work::Copy, 60, 61),
            (Work::Alone, 61, 90),
        ]
    );
    let name = |work| spans.iter().find(|span: &&Span| span.work == work).map(|span| span.name.as_str());
    assert_eq!(name(Work::Forward), Some("layers.3.mlp.up_proj forward, 64 rows"));
}

#[test]
fn only_the_first_steps_are_wanted() {
    let recorder = Recorder::new(2);
    assert_eq!([0, 1, 2].map(|step| recorder.wants(step)), [true, true, false]);
}

#[test]
fn the_ending_says_the_form() {
    let folder = tempfile::tempdir().unwrap();
    let spans = recorded().spans();
    let write = |name: &str| {
        let path = folder.path().join(name);
        let file: TimelineFile = path.to_str().unwrap().parse().unwrap();
        file.write("a run", &spans).unwrap();
        fs::read_to_string(path).unwrap()
    };
    let picture = write("t.svg");
    assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
    assert_eq!(picture.matches("<title>").count(), spans.len());
    assert!(picture.contains("step 0 &lt;&amp;&gt;") && !picture.contains("<&>"));
    assert!(picture.contains("NPU lane busy 26 %"), "{picture}");
    let page = write("t.html");
    assert!(page.contains("<title>a run</title>") && !page.contains("http-equiv") && !page.contains(" src="));
    assert_eq!(page.matches("<title>").count(), spans.len() + 1);
    let trace: Value = serde_json::from_str(&write("t.json")).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    assert_eq!(events.len(), spans.len() + Lane::ALL.len());
    let product = events.iter().find(|event| event["cat"] == "forward").unwrap();
    assert_eq!((product["ph"].as_str(), product["tid"].as_u64()), (Some("X"), Some(2)));
    assert!((product["ts"].as_f64().unwrap() - 13_000.0).abs() < 1.0);
    assert!((product["dur"].as_f64().unwrap() - 17_000.0).abs() < 1.0);
    let error = "t.png".parse::<TimelineFile>().unwrap_err().to_string();
    assert!(error.contains(".svg") && error.contains(".html") && error.contains(".json"), "{error}");
}
