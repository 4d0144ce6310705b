//! The planner: what it picks at real shapes, what it refuses, and what it may not depend on.

use kernel_gen::{
    Arch, Kernel, Plan, PlanError, Verified,
    ir::{AxisId, Candidates},
    library,
    plan::{MAX_EXTENT, RESERVED_BYTES, solve},
    verify,
};

const VTCM: u32 = 8 << 20;
const SHAPES: [[u32; 3]; 6] =
    [[512, 2560, 2560], [3431, 2560, 9728], [3431, 9728, 2560], [1072, 576, 1536], [1072, 1536, 576], [1, 1, 1]];

fn verified() -> Vec<Verified> {
    library::all().iter().map(|kernel| verify(kernel).unwrap()).collect()
}

/// The tunable of the contraction: `kc` forward, `nc` in the input gradient.
fn contraction(plan: &Plan) -> u32 {
    let name = if plan.kernel.starts_with("forward") { "kc" } else { "nc" };
    plan.tunable(name).unwrap()
}

#[test]
fn plans_of_real_shapes() {
    let mut table = String::new();
    for kernel in verified() {
        for axes in SHAPES {
            let plan = solve(&kernel, Arch::V79, &axes, VTCM).unwrap();
            table.push_str(&format!("{plan}\n"));
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn windows_are_aligned_disjoint_and_inside_the_budget() {
    for kernel in verified() {
        for axes in SHAPES {
            for vtcm in [VTCM, 4 << 20, 2 << 20, 256 << 10] {
                let plan = solve(&kernel, Arch::V81, &axes, vtcm).unwrap();
                let mut end = 0;
                for window in &plan.windows {
                    assert_eq!(window.offset, end, "{plan}");
                    assert_eq!(window.offset % 2048, 0, "{plan}");
                    assert_eq!(window.stage_bytes % 2048, 0, "{plan}");
                    end += window.stage_bytes * window.stages;
                }
                assert_eq!(plan.vtcm_bytes, end);
                assert!(plan.vtcm_bytes <= vtcm - RESERVED_BYTES, "{plan}");
            }
        }
    }
}

#[test]
fn the_contraction_tile_does_not_depend_on_the_token_bucket() {
    for kernel in verified() {
        for [_, n, k] in SHAPES {
            for vtcm in [VTCM, 1 << 20] {
                let tile = |m| contraction(&solve(&kernel, Arch::V79, &[m, n, k], vtcm).unwrap());
                let tiles: Vec<_> = [1, 31, 64, 128, 500, 512, 1000, 1072, 3431, MAX_EXTENT].map(tile).into();
                assert!(tiles.iter().all(|&t| t == tiles[0]), "{tiles:?}");
            }
        }
    }
}

#[test]
fn a_short_contraction_stays_in_one_block() {
    for kernel in verified() {
        for axes in [[512, 2560, 2560], [1072, 576, 1536], [1072, 1536, 576]] {
            let plan = solve(&kernel, Arch::V79, &axes, VTCM).unwrap();
            let extent = if plan.kernel.starts_with("forward") { axes[2] } else { axes[1] };
            assert!(contraction(&plan) >= extent, "{plan}");
        }
    }
}

#[test]
fn solving_is_repeatable_and_the_hash_tells_plans_apart() {
    let kernels = verified();
    let mut hashes = std::collections::HashSet::new();
    for kernel in &kernels {
        for axes in SHAPES {
            for arch in [Arch::V79, Arch::V81] {
                let plan = solve(kernel, arch, &axes, VTCM).unwrap();
                assert_eq!(plan, solve(kernel, arch, &axes, VTCM).unwrap());
                assert!(hashes.insert(plan.hash()), "{plan}");
            }
        }
    }
}

#[test]
fn the_record_is_the_wire_layout() {
    let kernel = &verified()[2];
    let plan = solve(kernel, Arch::V79, &[512, 2560, 2560], VTCM).unwrap();
    let bytes = plan.record().to_bytes();
    assert_eq!(bytes.len(), 208);
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!([word(0), word(4), word(8)], [kernel_gen::plan::ABI_VERSION, 208, 79]);
    assert_eq!(word(12), kernel.kernel().id());
    assert_eq!([word(16), word(20), word(24), word(28)], [512, 2560, 2560, 0]);
    assert_eq!(word(32), plan.tunable("mc").unwrap());
    assert_eq!(word(64 + 16), plan.windows[1].offset);
    assert_eq!(word(192), 4);
    assert_eq!(word(196), plan.vtcm_bytes);
    assert_eq!(bytes[200..], kernel_gen::fnv1a_64(&bytes[..200]).to_le_bytes());
}

#[test]
fn hostile_extents_are_errors() {
    for kernel in verified() {
        for axes in [
            [u32::MAX, 64, 64],
            [64, u32::MAX, 64],
            [64, 64, u32::MAX],
            [u32::MAX; 3],
            [0, 64, 64],
            [64, 0, 64],
            [64, 64, MAX_EXTENT + 1],
        ] {
            let error = solve(&kernel, Arch::V79, &axes, VTCM).unwrap_err();
            assert!(matches!(error, PlanError::Extent { .. }), "{error}");
        }
        assert!(matches!(solve(&kernel, Arch::V79, &[64, 64], VTCM), Err(PlanError::AxisCount { .. })));
        for vtcm in [0, 1, RESERVED_BYTES, RESERVED_BYTES + 4096] {
            let error = solve(&kernel, Arch::V79, &[64, 64, 64], vtcm).unwrap_err();
            assert!(matches!(error, PlanError::Capacity { .. }), "{error}");
        }
        for tiles in [[u32::MAX; 3], [0, 32, 32], [33, 32, 32], [32, 32, 1 << 31]] {
            let error = Plan::with_tunables(&kernel, Arch::V79, &[64, 64, 64], VTCM, &tiles).unwrap_err();
            assert!(matches!(error, PlanError::Tunable { .. }), "{error}");
        }
    }
}

/// A kernel whose tunables are ranges up to 2^32: nothing but the arithmetic of the planner stops a tile.
fn unbounded(mut kernel: Kernel) -> Verified {
    for tunable in &mut kernel.tunables {
        tunable.candidates = Candidates::Range { min: 32, max: u32::MAX };
    }
    verify(&kernel).unwrap()
}

#[test]
fn tile_arithmetic_does_not_overflow() {
    for kernel in library::all().into_iter().map(unbounded) {
        let huge = u32::MAX - u32::MAX % 32;
        for tiles in [[huge; 3], [32, huge, huge], [huge, 32, 32], [1 << 16, 1 << 16, 1 << 16]] {
            let error = Plan::with_tunables(&kernel, Arch::V79, &[64, 64, 64], VTCM, &tiles).unwrap_err();
            assert!(matches!(error, PlanError::Capacity { .. } | PlanError::Dma { .. }), "{error}");
        }
        let plan = solve(&kernel, Arch::V79, &[3431, 2560, 9728], VTCM).unwrap();
        assert!(plan.vtcm_bytes <= VTCM - RESERVED_BYTES);
    }
}

#[test]
fn messages_say_what_to_do() {
    let kernels = verified();
    let capacity =
        Plan::with_tunables(&kernels[2], Arch::V79, &[512, 2560, 9728], VTCM, &[512, 256, 9728]).unwrap_err();
    let smallest = solve(&kernels[0], Arch::V79, &[64, 64, 64], 8192).unwrap_err();
    let tunable = Plan::with_tunables(&kernels[0], Arch::V79, &[64, 64, 64], VTCM, &[48, 32, 32]).unwrap_err();
    let extent = solve(&kernels[0], Arch::V79, &[64, u32::MAX, 64], VTCM).unwrap_err();
    // A row of W of 2^24 FP16 elements: its stride does not fit the 24 bits of a wide descriptor.
    let dma = solve(&kernels[0], Arch::V79, &[64, 64, MAX_EXTENT], VTCM).unwrap_err();
    // A block of 2^16 rows of W: more than the 16 bits of a descriptor's row count.
    let mut tall = library::forward_f16();
    tall.tunables[1].candidates = Candidates::Range { min: 32, max: 1 << 16 };
    let tall = verify(&tall).unwrap();
    let rows = Plan::with_tunables(&tall, Arch::V79, &[64, 1 << 16, 64], u32::MAX, &[32, 1 << 16, 32]).unwrap_err();
    let blocks = verify(&library::forward_q8_blocks()).unwrap();
    let blocks = solve(&blocks, Arch::V79, &[64, 64, 100], VTCM).unwrap_err();
    let count = Plan::with_tunables(&kernels[0], Arch::V79, &[64, 64], VTCM, &[32, 32, 32]).unwrap_err();
    let messages = [capacity, smallest, tunable, extent, dma, rows, blocks, count].map(|e| e.to_string());
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn list_candidates_are_respected() {
    let mut kernel = library::forward_q8();
    kernel.tunables[2].candidates = Candidates::List(vec![64, 512, 1024]);
    let kernel = verify(&kernel).unwrap();
    let plan = solve(&kernel, Arch::V79, &[100, 100, 700], VTCM).unwrap();
    assert_eq!(plan.tunable("kc"), Some(1024));
    let plan = solve(&kernel, Arch::V79, &[100, 100, 2000], VTCM).unwrap();
    assert_eq!(plan.tunable("kc"), Some(1024));
    assert_eq!(kernel.kernel().axes[AxisId(2).0].name, "k");
}
