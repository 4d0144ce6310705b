//! Why there is no library for the phone.

use std::io;
use std::path::PathBuf;

/// A build for Hexagon that could not be made, or must not be used; every text says what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CrossError {
    /// No such program.
    #[error(
        "{tool} is not installed (tried {tried}): install {package} (Debian: apt-get install {package}), or run tools/set-up"
    )]
    Missing {
        /// What is looked for.
        tool: &'static str,
        /// Names that did not run.
        tried: String,
        /// Debian package.
        package: &'static str,
    },
    /// A compiler from before Hexagon V79.
    #[error(
        "{tool} is version {version}, which does not know Hexagon V79 and V81: install clang-22, lld-22 and llvm-22"
    )]
    TooOld {
        /// The program.
        tool: String,
        /// Its version.
        version: u32,
    },
    /// No Hexagon SDK.
    #[error(
        "no hexagon-clang: set HEXAGON_SDK_ROOT to the folder of Qualcomm's Hexagon SDK (6.1 or later), and HEXAGON_TOOLS_ROOT \
         to its compiler if that lies elsewhere (the folder with Tools/bin/hexagon-clang in it). Without the SDK, build with \
         --toolchain llvm"
    )]
    NoSdk,
    /// The compiler, the linker or the disassembler refused.
    #[error(
        "`{command}` failed: the emitted project and this tool do not fit together, please report it with this text:\n{stderr}"
    )]
    Refused {
        /// The command line.
        command: String,
        /// What it said.
        stderr: String,
    },
    /// Instructions that must not be run there.
    #[error(
        "{library} holds {total} instructions that {target} must not be given:\n{findings}\nRewrite the step that makes them: \
         docs/hexagon-build.md lists what may be emitted"
    )]
    Forbidden {
        /// The file.
        library: String,
        /// How many.
        total: usize,
        /// What for.
        target: &'static str,
        /// The first of them, one a line.
        findings: String,
    },
    /// Symbols left open that are not the runtime's.
    #[error(
        "the phone's runtime has no {symbols}: the library would not load. A step of a kernel calls a function or needs a \
         helper of the compiler (division, memcpy, FP16 conversion); write it out"
    )]
    Unlisted {
        /// Their names.
        symbols: String,
    },
    /// Somebody else's folder.
    #[error("{} holds files that are no Hexagon project: name a new folder with --out, or empty it", path.display())]
    Occupied {
        /// The folder.
        path: PathBuf,
    },
    /// A file that cannot be read or written.
    #[error("{}: {source}. Check the path, its permissions and the free space", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}
