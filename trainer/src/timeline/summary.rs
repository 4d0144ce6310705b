//! Sums over spans.

use std::time::Duration;

use super::{Lane, Span, Work};

/// Time of each kind of work that occurs, in the legend's order.
pub(super) fn by_work(spans: &[Span]) -> Vec<(Work, usize, Duration)> {
    Work::ALL
        .into_iter()
        .filter_map(|work| {
            let (mut count, mut time) = (0, Duration::ZERO);
            for span in spans.iter().filter(|span| span.work == work) {
                count += 1;
                time += span.length();
            }
            (count > 0).then_some((work, count, time))
        })
        .collect()
}

/// First start and last end.
pub(super) fn extent(spans: &[Span]) -> (Duration, Duration) {
    let start = spans.iter().map(|span| span.start).min().unwrap_or_default();
    (start, spans.iter().map(|span| span.end).max().unwrap_or_default())
}

/// What the picture says in words.
pub(super) fn sentence(spans: &[Span]) -> String {
    let (start, end) = extent(spans);
    let whole = (end - start).as_secs_f64().max(f64::MIN_POSITIVE);
    let share = |chosen: &dyn Fn(&Span) -> bool| {
        100.0 * spans.iter().filter(|span| chosen(span)).map(|span| span.length().as_secs_f64()).sum::<f64>() / whole
    };
    format!(
        "{:.3} s: NPU lane busy {:.0} %, CPU beside a request {:.0} %, CPU alone {:.0} %, CPU waiting {:.0} %",
        whole,
        share(&|span| span.lane == Lane::Npu),
        share(&|span| span.work == Work::Beside),
        share(&|span| span.work == Work::Alone),
        share(&|span| span.work == Work::Wait),
    )
}
