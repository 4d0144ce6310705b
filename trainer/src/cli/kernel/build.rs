//! `permafrost kernel build`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hexagon_runtime::cross::{self, Build, Class, ToolchainKind};
use kernel_gen::{Arch, library};
use serde_json::json;

use super::selection::{self, Generation};
use super::{KernelError, json};

/// Flags of `permafrost kernel build`.
#[derive(Args, Debug)]
pub(super) struct BuildArgs {
    /// Kernels of the library; what the runtime calls if none is given.
    kernels: Vec<String>,
    /// NPU generation to compile for.
    #[arg(long, value_enum)]
    arch: Generation,
    /// Whose compiler.
    #[arg(long, value_enum, default_value_t)]
    toolchain: Tools,
    /// Folder of the project and the library; hexagon-v79 or hexagon-v81 if not given.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Compilers for Hexagon.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Tools {
    /// Upstream clang, lld and llvm-objdump, 22 or later.
    #[default]
    Llvm,
    /// Qualcomm's Hexagon SDK, at HEXAGON_SDK_ROOT.
    Sdk,
}

impl BuildArgs {
    /// Builds the library and prints what it holds.
    pub fn run(self) -> Result<(), KernelError> {
        let arch = Arch::from(self.arch);
        let kernels = if self.kernels.is_empty() {
            library::all().iter().map(selection::verified).collect::<Result<Vec<_>, _>>()?
        } else {
            let mut names = self.kernels.clone();
            names.sort();
            names.dedup();
            names.iter().map(|name| selection::kernel(name)).collect::<Result<_, _>>()?
        };
        let kind = match self.toolchain {
            Tools::Llvm => ToolchainKind::Llvm,
            Tools::Sdk => ToolchainKind::Sdk,
        };
        let out = self.out.unwrap_or_else(|| PathBuf::from(format!("hexagon-v{}", arch.number())));
        let build = cross::build(&kernels, arch, kind, &out)?;
        if self.json {
            print_json(&build, arch)
        } else {
            print(&build, arch)
        }
        Ok(())
    }
}

/// What is counted, in the order it is shown.
fn counts(build: &Build) -> [(&'static str, usize); 9] {
    let scan = &build.scan;
    [
        ("scalar", scan.count(Class::Scalar)),
        ("hvx integer", scan.count(Class::HvxInteger)),
        ("hvx qfloat", scan.count(Class::QFloat)),
        ("hvx float conversion", scan.count(Class::FloatConversion)),
        ("hvx float comparison", scan.count(Class::FloatComparison)),
        ("hvx ieee float", scan.count(Class::IeeeFloat)),
        ("user dma", scan.count(Class::UserDma)),
        ("hmx", scan.hmx()),
        ("unknown", scan.count(Class::Unknown)),
    ]
}

fn print(build: &Build, arch: Arch) {
    outln!("{} for {arch}, {}", build.library.display(), build.compiler);
    outln!("instructions (never run on a phone)");
    for (name, count) in counts(build) {
        outln!("  {name:<22} {count:>7}");
    }
    outln!("left to the phone's runtime: {} symbols", build.undefined.len());
    for name in &build.undefined {
        outln!("  {name}");
    }
}

fn print_json(build: &Build, arch: Arch) {
    let classes: serde_json::Map<_, _> =
        counts(build).iter().map(|(name, count)| (name.replace(' ', "_"), json!(count))).collect();
    json::print(&json!({
        "library": build.library.display().to_string(),
        "arch": arch.to_string(),
        "compiler": build.compiler,
        "instructions": classes,
        "undefined": build.undefined,
        "files": json::files(&build.files)["files"],
    }));
}
