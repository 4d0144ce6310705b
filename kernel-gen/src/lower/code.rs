//! C text with indentation.

use std::fmt::Display;

#[derive(Default)]
pub(super) struct Code {
    text: String,
    depth: usize,
}

impl Code {
    pub fn line(&mut self, line: impl Display) {
        let indent = "    ".repeat(self.depth);
        self.text.push_str(format!("{indent}{line}").trim_end());
        self.text.push('\n');
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
