//! Every trap of the checked model, provoked by one defect in the C of a library kernel.
//!
//! All defective kernels and the right ones are compiled into one library. A right kernel must run clean on the same
//! operands, so that a trap is the defect's doing; a defective one must stop with the rule's words, the kernel, the step and
//! its line.

mod defects;
mod forward_q8_by_qfloat;
mod input_grad_bf16_rows;

use defects::Defect;
use hexagon_runtime::Overflow;
use hexagon_runtime::device::Compiled;
use hexagon_runtime::device::{Call, DdrOperand, DeviceFault, LoadedModel, ModelPool, Variant};
use kernel_gen::ddr::DdrLayouts;
use kernel_gen::ir::{OperandLayout, TILE};
use kernel_gen::{Arch, Kernel, Plan, Verified, emit_library, library, verify as check_kernel};

/// Tokens, out, in: tails and several blocks along every axis.
const SHAPE: [u32; 3] = [70, 100, 130];
const TILES: [u32; 3] = [64, 32, 64];
/// Large enough that every partial sum overflows FP16: a right kernel flags its rows and runs on.
const VALUE: f32 = 300.0;

/// The kernels that get defects.
fn sound() -> Vec<Kernel> {
    let more = [
        library::forward_q8_blocks(),
        forward_q8_by_qfloat::forward_q8_by_qfloat(),
        input_grad_bf16_rows::input_grad_bf16_rows(),
    ];
    library::all().into_iter().chain(more).collect()
}

/// The shape, with whole blocks where an operand lies in blocks.
fn shape(kernel: &Kernel) -> [u32; 3] {
    let blocks = kernel.operands.iter().any(|o| matches!(o.layout, OperandLayout::Blocks(_)));
    let [m, n, k] = SHAPE;
    [m, n, if blocks { k.next_multiple_of(TILE) } else { k }]
}

fn copy(name: &str, of: &str) -> Verified {
    let mut kernel = sound().into_iter().find(|k| k.name == of).expect("a sound kernel");
    kernel.name = name.to_string();
    check_kernel(&kernel).expect("a renamed kernel")
}

fn name(index: usize) -> String {
    format!("defect_{index:02}")
}

/// The library with every defect in its own kernel's C.
fn library_with(defects: &[Defect], kernels: &[Verified]) -> String {
    let text = emit_library(kernels);
    let mut sections: Vec<String> = text.split("/* ---- ").map(str::to_string).collect();
    for (index, defect) in defects.iter().enumerate() {
        let own = name(index);
        let section = sections.iter_mut().find(|s| s.starts_with(&format!("{own} ----"))).expect("its section");
        for (right, wrong) in defect.edits {
            let [right, wrong] = [right, wrong].map(|text| text.replace("{K}", &own));
            assert!(section.contains(&right), "defect `{}`: the C of {} has no `{right}`", defect.what, defect.kernel);
            *section = section.replacen(&right, &wrong, 1);
        }
    }
    sections.join("/* ---- ")
}

fn run(pool: &mut ModelPool, kernel: &Verified) -> Result<(), DeviceFault> {
    let shape = shape(kernel.kernel());
    let plan = Plan::with_tunables(kernel, Arch::V79, &shape, 8 << 20, &TILES).expect("a plan");
    let operands = kernel.kernel().operands.iter().map(|operand| {
        let [rows, cols] = operand.axes.map(|axis| shape[axis.0] as usize);
        let image = DdrLayouts::standard().of(operand).expect("known").image(&vec![VALUE; rows * cols], rows, cols);
        DdrOperand::new(&image.bytes, image.rows, image.cols, image.row_stride)
    });
    let mut call = Call::new(&plan, &shape, operands.collect()).expect("a call");
    pool.call(&mut call, 0..shape[0])
}

#[test]
fn every_trap_stops_its_defect() {
    let defects = defects::all();
    let mut kernels: Vec<Verified> =
        defects.iter().enumerate().map(|(index, defect)| copy(&name(index), defect.kernel)).collect();
    kernels.extend(sound().iter().map(|kernel| copy(&kernel.name, &kernel.name)));
    let compiled = Compiled::from_c(&library_with(&defects, &kernels), true).expect("it compiles");
    let model = Variant::Loaded(LoadedModel::open(&compiled.path()).expect("it loads"));
    let mut pool = ModelPool::open(model, 1, 8 << 20, Overflow::default()).expect("a device");

    for kernel in &kernels[defects.len()..] {
        assert_eq!(run(&mut pool, kernel), Ok(()), "{} without a defect", kernel.kernel().name);
    }
    let mut missed = Vec::new();
    for (index, defect) in defects.iter().enumerate() {
        let kernel = &kernels[index];
        match run(&mut pool, kernel) {
            Err(DeviceFault::Trapped(text)) => {
                let source = format!("{}.rs:", defect.kernel);
                let placed = text.contains(&source) && (!defect.in_a_step || text.contains(defect.step));
                if !text.contains(defect.says) || !text.contains(&name(index)) || !placed {
                    missed.push(format!("{}: another message: {text}", defect.what));
                } else {
                    println!("{:<26} {}\n    trap: {}", defect.kernel, defect.what, defect.says);
                }
            }
            other => missed.push(format!("{}: {other:?}", defect.what)),
        }
        // A trap leaves the device usable.
        let right = &kernels[defects.len() + index % sound().len()];
        assert_eq!(run(&mut pool, right), Ok(()), "after `{}`", defect.what);
    }
    println!("{} of {} defects trapped, each with its rule", defects.len() - missed.len(), defects.len());
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn a_qfloat_vector_has_no_store() {
    let kernel = copy("unconverted", "forward_q8_by_qfloat");
    let right = emit_library(&[kernel]);
    let wrong = right.replacen("pf_hf_from_q(low)", "low.lo", 1);
    assert_ne!(wrong, right);
    let refused = Compiled::from_c(&wrong, true).err().expect("a type of its own").to_string();
    assert!(refused.contains("pf_vstore") && refused.contains("incompatible type"), "{refused}");
}

#[test]
fn every_rule_of_the_checked_model_has_its_defect() {
    // The rules as the device library words them; a new one must get a defect here.
    let mut rules = Vec::new();
    for path in kernel_gen::device_files().expect("the device library") {
        let text = std::fs::read_to_string(&path).expect("a header");
        for call in text.split("pf_check").skip(1).chain(text.split("pf_trap(dev,").skip(1)) {
            let call = &call[..call.find(';').unwrap_or(call.len())];
            rules.extend(call.split('"').skip(1).step_by(2).map(str::to_string));
        }
    }
    rules.sort();
    rules.dedup();
    assert!(rules.len() > 25, "{rules:?}");
    let defects = defects::all();
    let not_provoked: Vec<&String> = rules
        .iter()
        .filter(|rule| !defects.iter().any(|defect| rule.contains(defect.says)))
        .filter(|rule| !defects::UNREACHABLE.contains(&rule.as_str()))
        .collect();
    assert!(not_provoked.is_empty(), "no defect provokes {not_provoked:#?}");
    assert!(defects.len() >= 25);
}
