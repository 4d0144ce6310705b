//! Which compiler, linker, disassembler and symbol lister there are.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::CrossError;

/// Whose tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolchainKind {
    /// Upstream LLVM, 22 or later: HMX as encoded words, the vendor's functions as this project's declarations.
    Llvm,
    /// Qualcomm's Hexagon SDK: HMX as assembler text, the vendor's headers.
    Sdk,
}

/// First LLVM with Hexagon V79 and V81.
const OLDEST: u32 = 22;
/// Latest tried by its own name.
const NEWEST: u32 = 30;

/// The tools of a build.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// Whose they are.
    pub kind: ToolchainKind,
    /// First line of `clang --version`.
    pub version: String,
    /// Folder of the SDK, if it is there.
    pub sdk: Option<PathBuf>,
    pub(super) clang: PathBuf,
    pub(super) linker: PathBuf,
    pub(super) objdump: PathBuf,
    pub(super) nm: PathBuf,
}

impl Toolchain {
    /// The tools on this machine.
    ///
    /// # Errors
    /// [`CrossError::Missing`], [`CrossError::TooOld`] or [`CrossError::NoSdk`].
    pub fn find(kind: ToolchainKind) -> Result<Toolchain, CrossError> {
        match kind {
            ToolchainKind::Llvm => Toolchain::llvm(),
            ToolchainKind::Sdk => Toolchain::sdk(),
        }
    }

    /// The compiler.
    pub fn clang(&self) -> &Path {
        &self.clang
    }

    /// The linker.
    pub fn linker(&self) -> &Path {
        &self.linker
    }

    fn llvm() -> Result<Toolchain, CrossError> {
        let clang = newest("clang", "clang 22 or later, which has Hexagon V79 and V81,", "clang-22")?;
        let linker = newest("ld.lld", "the linker lld", "lld-22")?;
        let objdump = newest("llvm-objdump", "the disassembler llvm-objdump", "llvm-22")?;
        let nm = newest("llvm-nm", "llvm-nm", "llvm-22")?;
        let version = version_line(&clang).unwrap_or_default();
        Ok(Toolchain { kind: ToolchainKind::Llvm, version, sdk: None, clang, linker, objdump, nm })
    }

    fn sdk() -> Result<Toolchain, CrossError> {
        let sdk = env::var_os("HEXAGON_SDK_ROOT").map(PathBuf::from);
        let bin = env::var_os("HEXAGON_TOOLS_ROOT")
            .map(PathBuf::from)
            .into_iter()
            .chain(sdk.iter().flat_map(|sdk| compilers(sdk)))
            .map(|tools| tools.join("Tools/bin"))
            .find(|bin| version_line(&bin.join("hexagon-clang")).is_some())
            .ok_or(CrossError::NoSdk)?;
        let clang = bin.join("hexagon-clang");
        let version = version_line(&clang).unwrap_or_default();
        Ok(Toolchain {
            kind: ToolchainKind::Sdk,
            version,
            // The headers are the SDK's; a compiler alone cannot build the project.
            sdk: Some(sdk.ok_or(CrossError::NoSdk)?),
            linker: clang.clone(),
            clang,
            objdump: bin.join("hexagon-llvm-objdump"),
            nm: bin.join("hexagon-nm"),
        })
    }
}

/// Folders of the compilers that the SDK holds, the latest first.
fn compilers(sdk: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(sdk.join("tools/HEXAGON_Tools")) else { return Vec::new() };
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    folders.sort();
    folders.reverse();
    folders
}

/// `name-22`, `name-23`, … or a plain `name` that is new enough.
fn newest(name: &str, what: &'static str, package: &'static str) -> Result<PathBuf, CrossError> {
    let names: Vec<String> =
        (OLDEST..=NEWEST).map(|version| format!("{name}-{version}")).chain([name.to_owned()]).collect();
    let mut old = None;
    for name in &names {
        let path = PathBuf::from(name);
        match version_line(&path).as_deref().and_then(major) {
            Some(version) if version >= OLDEST => return Ok(path),
            Some(version) => old = Some(CrossError::TooOld { tool: name.clone(), version }),
            None => {}
        }
    }
    let tried = format!("{} … {}-{NEWEST} and {name}", names[0], name);
    Err(old.unwrap_or(CrossError::Missing { tool: what, tried, package }))
}

/// The line of `--version` that has the version, if the program runs.
fn version_line(program: &Path) -> Option<String> {
    let output = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find(|line| major(line).is_some())?;
    output.status.success().then(|| line.trim().to_owned())
}

/// The number before the first point of the first word like 22.1.8.
fn major(line: &str) -> Option<u32> {
    line.split_whitespace().find_map(|word| {
        let (major, rest) = word.split_once('.')?;
        rest.starts_with(|c: char| c.is_ascii_digit()).then(|| major.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::major;

    #[test]
    fn versions() {
        assert_eq!(major("Debian clang version 22.1.8 (++20260801)"), Some(22));
        assert_eq!(major("LLD 14.0.6 (compatible with GNU linkers)"), Some(14));
        assert_eq!(major("  Debian LLVM version 22.1.8"), Some(22));
        assert_eq!(major("QuIC LLVM Hexagon Clang version 19.0.04"), Some(19));
        assert_eq!(major("LLVM (http://llvm.org/):"), None);
    }
}
