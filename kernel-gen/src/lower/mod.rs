//! Lowering to C: one function per step, one that runs the schedule, one entry.
//!
//! The text uses only the primitives of `device/device.h`; tile sizes are read from the plan at run time.

mod code;
mod entry;
mod schedule;
mod step;

use code::Code;

use crate::{
    Arch, Verified,
    ir::{Axis, HvxStep, Kernel, Step, TILE, TILE_BYTES, Window, WindowId},
};

/// What compilers call the text of a library, where they do not name a file of its authors.
const LIBRARY_FILE: &str = "kernels.h";

/// A complete C file with one kernel as it is on `arch`. Without a `when` on architectures the text is the same for all.
pub fn emit_c(kernel: &Verified, arch: Arch) -> String {
    let mut code = Code::in_file(format!("{}.c", kernel.kernel().name));
    prelude(&mut code);
    let kernel = kernel.on(arch);
    emit_kernel(&mut code, kernel, kernel.kernel().id());
    code.finish()
}

/// A complete C file with all `kernels` and the table `pf_kernels` that a device finds them in. A kernel that differs by
/// architecture is in it once for each, as `NAME_on_v79` and so on, behind one entry that goes by the plan's architecture.
pub fn emit_library(kernels: &[Verified]) -> String {
    let mut code = Code::in_file(LIBRARY_FILE);
    prelude(&mut code);
    for kernel in kernels {
        let (name, id) = (&kernel.kernel().name, kernel.kernel().id());
        let variants = kernel.by_arch();
        if variants.is_empty() {
            emit_kernel(&mut code, kernel, id);
            continue;
        }
        for (_, variant) in &variants {
            emit_kernel(&mut code, variant, id);
        }
        entry::dispatch(&mut code, name, &variants);
    }
    entry::table(&mut code, kernels);
    code.finish()
}

/// A C file with the function `NAME_tile(dev, to, from)` of one author's step, to run it by itself.
pub fn emit_step_c(step: &HvxStep) -> String {
    let mut code = Code::in_file(format!("{}.c", step.name));
    code.line("/* Emitted by kernel-gen from a step written in its schedule language. Do not edit. */");
    code.line("#include \"device.h\"");
    code.blank();
    step::emit_body(&mut code, &format!("{}_tile", step.name), step);
    code.finish()
}

fn prelude(code: &mut Code) {
    code.line("/* Emitted by kernel-gen from kernels written in its schedule language. Do not edit. */");
    code.line("#include \"device.h\"");
    code.blank();
    code.line("enum {");
    code.line(format!("    TILE_EDGE = {TILE},          /* rows and columns of an HMX tile */"));
    code.line(format!("    TILE_BYTES = {TILE_BYTES},       /* one FP16 tile */"));
    code.line("    PACKET_TILES = 32,       /* most tiles along the contraction that one HMX packet takes */");
    code.line(format!("    VECTOR_BYTES = {}", crate::ir::VECTOR_BYTES));
    code.line("};");
    code.blank();
    code.open("static inline uint32_t at_most(uint32_t limit, uint32_t value)");
    code.line("return value < limit ? value : limit;");
    code.close();
    code.blank();
    code.line("/* Tiles that cover this many elements. */");
    code.open("static inline uint32_t tiles_of(uint32_t elements)");
    code.line("return (elements + TILE_EDGE - 1) / TILE_EDGE;");
    code.close();
    code.blank();
    code.line("/* Byte `offset` of an operand in DDR. */");
    code.open("static inline uint8_t *in_ddr(const struct pf_operand *operand, uint64_t offset)");
    code.line("return (uint8_t *)(uintptr_t)(operand->address + offset);");
    code.close();
}

fn emit_kernel(code: &mut Code, verified: &Verified, id: u32) {
    let kernel = verified.kernel();
    code.blank();
    code.line(format!("/* ---- {} ---- {}", kernel.name, kernel.source));
    for line in &kernel.doc {
        code.line(format!(" * {}", line.replace("*/", "* /")).trim_end());
    }
    code.line(" */");
    code.blank();
    block_struct(code, kernel);
    step::emit_bodies(code, kernel);
    step::emit_all(code, verified);
    schedule::emit(code, verified);
    entry::emit(code, verified, id);
}

fn block_struct(code: &mut Code, kernel: &Kernel) {
    code.line("/* First index and length of the current block of every axis. */");
    code.open(format!("struct {}_block", kernel.name));
    for Axis { name, .. } in &kernel.axes {
        code.line(format!("uint32_t {name}, {name}_len;"));
    }
    code.close_with(";");
}

/// The C function of a step: kernel, step, window or operand, and a number if the schedule has several alike.
fn step_function(kernel: &Kernel, steps: &[&Step], index: usize) -> String {
    let name = |step: &Step| format!("{}_{}_{}", kernel.name, step.kind.keyword(), target(kernel, step));
    let own = name(steps[index]);
    let alike = steps.iter().filter(|s| name(s) == own).count();
    if alike == 1 {
        return own;
    }
    let number = steps[..=index].iter().filter(|s| name(s) == own).count();
    format!("{own}_{number}")
}

/// Where a trap between or around the steps is said to be.
fn outside_steps(kernel: &Kernel, what: &str) -> String {
    let [name, source] = [kernel.name.as_str(), &kernel.source.to_string()].map(step::c_string);
    format!("PF_STEP(dev, {name}, {source}, \"{what}\");")
}

fn target<'k>(kernel: &'k Kernel, step: &Step) -> &'k str {
    match (step.kind.writes(), step.kind.operand()) {
        (Some(window), _) => &window_of(kernel, window).name,
        (None, Some((operand, _))) => &kernel.operands[operand.0].name,
        (None, None) => "",
    }
}

fn window_of(kernel: &Kernel, window: WindowId) -> &Window {
    &kernel.windows[window.0]
}
