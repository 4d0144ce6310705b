//! The entry of a kernel, what it refuses, and the table of kernels.

use super::{Code, outside_steps};
use crate::{
    Arch, Verified,
    ir::{Operand, OperandLayout, StepKind},
    verify::Placed,
};

/// `id` is what plans and requests name the kernel by.
pub(super) fn emit(code: &mut Code, verified: &Verified, id: u32) {
    let kernel = verified.kernel();
    let name = &kernel.name;
    code.blank();
    code.line(
        "/* What the loops rely on: whole tiles, a row range of whole strips, operands as large as the axes say. */",
    );
    code.open(format!("static int {name}_check(const struct pf_plan *plan, const struct pf_request *request)"));
    let mut wrong = vec![format!("plan->window_count != {}", kernel.windows.len())];
    wrong.extend(kernel.windows.iter().enumerate().map(|(i, w)| format!("plan->windows[{i}].stages != {}", w.stages)));
    refuse(code, &wrong, "PF_BAD_PLAN");
    code.open(format!("for (uint32_t i = 0; i < {}; ++i)", kernel.tunables.len()));
    refuse(code, &["plan->tunables[i] == 0".into(), "plan->tunables[i] % TILE_EDGE != 0".into()], "PF_BAD_PLAN");
    code.close();
    let token = verified.facts().token.0;
    refuse(
        code,
        &[
            "request->row_begin % TILE_EDGE != 0".into(),
            "request->row_begin > request->row_end".into(),
            format!("request->row_end > request->axes[{token}]"),
        ],
        "PF_BAD_REQUEST",
    );
    code.open("if (request->row_begin == request->row_end)");
    code.line("return PF_OK;");
    code.close();
    for (index, operand) in kernel.operands.iter().enumerate() {
        code.line(format!("const struct pf_operand *{} = &request->operands[{index}];", operand.name));
        let [rows, cols] = operand.axes.map(|a| format!("request->axes[{}]", a.0));
        let by_dma = |p: &Placed<'_>| matches!(p.step.kind, StepKind::Load { operand, .. } if operand.0 == index);
        let padded = Placed::all(&kernel.schedule).iter().any(by_dma);
        refuse(code, &unfit(operand, padded, &rows, &cols), "PF_BAD_REQUEST");
    }
    for (field, used) in [("row_exponents", uses_exponents(verified)), ("row_flags", uses_flags(verified))] {
        if used {
            refuse(code, &[format!("!request->{field}")], "PF_BAD_REQUEST");
        }
    }
    code.line("return PF_OK;");
    code.close();
    code.blank();
    code.open(format!(
        "static int {name}_entry(pf_device *dev, const struct pf_plan *plan, const struct pf_request *request)"
    ));
    code.line(format!("int status = pf_enter(dev, plan, request, {id:#010x}u);"));
    code.open("if (status == PF_OK)");
    code.line(format!("status = {name}_check(plan, request);"));
    code.close();
    code.open("if (status == PF_OK)");
    code.line(outside_steps(kernel, "begin"));
    code.line("status = pf_vtcm_acquire(dev);");
    code.close();
    code.open("if (status == PF_OK)");
    code.line(format!("{name}_run(dev, plan, request);"));
    code.line("pf_vtcm_release(dev);");
    code.close();
    code.line("return status;");
    code.close();
}

fn uses_exponents(verified: &Verified) -> bool {
    Placed::all(&verified.kernel().schedule)
        .iter()
        .any(|p| matches!(p.step.kind, StepKind::PackRows { scale: true, .. } | StepKind::PackCols { scale: true, .. }))
}

fn uses_flags(verified: &Verified) -> bool {
    Placed::all(&verified.kernel().schedule)
        .iter()
        .any(|p| matches!(p.step.kind, StepKind::UnpackRows { .. } | StepKind::UnpackCols { .. }))
}

fn refuse(code: &mut Code, conditions: &[String], status: &str) {
    code.open(format!("if ({})", conditions.join(" || ")));
    code.line(format!("return {status};"));
    code.close();
}

/// True where the operand is smaller than what the loops read or write, or starts where vectors cannot. DMA reads the
/// padding of rows too. Blocks may start anywhere: DMA takes them from where the model file was mapped.
fn unfit(operand: &Operand, padded: bool, rows: &str, cols: &str) -> Vec<String> {
    let o = &operand.name;
    match (operand.layout, operand.element) {
        (OperandLayout::RowMajor, element) if !padded => vec![
            format!("{o}->address % VECTOR_BYTES != 0"),
            format!("{o}->row_stride % VECTOR_BYTES != 0"),
            format!("{o}->row_stride < (uint64_t){cols} * {}", element.bytes()),
            format!("{o}->bytes < (uint64_t)({rows} - 1) * {o}->row_stride + (uint64_t){cols} * {}", element.bytes()),
        ],
        (OperandLayout::RowMajor, _) => vec![
            format!("{o}->address % VECTOR_BYTES != 0"),
            format!("{o}->row_stride % VECTOR_BYTES != 0"),
            format!("{o}->row_stride < (uint64_t)tiles_of({cols}) * TILE_EDGE * 2"),
            format!("{o}->bytes < (uint64_t)tiles_of({rows}) * TILE_EDGE * {o}->row_stride"),
        ],
        (OperandLayout::Blocks(format), _) => {
            let row = format!("(uint64_t)({cols} / TILE_EDGE) * {}", format.bytes);
            vec![
                format!("{cols} % TILE_EDGE != 0"),
                format!("{o}->row_stride < {row} /* {} */", format.name),
                format!("{o}->bytes < (uint64_t)({rows} - 1) * {o}->row_stride + {row}"),
            ]
        }
        (OperandLayout::Vector, _) => {
            vec![format!("{o}->address % VECTOR_BYTES != 0"), format!("{o}->bytes < (uint64_t){cols} * 4")]
        }
        (OperandLayout::Tiles(format), _) => vec![
            format!("{o}->address % VECTOR_BYTES != 0"),
            format!("{o}->row_stride < (uint64_t)tiles_of({cols}) * {} /* {} */", format.bytes, format.name),
            format!("{o}->bytes < (uint64_t)tiles_of({rows}) * {o}->row_stride"),
        ],
    }
}

/// The entry of a kernel whose variants stand above it, each with an entry of its own.
pub(super) fn dispatch(code: &mut Code, name: &str, variants: &[(Arch, Verified)]) {
    code.blank();
    code.line(format!("/* {name} differs by architecture: the plan says which it is for. */"));
    code.open(format!(
        "static int {name}_entry(pf_device *dev, const struct pf_plan *plan, const struct pf_request *request)"
    ));
    refuse(code, &["plan->abi_version != PF_ABI_VERSION".into()], "PF_BAD_ABI");
    for (arch, variant) in variants {
        code.open(format!("if (plan->arch == {})", arch.number()));
        code.line(format!("return {}_entry(dev, plan, request);", variant.kernel().name));
        code.close();
    }
    code.line("return PF_BAD_PLAN;");
    code.close();
}

pub(super) fn table(code: &mut Code, kernels: &[Verified]) {
    code.blank();
    code.line("/* Every kernel of this file. */");
    code.line("static const struct pf_kernel pf_kernels[] = {");
    for kernel in kernels {
        let kernel = kernel.kernel();
        code.line(format!("    {{{:#010x}u, \"{name}\", {name}_entry}},", kernel.id(), name = kernel.name));
    }
    code.line("};");
}
