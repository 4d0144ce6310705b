//! Which kernel, shape, architecture and tile sizes a command is about.

use clap::{Args, ValueEnum};
use kernel_gen::plan::{self, MAX_EXTENT};
use kernel_gen::{Arch, Plan, Verified, library};

use super::KernelError;

/// A generation of the Hexagon NPU.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(super) enum Generation {
    /// Snapdragon 8 Elite.
    #[default]
    V79,
    /// Snapdragon 8 Elite Gen 5.
    V81,
}

impl From<Generation> for Arch {
    fn from(generation: Generation) -> Arch {
        match generation {
            Generation::V79 => Arch::V79,
            Generation::V81 => Arch::V81,
        }
    }
}

/// Why a text is no size.
enum Unfit {
    NoSize,
    TooLarge,
}

/// A whole number as one writes it: no sign, no leading zero.
fn size(text: &str) -> Result<u32, Unfit> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits || (text.len() > 1 && text.starts_with('0')) {
        return Err(Unfit::NoSize);
    }
    text.parse().map_err(|_| Unfit::TooLarge)
}

fn is_tunable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn vtcm(text: &str) -> Result<u32, String> {
    size(text).map_err(|_| format!("give a whole number of bytes up to {}, as in 4194304", u32::MAX))
}

/// Extents in declaration order.
#[derive(Clone, Debug)]
pub(super) struct Shape(pub Vec<u32>);

impl std::str::FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Shape, String> {
        let extents: Result<Vec<u32>, _> = text.split(['x', '×']).map(|part| size(part.trim())).collect();
        extents.map(Shape).map_err(|fault| match fault {
            Unfit::TooLarge => format!("`{text}` is too large: an extent is at most {MAX_EXTENT}"),
            Unfit::NoSize => format!(
                "`{text}` is no shape: write one extent per axis, digits only and no leading zeros, as in 512x2560x9728"
            ),
        })
    }
}

/// One tile size.
#[derive(Clone, Debug)]
pub(super) struct Tile {
    name: String,
    value: u32,
}

impl std::str::FromStr for Tile {
    type Err = String;

    fn from_str(text: &str) -> Result<Tile, String> {
        let (name, value) = text.split_once('=').map_or((text, ""), |(name, value)| (name.trim(), value.trim()));
        match size(value) {
            Ok(value) if is_tunable(name) => Ok(Tile { name: name.to_owned(), value }),
            Err(Unfit::TooLarge) => {
                Err(format!("`{text}` is too large: a tile is at most {MAX_EXTENT}, as an axis is"))
            }
            _ => Err(format!("`{text}` is no tile size: write NAME=VALUE, the value in digits only, as in mc=512")),
        }
    }
}

/// Shape and plan flags.
#[derive(Args, Debug)]
pub(super) struct PlanArgs {
    /// Extents of the kernel's axes in declaration order, tokens first: MxNxK.
    #[arg(long, allow_hyphen_values = true)]
    pub shape: Shape,
    /// NPU generation to plan for.
    #[arg(long, value_enum, default_value_t)]
    pub arch: Generation,
    /// VTCM to plan in, in bytes; all the phone parts have if not given.
    #[arg(long, allow_hyphen_values = true, value_parser = vtcm)]
    pub vtcm: Option<u32>,
}

impl PlanArgs {
    /// The planner's plan, with the tile sizes in `tiles` in place of its own.
    pub fn plan(&self, kernel: &Verified, tiles: &[Tile]) -> Result<Plan, KernelError> {
        let arch = Arch::from(self.arch);
        let vtcm = self.vtcm.unwrap_or(arch.vtcm_bytes());
        let plan = plan::solve(kernel, arch, &self.shape.0, vtcm)?;
        if tiles.is_empty() {
            return Ok(plan);
        }
        let mut values: Vec<u32> = plan.tunables.iter().map(|t| t.value).collect();
        for (position, tile) in tiles.iter().enumerate() {
            if tiles[..position].iter().any(|earlier| earlier.name == tile.name) {
                return Err(KernelError::Repeated { tunable: tile.name.clone() });
            }
            let Some(index) = plan.tunables.iter().position(|t| t.name == tile.name) else {
                let known: Vec<String> = plan.tunables.iter().map(|t| format!("{}={}", t.name, t.value)).collect();
                return Err(KernelError::Tunable {
                    kernel: plan.kernel,
                    tunable: tile.name.clone(),
                    known: known.join(","),
                });
            };
            values[index] = tile.value;
        }
        Ok(Plan::with_tunables(kernel, arch, &self.shape.0, vtcm, &values)?)
    }
}

/// What the runtime is built with, then the other kernels of the library.
pub(super) fn every() -> Vec<kernel_gen::Kernel> {
    library::all().into_iter().chain(library::extra()).collect()
}

/// The library kernel called `name`, verified.
pub(super) fn kernel(name: &str) -> Result<Verified, KernelError> {
    let kernels = every();
    match kernels.iter().find(|kernel| kernel.name == name) {
        Some(kernel) => verified(kernel),
        None => Err(KernelError::Unknown {
            name: name.to_owned(),
            known: kernels.iter().map(|k| k.name.as_str()).collect::<Vec<_>>().join(", "),
        }),
    }
}

/// `kernel`, verified.
pub(super) fn verified(kernel: &kernel_gen::Kernel) -> Result<Verified, KernelError> {
    kernel_gen::verify(kernel).map_err(|diagnostics| KernelError::Rules {
        kernel: kernel.name.clone(),
        diagnostics: diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
    })
}
