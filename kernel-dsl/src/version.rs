//! What a `when` decides on: one kernel text stands for one kernel per direction and architecture.

use std::fmt;

/// `kernel_gen::Arch`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arch {
    V79,
    V81,
}

impl Arch {
    pub const ALL: [Arch; 2] = [Arch::V79, Arch::V81];

    pub const fn word(self) -> &'static str {
        match self {
            Arch::V79 => "v79",
            Arch::V81 => "v81",
        }
    }
}

/// Which product of a frozen weight a kernel computes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Forward,
    InputGrad,
}

impl Direction {
    pub const ALL: [Direction; 2] = [Direction::Forward, Direction::InputGrad];

    pub const fn word(self) -> &'static str {
        match self {
            Direction::Forward => "forward",
            Direction::InputGrad => "input_grad",
        }
    }
}

/// One of the kernels a text stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Version {
    pub arch: Arch,
    /// `None` in a kernel that is not `for` two directions.
    pub direction: Option<Direction>,
}

/// The word behind `when`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    Arch(Arch),
    Direction(Direction),
}

impl Condition {
    pub fn holds(self, version: Version) -> bool {
        match self {
            Condition::Arch(arch) => version.arch == arch,
            Condition::Direction(direction) => version.direction == Some(direction),
        }
    }

    pub const fn word(self) -> &'static str {
        match self {
            Condition::Arch(arch) => arch.word(),
            Condition::Direction(direction) => direction.word(),
        }
    }
}

/// Some of the versions `all`, in words: `on v81`, `for input_grad`. Nothing if they are all there are.
pub(crate) fn words(some: &[Version], all: &[Version]) -> Option<String> {
    let rest: Vec<_> = all.iter().filter(|v| !some.contains(v)).collect();
    if rest.is_empty() {
        return None;
    }
    // One property tells them from the rest, or they are listed.
    for arch in Arch::ALL {
        if some.iter().all(|v| v.arch == arch) && rest.iter().all(|v| v.arch != arch) {
            return Some(format!("on {}", arch.word()));
        }
    }
    for direction in Direction::ALL {
        let is = |v: &Version| v.direction == Some(direction);
        if some.iter().all(is) && !rest.iter().any(|v| is(v)) {
            return Some(format!("for {}", direction.word()));
        }
    }
    Some(some.iter().map(Version::to_string).collect::<Vec<_>>().join(", "))
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(direction) = self.direction {
            write!(f, "for {} ", direction.word())?;
        }
        write!(f, "on {}", self.arch.word())
    }
}
