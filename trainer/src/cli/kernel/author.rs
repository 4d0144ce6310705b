//! `permafrost kernel new`

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::{KernelError, json, names};

/// Flags of `permafrost kernel new`.
#[derive(Args, Debug)]
pub(super) struct NewArgs {
    /// Name of the kernel and its crate: lower-case letters, digits and _.
    name: String,
    /// Folder of the new crate; must not exist.
    #[arg(long)]
    out: PathBuf,
    /// Folder of the Permafrost sources the crate depends on; those this program was built from if not given.
    #[arg(long)]
    permafrost: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The name in the template's files.
const TEMPLATE_NAME: &str = "my_kernel";
const FILES: [(&str, &str); 4] = [
    ("Cargo.toml", include_str!("template/Cargo.toml.template")),
    ("src/lib.rs", include_str!("template/lib.rs")),
    ("tests/cross_check.rs", include_str!("template/cross_check.rs")),
    ("examples/explain.rs", include_str!("template/explain.rs")),
];

impl NewArgs {
    /// Writes the crate.
    pub fn run(self) -> Result<(), KernelError> {
        if let Some(problem) = names::problem(&self.name) {
            return Err(KernelError::Name { name: self.name, problem });
        }
        if self.out.exists() {
            return Err(KernelError::Exists { path: self.out });
        }
        let sources = sources(self.permafrost)?;
        let mut written = Vec::new();
        for (file, text) in FILES {
            // The path goes into a TOML string.
            let path = sources.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
            let text = text.replace(TEMPLATE_NAME, &self.name).replace("@PERMAFROST@", &path);
            let to = self.out.join(file);
            write(&to, &text)?;
            written.push(to);
        }
        if self.json {
            json::print(&json::files(&written));
        } else {
            let folder = shell_word(&self.out.display().to_string());
            outln!(
                "{}: kernel `{}` in src/lib.rs, its cross-check in tests/cross_check.rs",
                self.out.display(),
                self.name
            );
            outln!("cd {folder} && cargo test            # compiles the emitted C with gcc and checks it");
            outln!("cd {folder} && cargo run --example explain -- 512 2560 2560");
        }
        Ok(())
    }
}

fn sources(given: Option<PathBuf>) -> Result<PathBuf, KernelError> {
    let built_from = Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf);
    let path = given.or(built_from).unwrap_or_default();
    let path = fs::canonicalize(&path).map_err(|_| KernelError::Sources { path })?;
    let complete = ["kernel-gen", "verify"].iter().all(|name| path.join(name).join("Cargo.toml").is_file());
    if complete { Ok(path) } else { Err(KernelError::Sources { path }) }
}

fn write(path: &Path, text: &str) -> Result<(), KernelError> {
    let refused = |source| KernelError::Io { path: path.to_path_buf(), source };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(refused)?;
    }
    fs::write(path, text).map_err(refused)
}

/// `text` as one word of a POSIX shell.
fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:@%".contains(c);
    if !text.is_empty() && !text.starts_with('-') && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}
