//! Schedule bugs that no rule of the checked model can see: the kernel runs to its end and the numbers are wrong. The
//! cross-check must find each in a library kernel, and say what differs.

use kernel_gen::ir::{AxisRole, Kernel, StepKind};
use kernel_gen::{Verified, emit_library, library, verify as check_kernel};
use verify::cross_check::Wrong;
use verify::{CrossCheck, CrossCheckError};

/// Enough for bugs that need several blocks along one axis.
const CASES: u32 = 300;

fn found(name: &str, kernel: Verified, c: &str) -> Wrong {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut check = CrossCheck::with_c(kernel, c).expect("the altered C compiles").cases(CASES).save_to(folder.path());
    match check.run() {
        Err(CrossCheckError::Wrong(failure)) => {
            let path = failure.saved.as_ref().unwrap().as_ref().unwrap();
            // The saved case fails alike, and the message says where it is.
            assert!(failure.to_string().contains(path.to_str().unwrap()), "{failure}");
            let Err(CrossCheckError::Wrong(again)) = check.replay(path) else { panic!("{name}: replay passes") };
            assert_eq!(again.wrong.to_string(), failure.wrong.to_string(), "{name}");
            failure.wrong
        }
        Err(other) => panic!("{name}: {other}"),
        Ok(cases) => panic!("{name} passed {cases} cases"),
    }
}

/// Bugs as an edit of the emitted C: kernel, bug, the text and what it becomes.
const EDITS: [(&str, &str, &str, &str); 10] = [
    (
        "input_grad_f16",
        "a short last block of rows is left out",
        "at.m < request->row_end; at.m += mc)",
        "at.m + mc <= request->row_end || at.m == request->row_begin; at.m += mc)",
    ),
    (
        "forward_f16",
        "the first block of the contraction adds to what was in memory",
        "const int accumulate = at->k > 0;",
        "const int accumulate = 1;",
    ),
    (
        "forward_q8",
        "every partial sum is stored over the one before",
        "const int accumulate = at->k > 0;",
        "const int accumulate = 0;",
    ),
    (
        "forward_q8",
        "the multiply stops one tile early",
        "const uint32_t run = tiles_of(at->k_len);",
        "const uint32_t run = tiles_of(at->k_len) > 1 ? tiles_of(at->k_len) - 1 : 1;",
    ),
    (
        "input_grad_q8",
        "rows and columns of the product are swapped",
        "pf_hmx_issue(dev, packet);",
        "pf_hmx_issue(dev, (struct pf_packet){packet.weight, packet.activation});",
    ),
    (
        "input_grad_f16",
        "rows are unscaled by the exponents of the rows before",
        "exponents + at->m + row, flags + at->m + row",
        "exponents + (at->m + row ? at->m + row - 1 : 0), flags + at->m + row",
    ),
    (
        "forward_f16",
        "a block reads the weights of the first one",
        "in_ddr(w, (uint64_t)at->n * w->row_stride",
        "in_ddr(w, (uint64_t)0 * w->row_stride",
    ),
    (
        "forward_f16",
        "a block packs the columns of the first one",
        "(uint64_t)at->k * 4);\n        pf_pack_rows",
        "(uint64_t)0 * 4);\n        pf_pack_rows",
    ),
    (
        "input_grad_f16",
        "rows are interleaved as if they were weights of the forward product",
        "pf_interleave_pairs(",
        "pf_scatter_words(",
    ),
    (
        "input_grad_q8",
        "every block of columns is written over the first",
        "(uint64_t)at->k * 4);\n        pf_unpack_cols",
        "(uint64_t)0 * 4);\n        pf_unpack_cols",
    ),
];

fn kernel(name: &str) -> Kernel {
    library::all().into_iter().find(|kernel| kernel.name == name).expect("a library kernel")
}

#[test]
fn bugs_in_emitted_c_are_found() {
    for (name, bug, right, wrong) in EDITS {
        let verified = check_kernel(&kernel(name)).expect("it is right");
        let mut c = emit_library(std::slice::from_ref(&verified));
        assert!(c.contains(right), "{name}: the emitted C has no `{right}`");
        c = c.replacen(right, wrong, 1);
        if wrong.starts_with("pf_scatter_words") {
            // Scattered words are released before they are read: the bug is the layout, not the wait.
            let end = "}\n\nstatic void input_grad_f16_interleave_pairs_wb(";
            assert!(c.contains(end));
            c = c.replacen(end, &format!("    pf_scatter_release(dev);\n{end}"), 1);
        }
        let wrong = found(bug, verified, &c);
        println!("{name}, {bug}: {wrong}");
        assert!(!matches!(wrong, Wrong::Plan(_)), "{bug}: {wrong}");
        assert!(!matches!(wrong, Wrong::Device(_)), "{bug} is not silent: {wrong}");
    }
}

/// The closure of something else than the schedule computes.
#[test]
fn a_reference_of_another_product_is_refused() {
    let mut wrong = library::forward_f16();
    wrong.reference = kernel_gen::ir::Reference::new(|case, i, j| {
        (0..case.extent(2)).map(|k| case.element(0, i, k) * case.element(1, j, k)).sum::<f64>() + 1.0
    });
    let folder = tempfile::tempdir().expect("a temporary folder");
    let result = CrossCheck::new(&wrong).expect("it compiles").cases(50).save_to(folder.path()).run();
    let Err(CrossCheckError::Wrong(failure)) = result else { panic!("passed") };
    // Shrunk: one output, one product.
    assert_eq!(failure.trial.extents, [1, 1, 1], "{failure}");
    let text = failure.to_string();
    for part in ["forward_f16", "the reference says", "case: V79, extents [1, 1, 1]", "again: verify::replay"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_schedule_altered_by_hand_is_refused_where_its_scale_is_missing() {
    // Without scale and unscale the kernel is legal and right for data FP16 holds: it must pass, so that kernels without a
    // row scale can be cross-checked too.
    let mut plain = library::forward_f16();
    let unscaled = alter(&mut plain.schedule);
    assert_eq!(unscaled, 2, "pack and unpack");
    plain.name = "forward_unscaled".into();
    match CrossCheck::new(&plain) {
        Ok(mut check) => {
            check = check.cases(60);
            check.run().expect("right without a scale");
        }
        Err(CrossCheckError::Rules(rules)) => {
            assert!(rules.iter().any(|rule| rule.rule.name() == "scale"), "{rules:?}");
        }
        Err(other) => panic!("{other}"),
    }
    assert!(plain.axes.iter().any(|axis| axis.role == AxisRole::Token));
}

fn alter(body: &mut [kernel_gen::ir::Statement]) -> usize {
    body.iter_mut()
        .map(|statement| match statement {
            kernel_gen::ir::Statement::Loop(l) => alter(&mut l.body),
            kernel_gen::ir::Statement::Step(step) => match &mut step.kind {
                StepKind::PackRows { scale, .. } => {
                    *scale = false;
                    1
                }
                StepKind::UnpackRows { unscale, .. } => {
                    *unscale = false;
                    1
                }
                _ => 0,
            },
        })
        .sum()
}
