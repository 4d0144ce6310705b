//! Bodies of author's steps against their Rust references, on both functional models.

use std::{fs, path::Path, process::Command};

use kernel_gen::{
    device_dir, emit_step_c,
    ir::{HvxStep, StepInput, TILE_BYTES},
};

use crate::authored;

const TILES: usize = 64;

/// Every step of the kernels, once.
fn steps() -> Vec<HvxStep> {
    let mut steps: Vec<HvxStep> = authored::all().into_iter().flat_map(|kernel| kernel.steps).collect();
    steps.sort_by(|a, b| a.name.cmp(&b.name));
    steps.dedup_by(|a, b| a.name == b.name);
    steps
}

/// Any bytes at all, the same on every run.
fn tiles(step: &HvxStep) -> Vec<u8> {
    let mut state = 7_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..TILES * step.input.tile_bytes() as usize).map(|_| next()).collect()
}

/// The FP16 tiles the body makes, or what the model said.
fn run(step: &HvxStep, checked: bool, input: &[u8], name: &str) -> Result<Vec<u8>, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("step_{name}_{}_{checked}", step.name));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("body.c"), emit_step_c(step)).unwrap();
    fs::write(folder.join("input"), input).unwrap();
    let mut gcc = Command::new("gcc");
    gcc.args(["-std=c11", "-O1", "-ffp-contract=off", "-fno-math-errno", "-Wall", "-Wextra", "-Werror"]);
    gcc.arg(if checked { "-DPF_MODEL_CHECKED" } else { "-DPF_MODEL_FAST" });
    if matches!(step.input, StepInput::Rows(_)) {
        gcc.arg("-DROW_STRIDE=384");
    }
    gcc.arg(format!("-DSTEP={}_tile", step.name)).arg(format!("-DINPUT_BYTES={}", step.input.tile_bytes()));
    gcc.arg("-DPF_VARIANT=under_test").arg("-I").arg(device_dir()).arg("-I").arg(&folder);
    gcc.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/on_model/step.c")).arg("-lm");
    let output = gcc.arg("-o").arg(folder.join("step")).output().expect("gcc is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = Command::new(folder.join("step")).current_dir(&folder).output().unwrap();
    if output.status.success() { Ok(output.stdout) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

fn expected(step: &HvxStep, input: &[u8]) -> Vec<u8> {
    input.chunks(step.input.tile_bytes() as usize).flat_map(|tile| step.expected(tile)).collect()
}

/// Bit for bit, but any NaN stands for any other.
fn same(got: &[u8], want: &[u8]) -> bool {
    let nan = |half: &[u8]| u16::from_le_bytes([half[0], half[1]]) & 0x7FFF > 0x7C00;
    got.len() == want.len() && got.chunks(2).zip(want.chunks(2)).all(|(a, b)| a == b || nan(a) && nan(b))
}

#[test]
fn bodies_compute_their_references() {
    let steps = steps();
    assert_eq!(steps.len(), 3);
    for step in steps {
        let input = tiles(&step);
        let want = expected(&step, &input);
        for checked in [true, false] {
            let got = run(&step, checked, &input, "sound").unwrap();
            assert_eq!(got.len(), TILES * TILE_BYTES as usize);
            assert!(same(&got, &want), "{}, checked: {checked}", step.name);
        }
    }
}

#[test]
fn wrong_bodies_are_found() {
    let widen = steps().pop().unwrap();
    let input = tiles(&widen);
    let altered = |from: &str, to: &str| {
        assert!(widen.body.contains(from));
        HvxStep { body: widen.body.replace(from, to), ..widen.clone() }
    };
    let halfwords = altered("pf_vzero(), -1", "pf_vzero(), -2");
    assert!(!same(&run(&halfwords, true, &input, "halfwords").unwrap(), &expected(&widen, &input)));
    let short = run(&altered("i < 8", "i < 7"), true, &input, "short").unwrap_err();
    assert!(short.contains("never-written") && short.contains("widen_e5m2_tile"), "{short}");
    let long = run(&altered("i < 8", "i < 9"), true, &input, "long").unwrap_err();
    assert!(long.contains("reads outside the tile it is given"), "{long}");
    let beyond = run(&altered("dev, to + 2u * i", "dev, to + 2048u + 2u * i"), true, &input, "beyond").unwrap_err();
    assert!(beyond.contains("writes outside the tile it makes"), "{beyond}");
    let before = run(&altered("dev, to + 2u * i", "dev, to - 128u + 2u * i"), true, &input, "before").unwrap_err();
    assert!(before.contains("writes outside the tile it makes"), "{before}");
    let plain = run(&altered("halves.hi);", "halves.hi); to[5000] += 1;"), true, &input, "plain").unwrap_err();
    assert!(plain.contains("by plain C") && plain.contains("widen_e5m2_tile"), "{plain}");
    let into_input = altered("halves.hi);", "halves.hi); ((uint8_t *)(uintptr_t)from)[3] += 1;");
    let into_input = run(&into_input, true, &input, "into_input").unwrap_err();
    assert!(into_input.contains("by plain C"), "{into_input}");
    let unaligned = run(&altered("from + i", "from + 64 + i"), true, &input, "unaligned").unwrap_err();
    assert!(unaligned.contains("aligned to 128"), "{unaligned}");

    let rows = steps().into_iter().find(|s| s.name == "absolute_rows").unwrap();
    let input = tiles(&rows);
    let altered = |from: &str, to: &str| HvxStep { body: rows.body.replace(from, to), ..rows.clone() };
    let exchanged = run(&altered("odd, even", "even, odd"), true, &input, "exchanged").unwrap();
    assert!(!same(&exchanged, &expected(&rows, &input)));
    let short = run(&altered("row < 32", "row < 30"), true, &input, "short").unwrap_err();
    assert!(short.contains("never-written") && short.contains("absolute_rows_tile"), "{short}");
    let unaligned = run(&altered("dev, from + row", "dev, from + 2 + row"), true, &input, "unaligned").unwrap_err();
    assert!(unaligned.contains("aligned to 64"), "{unaligned}");
    // The next patch lies in the same vector.
    let beside = run(&altered("dev, from + row", "dev, from + 64 + row"), true, &input, "beside").unwrap_err();
    assert!(beside.contains("reads outside the tile it is given"), "{beside}");
}
