//! Where the text of a string literal stands in the source.

use proc_macro2::LineColumn;
use syn::LitStr;

/// Whether every line of the text is one of the source: it has no escaped line breaks.
pub(crate) fn keeps_lines(literal: &LitStr) -> bool {
    let written = literal.token().to_string();
    written.matches('\n').count() == literal.value().matches('\n').count()
}

/// The place of the character at a line and column of the text, both from 1: `FILE:LINE:COLUMN`, or those of the text where
/// escapes hide it.
pub(crate) fn place(literal: &LitStr, line: usize, column: usize) -> String {
    let written = literal.token().to_string();
    let quote = written.find('"').unwrap_or(0);
    if quote == 0 && written.contains('\\') {
        return format!("line {line}, column {column} of its text");
    }
    let span = literal.span();
    let LineColumn { line: first, column: before } = span.start();
    let column = if line == 1 { before + quote + 1 + column } else { column };
    format!("{}:{}:{column}", span.file(), first + line - 1)
}
