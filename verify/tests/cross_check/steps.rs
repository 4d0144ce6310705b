//! Steps by themselves: bodies against their references, and each kind of wrong one.

use std::time::Duration;

use kernel_gen::ir::{HvxStep, StepReference};
use kernel_gen::kernel;
use verify::step_check::{StepCheckError, WrongStep, check_step};
use verify::{CrossCheck, CrossCheckError};

use super::authored::{forward_e5m2, input_grad_sign_magnitude};

kernel! {
    /// Rows to tiles, two rows interleaved, without their signs.
    step absolute_rows: f16_rows -> f16_tiles pairs(rows) {
        body r"
            pf_vec magnitude = pf_vsplat_word(0x7FFF7FFFu);
            for (uint32_t row = 0; row < 32; row += 2) {
                pf_vec even = pf_vload_half(dev, from + row * row_stride);
                pf_vec odd = pf_vload_half(dev, from + (row + 1u) * row_stride);
                pf_vstore(dev, to + row * 64u, pf_vand(pf_vshuff(odd, even, -2).lo, magnitude));
            }
        ";
        reference |tile, p, q| tile.patch(p, q).abs()
    }

    /// Every element times 0.75, rounded.
    step three_quarters: f16_tiles -> f16_tiles {
        body r"
            pf_vec factor = pf_vsplat_half(0x3A00u);
            for (uint32_t i = 0; i < 16; i++)
                pf_vstore(dev, to + i * PF_VECTOR_BYTES, pf_vmul_hf(pf_vload(dev, from + i * PF_VECTOR_BYTES), factor));
        ";
        reference |tile, p, q| tile.element(p, q) * 0.75
    }

    /// dX = dY · (0.75 |W|), W row-major FP16.
    kernel input_grad_three_quarters {
        axes { m: token, n: out, k: in }
        operand dy: activation f32 row_major[m, n] in ddr_stream;
        operand w: weight f16 row_major[n, k] in ddr_resident;
        operand dx: output f32 row_major[m, k] in ddr_stream;
        tunable mc in 32..=512;
        tunable nc in 32..=8192;
        tunable kc in 32..=256;
        window dya: activation_tiles f16[mc, nc];
        window wr: row_major f16[nc, kc] stages 2;
        window wt: weight_tiles f16[kc, nc];
        window wb: weight_tiles f16[kc, nc];
        window dxc: output_tiles f16[mc, kc];
        schedule {
            for mo in tiles(m, mc) {
                for no in tiles(n, nc) {
                    pack_rows dya <- dy[mo, no] scale(row);
                    for ko in tiles(k, kc) pipeline(wr) {
                        load wr <- w[no, ko];
                        apply absolute_rows wt <- wr split(n);
                        apply three_quarters wb <- wt;
                        multiply dxc <- dya * wb;
                        unpack_rows dx[mo, ko] += dxc unscale(row) guard(60000);
                    }
                }
            }
        }
        reference |c, i, j| {
            let weight = |n| half::f16::from_f64(c.w(n, j).abs() * 0.75).to_f64();
            (0..c.n()).map(|n| c.dy(i, n) * weight(n)).sum()
        }
    }
}

fn step(name: &str) -> HvxStep {
    let kernels = [forward_e5m2(), input_grad_sign_magnitude(), input_grad_three_quarters()];
    kernels.into_iter().flat_map(|kernel| kernel.steps).find(|step| step.name == name).expect("a step of that name")
}

fn check(step: &HvxStep) -> Result<usize, StepCheckError> {
    check_step(step, Duration::from_secs(2))
}

fn wrong(step: &HvxStep) -> WrongStep {
    match check(step) {
        Err(StepCheckError::Wrong(failure)) => {
            let text = failure.to_string();
            assert!(text.contains(&format!("step `{}`", step.name)) && text.contains(".rs:"), "{text}");
            failure.wrong
        }
        Err(other) => panic!("{other}"),
        Ok(tiles) => panic!("{} passes {tiles} tiles", step.name),
    }
}

fn altered(step: &HvxStep, from: &str, to: &str) -> HvxStep {
    assert!(step.body.contains(from), "{}", step.body);
    HvxStep { body: step.body.replace(from, to), ..step.clone() }
}

#[test]
fn sound_steps_pass() {
    for name in ["widen_e5m2", "scale_rows", "absolute_rows", "three_quarters"] {
        let tiles = check(&step(name)).unwrap();
        assert!(tiles > 60, "{name}: {tiles}");
    }
}

