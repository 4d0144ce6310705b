//! What was measured, in one form: `measured | set | case | path | what | error | tolerance`. `tools/numerics` makes the
//! tables of docs/numerics.md from these lines.

use std::path::Path;

/// Where a figure belongs: the reference set, the case of it, and the path that computed it.
#[derive(Clone)]
pub struct Measured {
    set: String,
    case: String,
    path: String,
}

impl Measured {
    pub fn new(folder: &Path, case: &str, path: impl ToString) -> Measured {
        let set = folder.file_name().unwrap().to_string_lossy().into_owned();
        Measured { set, case: case.to_owned(), path: path.to_string() }
    }

    /// Prints an error and refuses one beyond its tolerance.
    pub fn within(&self, what: &str, error: f64, tolerance: f64) {
        self.print(what, error, &format!("{tolerance:e}"));
        let Measured { set, case, path } = self;
        assert!(error <= tolerance, "{set} {case}, {path}: {what} is off by {error:e}, {tolerance:e} are allowed");
    }

    /// Prints an error that nothing is asserted about.
    pub fn noted(&self, what: &str, error: f64) {
        assert!(error.is_finite(), "{} {}, {}: {what} is {error}", self.set, self.case, self.path);
        self.print(what, error, "none");
    }

    fn print(&self, what: &str, error: f64, tolerance: &str) {
        let Measured { set, case, path } = self;
        println!("measured | {set} | {case} | {path} | {what} | {error:.1e} | {tolerance}");
    }
}

/// Kind of a gradient by its PEFT name: the projection's last part, and A or B.
pub fn gradient_kind(name: &str) -> String {
    let parts: Vec<&str> = name.split('.').collect();
    let [.., projection, matrix, "weight"] = parts[..] else { panic!("{name} is no adapter's weight") };
    format!("gradient {projection} {}", matrix.strip_prefix("lora_").unwrap())
}
