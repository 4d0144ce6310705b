//! C text with indentation.

use std::fmt::Display;

use crate::ir::Source;

/// Longest line of emitted C.
const WIDTH: usize = 120;

#[derive(Default)]
pub(super) struct Code {
    text: String,
    depth: usize,
    /// What compilers are told this text is called, behind lines of an author's.
    file: String,
}

impl Code {
    /// Text for a file of this name.
    pub fn in_file(file: impl Into<String>) -> Code {
        Code { file: file.into(), ..Code::default() }
    }

    /// One line of C, broken behind a comma or before `&&` and `||` where it would be too long; a comment is left as it is.
    pub fn line(&mut self, line: impl Display) {
        let mut indent = "    ".repeat(self.depth);
        let text = line.to_string();
        let mut rest = text.as_str();
        while indent.len() + rest.chars().count() > WIDTH && !rest.starts_with("/*") && !rest.starts_with(" *") {
            let Some(at) = break_position(rest, WIDTH.saturating_sub(indent.len())) else {
                break;
            };
            let (head, tail) = rest.split_at(at);
            self.push(&indent, head);
            rest = tail.trim_start();
            indent = "    ".repeat(self.depth + 2);
        }
        self.push(&indent, rest);
    }

    fn push(&mut self, indent: &str, text: &str) {
        if !text.is_empty() {
            self.text.push_str(indent);
        }
        self.text.push_str(text.trim_end());
        self.text.push('\n');
    }

    /// Lines of an author's C, moved to the current depth with their own relative indentation kept. Compilers name the lines
    /// where the author wrote them: the text begins in line `source.line`, if there is one.
    pub fn verbatim(&mut self, text: &str, source: Source) {
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        let indent = |line: &&str| line.len() - line.trim_start().len();
        let margin = lines.iter().filter(|l| !l.is_empty()).map(indent).min().unwrap_or(0);
        let first = lines.iter().position(|l| !l.is_empty()).unwrap_or(0);
        let end = lines.iter().rposition(|l| !l.is_empty()).map_or(first, |last| last + 1);
        if source.line > 0 {
            self.push("", &format!("#line {} \"{}\"", source.line as usize + first, source.file.replace('\\', "/")));
        }
        for line in &lines[first..end] {
            self.push(&"    ".repeat(self.depth), line.get(margin..).unwrap_or(""));
        }
        if source.line > 0 {
            let next = self.text.lines().count() + 2;
            self.push("", &format!("#line {next} \"{}\"", self.file));
        }
    }

    pub fn blank(&mut self) {
        self.text.push('\n');
    }

    /// `head {`, or the head of a function with its brace on the next line.
    pub fn open(&mut self, head: impl Display) {
        if self.depth == 0 {
            let head = head.to_string();
            if head.starts_with("struct") {
                self.line(format!("{head} {{"));
            } else {
                self.line(head);
                self.line("{");
            }
        } else {
            self.line(format!("{head} {{"));
        }
        self.depth += 1;
    }

    pub fn close(&mut self) {
        self.close_with("");
    }

    pub fn close_with(&mut self, tail: &str) {
        self.depth = self.depth.saturating_sub(1);
        self.line(format!("}}{tail}"));
    }

    pub fn finish(self) -> String {
        self.text
    }
}

/// Where a line may end within `width`: the last such place that is not inside a nested call or braces, else the last one.
fn break_position(text: &str, width: usize) -> Option<usize> {
    let (mut outer, mut any) = (None, None);
    let mut quoted = false;
    let mut depth = 0_i32;
    for (at, c) in text.char_indices().take(width) {
        quoted ^= c == '"';
        if quoted {
            continue;
        }
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' => depth -= 1,
            _ => {}
        }
        let logical = text[at..].starts_with("|| ") || text[at..].starts_with("&& ");
        let end = if c == ',' { at + 1 } else { at };
        if (c == ',' || logical) && end > 0 {
            any = Some(end);
            if depth <= 1 {
                outer = any;
            }
        }
    }
    outer.or(any)
}
