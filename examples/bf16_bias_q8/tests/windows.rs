//! The windows a plan gets: stages of each architecture, and half of VTCM.

use bf16_bias_q8::bf16_bias_q8;
use kernel_gen::{
    Arch,
    plan::{self, Plan},
    verify,
};

#[test]
fn windows_take_at_most_half_of_vtcm() {
    let kernel = verify(&bf16_bias_q8()).expect("rules hold");
    for (arch, stages) in [(Arch::V79, 2), (Arch::V81, 3)] {
        for (shape, vtcm) in [([512, 2560, 2560], 8 << 20), ([2048, 100, 9728], 4 << 20), ([1, 32, 33], 1 << 18)] {
            let plan = plan::solve(&kernel, arch, &shape, vtcm).expect("it fits");
            let weights = plan.windows.iter().find(|w| w.name == "wq").expect("the weight window");
            assert_eq!(weights.stages, stages, "{plan}");
            assert_eq!(plan.tunable("nc"), Some(64), "{plan}");
            let bytes: u32 = plan.windows.iter().map(|w| w.stage_bytes * w.stages).sum();
            assert!(bytes <= vtcm / 2, "{bytes} B of windows in {vtcm} B of VTCM: {plan}");
        }
    }
}

#[test]
fn windows_beyond_half_of_vtcm_are_refused() {
    let kernel = verify(&bf16_bias_q8()).expect("rules hold");
    for arch in [Arch::V79, Arch::V81] {
        // 5.2 MB of token rows alone: they fit VTCM, but not its half.
        let refused = Plan::with_tunables(&kernel, arch, &[1024, 2560, 2560], 8 << 20, &[1024, 64, 2560]);
        let message = refused.expect_err("more than half").to_string();
        assert!(message.contains("require") && message.contains("take mc="), "{message}");
    }
}
