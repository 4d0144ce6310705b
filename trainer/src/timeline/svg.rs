//! The lanes as a picture: time to the right.

use std::fmt::Write;
use std::time::Duration;

use super::summary::{by_work, extent, sentence};
use super::{Lane, Span, Work};

const LEFT: f64 = 60.0;
const WIDTH: f64 = 1500.0;
const TOP: f64 = 64.0;
const ROW: f64 = 44.0;
const INK: &str = "#1f2933";
const TICKS: u32 = 10;

/// A whole picture, with title, legend and time axis.
pub(super) fn draw(title: &str, spans: &[Span]) -> String {
    let axis = TOP + ROW * Lane::ALL.len() as f64;
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0}\" height=\"{:.0}\" font-family=\"sans-serif\" \
         font-size=\"12\" fill=\"{INK}\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
        LEFT + WIDTH + 20.0,
        axis + 40.0
    );
    let _ = writeln!(out, "<text x=\"12\" y=\"22\">{}. {}</text>", escaped(title), escaped(&sentence(spans)));
    legend(&mut out, spans);
    for (row, lane) in Lane::ALL.into_iter().enumerate() {
        let y = TOP + ROW * row as f64;
        let _ = writeln!(
            out,
            "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            y + 24.0,
            lane.name()
        );
    }
    let _ = writeln!(out, "<g transform=\"translate({LEFT} {TOP})\">");
    bars(&mut out, spans, WIDTH);
    out.push_str("</g>\n");
    let (start, end) = extent(spans);
    for tick in 0..=TICKS {
        let x = LEFT + WIDTH * f64::from(tick) / f64::from(TICKS);
        let at = (end - start).as_secs_f64() * f64::from(tick) / f64::from(TICKS);
        let (y, anchor) = (axis + 22.0, if tick == TICKS { "end" } else { "middle" });
        let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.0}\" text-anchor=\"{anchor}\">{}</text>", clock(at));
    }
    out.push_str("</svg>\n");
    out
}

/// The bars alone, `width` wide and [`height`] high, for a page that stretches them.
pub(super) fn bars(out: &mut String, spans: &[Span], width: f64) {
    let (start, end) = extent(spans);
    let scale = width / (end - start).as_secs_f64().max(f64::MIN_POSITIVE);
    for (row, lane) in Lane::ALL.into_iter().enumerate() {
        let y = ROW * row as f64;
        let mut open: Vec<Duration> = Vec::new();
        for span in spans.iter().filter(|span| span.lane == lane) {
            // A span inside another one of its lane is drawn lower, so that both are seen.
            open.retain(|outer| *outer > span.start);
            let depth = open.len().min(2) as f64;
            open.push(span.end);
            let (x, length) = ((span.start - start).as_secs_f64() * scale, span.length().as_secs_f64() * scale);
            let _ = writeln!(
                out,
                "<rect x=\"{x:.2}\" y=\"{:.0}\" width=\"{:.2}\" height=\"{:.0}\" fill=\"{}\"{}><title>{} ({})</title></rect>",
                y + 12.0 * depth,
                length.max(0.05),
                ROW - 6.0 - 12.0 * depth,
                span.work.colour(),
                // Phases of one colour lie side by side and in one another.
                if span.work == Work::Phase { " stroke=\"white\"" } else { "" },
                escaped(&span.name),
                clock(span.length().as_secs_f64())
            );
        }
    }
}

/// Height of [`bars`].
pub(super) fn height() -> f64 {
    ROW * Lane::ALL.len() as f64
}

fn legend(out: &mut String, spans: &[Span]) {
    let mut x = LEFT;
    for (work, count, time) in by_work(spans) {
        let text = match work {
            // Phases hold one another: their sum means nothing.
            Work::Phase => format!("{} ×{count}", work.name()),
            _ => format!("{} ×{count}, {}", work.name(), clock(time.as_secs_f64())),
        };
        let _ = writeln!(
            out,
            "<rect x=\"{x:.0}\" y=\"36\" width=\"12\" height=\"12\" fill=\"{}\" stroke=\"#d5dbe1\"/><text x=\"{:.0}\" \
             y=\"46\">{text}</text>",
            work.colour(),
            x + 16.0
        );
        x += 30.0 + 6.6 * text.chars().count() as f64;
    }
}

/// Seconds in the unit that reads best.
pub(super) fn clock(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.2} s"),
        0.0 => "0".to_owned(),
        s if s >= 1e-3 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.0} µs", s * 1e6),
    }
}

pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
