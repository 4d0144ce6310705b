use std::fmt;

/// Which of the two products with a frozen weight W (row-major `[out][in]`) is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// `Y = X·Wᵀ`: input rows are `in` wide, output rows `out` wide.
    Forward,
    /// `dX = dY·W`: input rows are `out` wide, output rows `in` wide.
    InputGrad,
}

impl Direction {
    /// Both directions, in the order tables print them.
    pub const ALL: [Direction; 2] = [Direction::Forward, Direction::InputGrad];

    /// Widths of an input row and an output row for a weight of `out` × `in_`.
    pub fn widths(self, out: usize, in_: usize) -> (usize, usize) {
        match self {
            Direction::Forward => (in_, out),
            Direction::InputGrad => (out, in_),
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Direction::Forward => "forward",
            Direction::InputGrad => "input_grad",
        })
    }
}
