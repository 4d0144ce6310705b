/// Hexagon architecture a plan is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arch {
    /// Snapdragon 8 Elite.
    V79,
    /// Snapdragon 8 Elite Gen 5.
    V81,
}
