//! Shows the kernel for a shape and writes its C: `cargo run --example explain -- 512x2560x2560`

use std::error::Error;
use std::io::{Write, stderr, stdout};
use std::process::ExitCode;
use std::{env, fs};

use kernel_gen::plan::{self, MAX_EXTENT};
use kernel_gen::{Arch, Diagnostic, Kernel, emit_c, explain::explain, verify};

use my_kernel::my_kernel;

fn main() -> ExitCode {
    let Err(error) = show(&my_kernel()) else { return ExitCode::SUCCESS };
    // Where nobody reads errors, the exit code says that there was one.
    let _ = writeln!(stderr(), "{error}");
    ExitCode::FAILURE
}

fn show(kernel: &Kernel) -> Result<(), Box<dyn Error>> {
    let verified = verify(kernel).map_err(|broken| lines(&broken))?;
    let shape = shape(kernel).ok_or_else(|| usage(kernel))?;
    let plan = plan::solve(&verified, Arch::V79, &shape, Arch::V79.vtcm_bytes())?;
    let explanation = explain(&verified, &plan, 0..plan.axes[0].extent);
    writeln!(stdout(), "{explanation}")?;
    for (file, text) in [("my_kernel.c", emit_c(&verified, plan.arch)), ("my_kernel.svg", explanation.svg())] {
        fs::write(file, text).map_err(|error| format!("{file}: {error}"))?;
        writeln!(stdout(), "{file} written")?;
    }
    Ok(())
}

fn lines(broken: &[Diagnostic]) -> String {
    broken.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// The only argument: an extent for each axis.
fn shape(kernel: &Kernel) -> Option<Vec<u32>> {
    let mut arguments = env::args_os().skip(1);
    let (text, None) = (arguments.next()?.into_string().ok()?, arguments.next()) else { return None };
    let extents: Vec<u32> = text.split(['x', '×']).map(|extent| extent.parse().ok()).collect::<Option<_>>()?;
    (extents.len() == kernel.axes.len()).then_some(extents)
}

fn usage(kernel: &Kernel) -> String {
    let names: Vec<&str> = kernel.axes.iter().map(|axis| axis.name.as_str()).collect();
    let example = vec!["512"; names.len()].join("x");
    let names = names.join(", ");
    format!("usage: cargo run --example explain -- SHAPE: the extents of {names}, 1 to {MAX_EXTENT}, as in {example}")
}