#[test]
fn a_kernel_whose_step_has_a_wrong_reference_does_not_pass() {
    for (name, reference) in [
        ("three_quarters", StepReference::new(|tile, p, q| tile.element(p, q) * 0.7505)),
        ("absolute_rows", StepReference::new(|tile, p, q| tile.patch(q, p).abs())),
    ] {
        let mut kernel = input_grad_three_quarters();
        let found = kernel.steps.iter_mut().find(|step| step.name == name).unwrap();
        found.reference = reference;
        match CrossCheck::new(&kernel).expect("it compiles").cases(1).run() {
            Err(CrossCheckError::Step(failure)) => assert_eq!(failure.step, name, "{failure}"),
            Err(other) => panic!("{name}: {other}"),
            Ok(_) => panic!("{name}: passes"),
        }
    }
}

#[test]
fn an_element_is_named_with_what_it_was_made_of() {
    let doubled = altered(&step("three_quarters"), "0x3A00u", "0x4000u");
    let text = wrong(&doubled).to_string();
    for part in [
        "element (1, 0) of the FP16 tile is 2 by the body and 0.75 by the reference",
        "tile.element(1, 0) is 1",
        "differ; the input tile: whole numbers from 0",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    let mut third = step("three_quarters");
    third.body = third.body.replace("0x3A00u", "0x3555u");
    third.reference = StepReference::new(|tile, p, q| tile.element(p, q) / 3.0);
    let text = wrong(&third).to_string();
    assert!(text.contains("neighbours in FP16") && text.contains("f16::from_f64"), "{text}");
}

#[test]
fn a_reference_that_panics_is_named() {
    let mut short = step("widen_e5m2");
    short.reference = StepReference::new(|tile, _, _| f64::from(tile.byte(5000)));
    let WrongStep::Reference(said) = wrong(&short) else { panic!("another fault") };
    assert!(said.contains("none of which is byte 5000") && said.contains("steps.rs:"), "{said}");
}

#[test]
fn wrong_bodies_are_stopped_with_the_rule() {
    let packed = step("widen_e5m2");
    let rows = step("absolute_rows");
    for (step, rule) in [
        (altered(&packed, "i < 8", "i < 7"), "the body leaves vector 14 of its 16 unwritten"),
        (altered(&packed, "i < 8", "i < 9"), "reads outside the tile it is given"),
        (altered(&packed, "dev, to + 2u * i", "dev, to + 2048u + 2u * i"), "writes outside the tile it makes"),
        (altered(&packed, "dev, to + 2u * i", "dev, to - 128u + 2u * i"), "writes outside the tile it makes"),
        (altered(&packed, "halves.hi);", "halves.hi); to[5000] += 1;"), "by plain C"),
        (altered(&packed, "halves.hi);", "halves.hi); ((uint8_t *)(uintptr_t)from)[3] += 1;"), "by plain C"),
        (altered(&packed, "from + i", "from + 64 + i"), "aligned to 128"),
        (altered(&packed, "for (", "for (;;) { } for ("), "does not end"),
        (altered(&packed, "for (", "*(volatile int *)8 = 1; for ("), "crashed (SIGSEGV)"),
        (altered(&rows, "row < 32", "row < 30"), "the body leaves vector 15 of its 16 unwritten"),
        (altered(&rows, "dev, from + row", "dev, from + 2 + row"), "aligned to 64"),
        // The next patch lies in the same vector.
        (altered(&rows, "dev, from + row", "dev, from + 64 + row"), "reads outside the tile it is given"),
    ] {
        match wrong(&step) {
            WrongStep::Stopped(said) => assert!(said.contains(rule), "{rule}: {said}"),
            other => panic!("{rule}: {other}"),
        }
    }
}

#[test]
fn bodies_that_exchange_elements_are_found() {
    for step in [
        altered(&step("widen_e5m2"), "pf_vzero(), -1", "pf_vzero(), -2"),
        altered(&step("absolute_rows"), "odd, even", "even, odd"),
        altered(&step("three_quarters"), "from + i * PF_VECTOR_BYTES", "from + (i ^ 1u) * PF_VECTOR_BYTES"),
    ] {
        assert!(matches!(wrong(&step), WrongStep::Element { .. }), "{}", step.name);
    }
}
