//! Rules without sizes that the macro and the verifier of `kernel_gen` share: the latter includes these files.

pub mod c_name;
pub mod conflict;
pub mod limits;
pub mod refusal;
