//! `permafrost kernel new`

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::{KernelError, json, names, sources};

/// Flags of `permafrost kernel new`.
#[derive(Args, Debug)]
pub(super) struct NewArgs {
    /// Name of the kernel and its crate: lower-case letters, digits and _, at most 64 of them.
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
        let sources = in_toml(sources::find(self.permafrost)?)?;
        let mut written = Vec::new();
        for (file, text) in FILES {
            let text = text.replace(TEMPLATE_NAME, &self.name).replace("@PERMAFROST@", &sources);
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
            outln!("cd {folder} && cargo run --example explain -- 512x2560x2560");
        }
        Ok(())
    }
}

/// `path` as the inside of a TOML string, which takes what JSON escapes.
fn in_toml(path: PathBuf) -> Result<String, KernelError> {
    let Some(text) = path.to_str() else { return Err(KernelError::NoText { path }) };
    let quoted = serde_json::Value::from(text).to_string();
    Ok(quoted[1..quoted.len() - 1].to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stands_in_toml_as_it_is_or_not_at_all() {
        use std::os::unix::ffi::OsStrExt;

        assert_eq!(in_toml("/a \"b\"\\c\n\"".into()).unwrap(), r#"/a \"b\"\\c\n\""#);
        let no_text = Path::new(std::ffi::OsStr::from_bytes(b"/a\xff")).to_path_buf();
        assert!(in_toml(no_text).unwrap_err().to_string().contains("move the Permafrost sources"));
    }
}
