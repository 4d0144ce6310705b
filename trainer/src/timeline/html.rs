//! A page that needs nothing else: the lanes, stretched and scrolled, and the sums.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use super::summary::{by_work, sentence};
use super::svg::{bars, clock, escaped, height};
use super::{Lane, Span, Work};

/// Longest names listed.
const LISTED: usize = 40;
/// Units across the lanes.
const UNITS: f64 = 1000.0;

pub(super) fn page(title: &str, spans: &[Span]) -> String {
    let mut lanes = String::new();
    bars(&mut lanes, spans, UNITS);
    let title = escaped(title);
    let names: Vec<String> = Lane::ALL.iter().map(|lane| format!("<div>{}</div>", lane.name())).collect();
    format!(
        r#"<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 14px sans-serif; color: #1f2933; margin: 24px; }}
#lanes {{ display: flex; }}
#names div {{ height: 44px; line-height: 38px; padding-right: 8px; text-align: right; }}
#scroll {{ flex: 1; overflow-x: auto; border: 1px solid #d5dbe1; }}
svg {{ display: block; width: 100%; height: {height}px; }}
table {{ border-collapse: collapse; margin-top: 20px; }}
td, th {{ padding: 2px 12px 2px 0; text-align: right; }}
td:first-child, th:first-child {{ text-align: left; }}
i {{ display: inline-block; width: 12px; height: 12px; margin-right: 6px; border: 1px solid #d5dbe1; }}
</style></head><body>
<h1>{title}</h1><p>{sentence}</p>
<p><button id="in">zoom in</button> <button id="out">zoom out</button> Point at a bar to see what it is.</p>
<div id="lanes"><div id="names">{names}</div><div id="scroll">
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {UNITS} {height}" preserveAspectRatio="none">
{lanes}</svg></div></div>
{tables}
<script>
const scroll = document.getElementById('scroll'), svg = scroll.querySelector('svg');
let zoom = 1;
function by(factor) {{
  const centre = (scroll.scrollLeft + scroll.clientWidth / 2) / (scroll.clientWidth * zoom);
  zoom = Math.min(1000, Math.max(1, zoom * factor));
  svg.style.width = 100 * zoom + '%';
  scroll.scrollLeft = centre * scroll.clientWidth * zoom - scroll.clientWidth / 2;
}}
document.getElementById('in').onclick = () => by(2);
document.getElementById('out').onclick = () => by(0.5);
</script></body></html>
"#,
        height = height(),
        sentence = escaped(&sentence(spans)),
        names = names.concat(),
        tables = tables(spans),
    )
}

fn tables(spans: &[Span]) -> String {
    let mut out = String::from("<table><tr><th>work</th><th>spans</th><th>time</th></tr>\n");
    for (work, count, time) in by_work(spans).into_iter().filter(|(work, ..)| *work != Work::Phase) {
        let (name, time) = (work.name(), clock(time.as_secs_f64()));
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "<tr><td><i style=\"background: {}\"></i>{name}</td><td>{count}</td><td>{time}</td></tr>",
            work.colour()
        );
    }
    out.push_str("</table>\n<table><tr><th>longest in all</th><th>spans</th><th>time</th></tr>\n");
    for (name, count, time) in longest(spans) {
        let time = clock(time.as_secs_f64());
        let _ = writeln!(out, "<tr><td>{}</td><td>{count}</td><td>{time}</td></tr>", escaped(&name));
    }
    out.push_str("</table>\n");
    out
}

/// Names without their numbers, summed, longest first.
fn longest(spans: &[Span]) -> Vec<(String, usize, Duration)> {
    let mut sums: BTreeMap<String, (usize, Duration)> = BTreeMap::new();
    for span in spans {
        let part = |part: &str| if part.parse::<usize>().is_ok() { "*".to_owned() } else { part.to_owned() };
        let words = |word: &str| word.split('.').map(part).collect::<Vec<_>>().join(".");
        let name = span.name.split(' ').map(words).collect::<Vec<_>>().join(" ");
        let sum = sums.entry(name).or_default();
        *sum = (sum.0 + 1, sum.1 + span.length());
    }
    let mut all: Vec<_> = sums.into_iter().map(|(name, (count, time))| (name, count, time)).collect();
    all.sort_by(|a, b| b.2.cmp(&a.2).then_with(|| a.0.cmp(&b.0)));
    all.truncate(LISTED);
    all
}
