//! The VTCM map as a picture: bytes to the right, steps downwards.

use std::fmt::Write;

use super::{Use, VtcmMap};
use crate::{Plan, plan::RESERVED_BYTES};

const LEFT: f64 = 190.0;
const WIDTH: f64 = 760.0;
/// Baseline of the first line of window labels.
const LABELS: f64 = 52.0;
const LABEL_LINE: f64 = 16.0;
const ROW: f64 = 26.0;
const INK: &str = "#1f2933";
/// Width of a character at most: digits and capitals of the common sans-serif fonts at this size.
const CHARACTER: f64 = 7.4;
/// Least space between two labels of a line.
const GAP: f64 = 8.0;

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
    let scale = WIDTH / f64::from(map.vtcm_bytes);
    let labels = labels(map, scale);
    let lines = labels.iter().map(|label| label.line + 1).max().unwrap_or(0);
    let top = LABELS + LABEL_LINE * lines as f64 - 6.0;
    let height = top + ROW * map.steps.len() as f64 + 64.0;
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0}\" height=\"{height:.0}\" font-family=\"sans-serif\" \
         font-size=\"12\" fill=\"{INK}\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
        LEFT + WIDTH + 20.0
    );
    text(&mut out, 12.0, 22.0, "start", &format!("VTCM of {} on {}, {} bytes", plan.kernel, plan.arch, map.vtcm_bytes));
    names(&mut out, &labels, top);
    for (row, (label, _)) in map.steps.iter().enumerate() {
        let y = top + ROW * row as f64;
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
                    "<rect x=\"{x:.1}\" y=\"{y}\" width=\"{:.1}\" height=\"{:.0}\" fill=\"{}\" stroke=\"{}\"/>",
                    stage.max(1.0),
                    ROW - 4.0,
                    fill(used),
                    // A border would cover a narrow stage.
                    if stage < 3.0 { "none" } else { "white" }
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
    legend(&mut out, top + ROW * map.steps.len() as f64 + 24.0);
    out.push_str("</svg>\n");
    out
}

/// Name and size of a window, over its left edge.
struct Label {
    text: String,
    /// Left edge of the window.
    window: f64,
    /// Left edge of the text: that of the window, unless the text would leave the picture.
    x: f64,
    /// Line from the top.
    line: usize,
}

/// A label for every window however narrow, each on the first line where it has room.
fn labels(map: &VtcmMap, scale: f64) -> Vec<Label> {
    let mut ends: Vec<f64> = Vec::new();
    let windows = map.windows.iter().map(|window| {
        let size = f64::from(window.bytes / window.stages) / 1024.0;
        let text = match window.stages {
            1 => format!("{} {size}K", window.name),
            stages => format!("{} {stages}×{size}K", window.name),
        };
        let width = CHARACTER * text.chars().count() as f64;
        let left = LEFT + f64::from(window.offset) * scale;
        let x = (left + 3.0).min(LEFT + WIDTH - width);
        let line = ends.iter().position(|&end| end + GAP <= x).unwrap_or(ends.len());
        if line == ends.len() {
            ends.push(0.0);
        }
        ends[line] = x + width;
        Label { text, window: left, x, line }
    });
    windows.collect()
}

/// Labels, each with a line down to its window.
fn names(out: &mut String, labels: &[Label], top: f64) {
    for label in labels {
        let y = LABELS + LABEL_LINE * label.line as f64;
        let _ = writeln!(
            out,
            "<line x1=\"{0:.1}\" y1=\"{1:.1}\" x2=\"{0:.1}\" y2=\"{top:.1}\" stroke=\"#9aa5b1\"/>",
            label.window + 0.5,
            y + 3.0
        );
        text(out, label.x, y, "start", &label.text);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::WindowUse;

    fn map(windows: &[(u32, u32, u32)]) -> VtcmMap {
        let mut offset = 0;
        let windows = windows.iter().enumerate().map(|(index, &(gap, bytes, stages))| {
            offset += gap;
            let window = WindowUse { name: format!("w{index}"), offset, bytes, stages, uses: Vec::new() };
            offset += bytes;
            window
        });
        VtcmMap { vtcm_bytes: 8 << 20, windows: windows.collect(), steps: Vec::new() }
    }

    #[test]
    fn a_narrow_window_has_its_size_too() {
        let labels = labels(&map(&[(0, 2048, 1), (0, 360 << 10, 2)]), WIDTH / f64::from(8 << 20));
        assert_eq!(labels.iter().map(|label| label.text.as_str()).collect::<Vec<_>>(), ["w0 2K", "w1 2×180K"]);
    }

    #[test]
    fn labels_neither_touch_nor_leave_the_picture() {
        let narrow = [(0, 2048, 1); 12];
        let at_the_end = [(0, 7 << 20, 1), (0, 900 << 10, 1), (0, 2048, 1), (0, 2048, 2), (0, 64 << 10, 1)];
        for windows in [&narrow[..], &at_the_end] {
            let map = map(windows);
            let labels = labels(&map, WIDTH / f64::from(map.vtcm_bytes));
            let end = |label: &Label| label.x + CHARACTER * label.text.chars().count() as f64;
            for (index, label) in labels.iter().enumerate() {
                assert!(label.x >= LEFT && end(label) <= LEFT + WIDTH, "{}", label.text);
                for other in labels[..index].iter().filter(|other| other.line == label.line) {
                    assert!(end(other) < label.x || end(label) < other.x, "{} and {}", other.text, label.text);
                }
            }
        }
    }
}
