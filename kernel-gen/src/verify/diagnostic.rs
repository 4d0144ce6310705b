//! What the verifier says.

use std::fmt;

use crate::ir::Source;

/// The rule a kernel breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rule {
    /// A name that does not serve as one, or serves twice.
    Name,
    /// An index that points outside its list, or more of something than the ABI carries.
    Limit,
    /// Parts that differ by architecture.
    Arch,
    /// Axis roles.
    Axes,
    /// Tile sizes.
    Tile,
    /// The loops around a step.
    Loops,
    /// A window read before it is written, never read, or overwritten while needed.
    Dataflow,
    /// A window overwritten while a load into it is in flight, or stages without use.
    Pipeline,
    /// An operand or window in a role it cannot play.
    Role,
    /// A layout a step cannot take.
    Layout,
    /// The C body of an author's step.
    Body,
    /// Row scale and its inverse.
    Scale,
    /// The overflow guard of partial sums.
    Guard,
    /// Parts written by two workers.
    Split,
    /// Parts of the output written never, twice, or without the other partial sums.
    Coverage,
}

impl Rule {
    /// Short name, as printed.
    pub const fn name(self) -> &'static str {
        match self {
            Rule::Name => "name",
            Rule::Limit => "limit",
            Rule::Arch => "arch",
            Rule::Axes => "axes",
            Rule::Tile => "tile",
            Rule::Loops => "loops",
            Rule::Dataflow => "dataflow",
            Rule::Pipeline => "pipeline",
            Rule::Role => "role",
            Rule::Layout => "layout",
            Rule::Body => "body",
            Rule::Scale => "scale",
            Rule::Guard => "guard",
            Rule::Split => "split",
            Rule::Coverage => "coverage",
        }
    }
}

/// One broken rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The rule.
    pub rule: Rule,
    /// What is wrong, with the numbers.
    pub message: String,
    /// What would make it legal.
    pub help: String,
    /// The step or declaration it concerns.
    pub source: Source,
}

impl Diagnostic {
    pub(super) fn new(rule: Rule, source: Source, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { rule, message: message.into(), help: help.into(), source }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: error[{}]: {}\n  help: {}", self.source, self.rule.name(), self.message, self.help)
    }
}

impl std::error::Error for Diagnostic {}
