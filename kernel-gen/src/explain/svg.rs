//! The VTCM map as a picture: bytes to the right, steps downwards.

use std::fmt::Write;

use super::{Use, VtcmMap};
use crate::{Plan, plan::RESERVED_BYTES};

const LEFT: f64 = 190.0;
const WIDTH: f64 = 760.0;
const TOP: f64 = 78.0;
const ROW: f64 = 26.0;
const INK: &str = "#1f2933";
/// Windows narrower than this get no text inside.
const READABLE: f64 = 34.0;

const fn fill(used: Use) -> &'static str {
    match used {
        Use::Free => "#eef1f4",
        Use::Held => "#b9c9d8",
        Use::Filled => "#e07b39",
        Use::Read => "#3a7ca5",
        Use::InFlight => "#f2cf9f",
    }
}

pub(super) fn draw(plan: &Plan, map: &VtcmMap) -> String {
    let height = TOP + ROW * map.steps.len() as f64 + 64.0;
    let scale = WIDTH / f64::from(map.vtcm_bytes);
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0}\" height=\"{height:.0}\" font-family=\"sans-serif\" \
         font-size=\"12\" fill=\"{INK}\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
        LEFT + WIDTH + 20.0
    );
    text(&mut out, 12.0, 22.0, "start", &format!("VTCM of {} on {}, {} bytes", plan.kernel, plan.arch, map.vtcm_bytes));
    names(&mut out, map, scale);
    for (row, (label, _)) in map.steps.iter().enumerate() {
        let y = TOP + ROW * row as f64;
        text(&mut out, LEFT - 10.0, y + 17.0, "end", label);
        let _ = writeln!(
            out,
            "<rect x=\"{LEFT}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{:.0}\" fill=\"#fafbfc\" stroke=\"#d5dbe1\"/>",
            ROW - 4.0
        );
        for window in &map.windows {
            let stage = f64::from(window.bytes) / f64::from(window.stages) * scale;
            for index in 0..window.stages {
                let x = LEFT + f64::from(window.offset) * scale + stage * f64::from(index);
                // The stage a step works on, and the others, which loads of following blocks fill.
                let used = match window.uses[row] {
                    Use::Free => Use::Free,
                    Use::InFlight if index == 0 => Use::Free,
                    _ if index > 0 => Use::InFlight,
                    used => used,
                };
                let _ = writeln!(
                    out,
                    "<rect x=\"{x:.1}\" y=\"{y}\" width=\"{:.1}\" height=\"{:.0}\" fill=\"{}\" stroke=\"white\"/>",
                    stage.max(1.0),
                    ROW - 4.0,
                    fill(used)
                );
            }
        }
        let reserved = f64::from(RESERVED_BYTES) * scale;
        let _ = writeln!(
            out,
            "<rect x=\"{:.1}\" y=\"{y}\" width=\"{:.1}\" height=\"{:.0}\" fill=\"{INK}\"/>",
            LEFT + WIDTH - reserved.max(1.0),
            reserved.max(1.0),
            ROW - 4.0
        );
    }
    legend(&mut out, TOP + ROW * map.steps.len() as f64 + 24.0);
    out.push_str("</svg>\n");
    out
}

/// Names over their windows, on two lines in turn so that neighbours do not touch.
fn names(out: &mut String, map: &VtcmMap, scale: f64) {
    for (index, window) in map.windows.iter().enumerate() {
        let (x, width) = (LEFT + f64::from(window.offset) * scale, f64::from(window.bytes) * scale);
        let y = if index % 2 == 0 { 52.0 } else { 68.0 };
        let size = if window.stages > 1 {
            format!("{} {}×{}K", window.name, window.stages, window.bytes / window.stages / 1024)
        } else {
            format!("{} {}K", window.name, window.bytes / 1024)
        };
        let label = if width < READABLE { &window.name } else { &size };
        text(out, x, y, "start", label);
    }
}

fn legend(out: &mut String, y: f64) {
    let entries = [
        (fill(Use::Filled), "filled by the step"),
        (fill(Use::Read), "read by the step"),
        (fill(Use::Held), "held for a later step"),
        (fill(Use::InFlight), "loads in flight"),
        (fill(Use::Free), "free"),
        (INK, "device library"),
    ];
    let mut x = LEFT;
    for (colour, label) in entries {
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"12\" height=\"12\" fill=\"{colour}\" stroke=\"#d5dbe1\"/>"
        );
        text(out, x + 17.0, y + 10.5, "start", label);
        x += 30.0 + 6.4 * label.len() as f64;
    }
}

fn text(out: &mut String, x: f64, y: f64, anchor: &str, content: &str) {
    let content = content.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{content}</text>");
}
