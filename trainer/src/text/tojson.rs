//! The `tojson` filter as Hugging Face's templates expect it: Python's `json.dumps` spacing, no
//! HTML escapes, letters as they are.

use minijinja::value::{Kwargs, Value};
use minijinja::{Error, ErrorKind, State};
use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter};
use std::io::{Result, Write};

/// JSON text of a value; `indent` spreads it over lines.
pub(super) fn tojson(state: &State, value: Value, options: Kwargs) -> std::result::Result<String, Error> {
    let indent: Option<usize> = options.get("indent")?;
    options.assert_all_used()?;
    let mut out = Vec::new();
    let written = match indent {
        Some(width) => {
            let spaces = " ".repeat(width.min(16));
            let formatter = PrettyFormatter::with_indent(spaces.as_bytes());
            value.serialize(&mut serde_json::Serializer::with_formatter(&mut out, formatter))
        }
        None => value.serialize(&mut serde_json::Serializer::with_formatter(&mut out, Spaced)),
    };
    let failed = |problem: String| Error::new(ErrorKind::BadSerialization, problem);
    written.map_err(|error| failed(error.to_string()))?;
    // The engine's own price of text a template creates.
    state.consume_fuel(out.len() as u64 / 64)?;
    String::from_utf8(out).map_err(|error| failed(error.to_string()))
}

/// One line with `", "` and `": "` between the parts.
struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> Result<()> {
        if first { Ok(()) } else { out.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> Result<()> {
        if first { Ok(()) } else { out.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        out.write_all(b": ")
    }
}
