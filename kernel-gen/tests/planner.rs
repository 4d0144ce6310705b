//! The planner: what it picks at real shapes, what it refuses, and what it may not depend on.

use kernel_gen::{
    Arch, Kernel, Plan, PlanError, Verified,
    ir::{AxisId, Candidates, Condition, Quantity, Requirement, Tunable, TunableId},
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

kernel_gen::kernel! {
    /// Requirements of every kind, one of them on V81 alone.
    kernel required {
        axes { m: token, n: out, k: in }
        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight q8_0_tiles[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;
        tunable mc in 32..=2048;
        tunable nc in 32..=512;
        tunable kc in 32..=16384;
        require mc >= 64 && nc.is_power_of_two() && kc.is_power_of_two();
        require mc * kc <= vtcm_bytes / 16;
        when v81 {
            require nc == 2 * mc || n < 64;
        }
        window xa: activation_tiles f16[mc, kc];
        window wq: q8_0_tiles[nc, kc] stages 2;
        window wb: weight_tiles f16[nc, kc];
        window yc: output_tiles f16[mc, nc];
        schedule {
            for mo in tiles(m, mc) {
                for ko in tiles(k, kc) {
                    pack_rows xa <- x[mo, ko] scale(row);
                    for no in tiles(n, nc) pipeline(wq) {
                        load wq <- w[no, ko];
                        dequantise wb <- wq;
                        multiply yc <- xa * wb;
                        unpack_rows y[mo, no] += yc unscale(row) guard(60000);
                    }
                }
            }
        }
        reference |c, i, j| (0..c.k()).map(|k| c.x(i, k) * c.w(j, k)).sum()
    }
}

/// Whether a plan of [`required`] does what it requires.
fn satisfied(plan: &Plan, vtcm: u32) -> bool {
    let value = |name| u64::from(plan.tunable(name).unwrap());
    let (mc, nc, kc) = (value("mc"), value("nc"), value("kc"));
    let everywhere = mc >= 64 && nc.is_power_of_two() && kc.is_power_of_two() && mc * kc <= u64::from(vtcm) / 16;
    everywhere && (plan.arch == Arch::V79 || nc == 2 * mc || plan.axes[1].extent < 64)
}

#[test]
fn plans_satisfy_requirements_on_their_architecture() {
    let kernel = verify(&required()).unwrap();
    for arch in Arch::ALL {
        for axes in SHAPES {
            for vtcm in [VTCM, 1 << 20] {
                let plan = solve(&kernel, arch, &axes, vtcm).unwrap();
                assert!(satisfied(&plan, vtcm), "{plan}");
                let tiles: Vec<_> = plan.tunables.iter().map(|t| t.value).collect();
                assert_eq!(Plan::with_tunables(&kernel, arch, &axes, vtcm, &tiles).unwrap(), plan);
            }
        }
    }
}

#[test]
fn requirements_leave_the_contraction_tile_independent_of_the_bucket() {
    let kernel = verify(&required()).unwrap();
    for arch in Arch::ALL {
        for [_, n, k] in SHAPES {
            let tile = |m| solve(&kernel, arch, &[m, n, k], VTCM).unwrap().tunable("kc").unwrap();
            let tiles: Vec<_> = [1, 31, 64, 500, 1072, 3431, MAX_EXTENT].map(tile).into();
            assert!(tiles.iter().all(|&t| t == tiles[0]), "{tiles:?}");
        }
    }
}

/// Every pair of small tiles is accepted or refused as the requirement says.
#[test]
fn given_tiles_are_held_to_requirements() {
    let kernel = verify(&required()).unwrap();
    let axes = [128, 128, 256];
    for arch in Arch::ALL {
        for (mc, nc, kc) in [(32, 64, 64), (64, 64, 64), (64, 128, 64), (64, 128, 96), (96, 192, 64), (128, 256, 8192)]
        {
            let result = Plan::with_tunables(&kernel, arch, &axes, VTCM, &[mc, nc, kc]);
            let product: u64 = u64::from(mc) * u64::from(kc);
            let legal = mc >= 64 && nc.is_power_of_two() && kc.is_power_of_two() && product <= u64::from(VTCM) / 16;
            if legal && (arch == Arch::V79 || nc == 2 * mc) {
                assert!(result.is_ok(), "{arch} {mc} {nc} {kc}: {result:?}");
            } else {
                assert!(matches!(result, Err(PlanError::Requirement { .. })), "{arch} {mc} {nc} {kc}: {result:?}");
            }
        }
    }
}

#[test]
fn messages_of_requirements() {
    let mut kernel = required();
    let sound = verify(&kernel).unwrap();
    let refused = [(Arch::V79, [32, 32, 32]), (Arch::V81, [64, 512, 64]), (Arch::V79, [2048, 64, 512])]
        .map(|(arch, tiles)| Plan::with_tunables(&sound, arch, &[64, 64, 64], VTCM, &tiles).unwrap_err().to_string());
    kernel.variants.clear();
    kernel.tunables[0].candidates = Candidates::List(vec![2048]);
    let none = solve(&verify(&kernel).unwrap(), Arch::V79, &[64, 64, 64], 512 << 10).unwrap_err().to_string();
    let text = format!("{}\n{none}", refused.join("\n"));
    insta::assert_snapshot!(text);
}

type Judged = fn(&[u64]) -> Option<bool>;

/// Small candidate sets and arbitrary requirements: the planner finds a plan exactly when there is one.
#[test]
fn the_search_misses_no_plan() {
    let mut state = 3_u64;
    let mut below = |bound: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    let conditions: [Judged; 6] = [
        |v| Some(v[0] == 2 * v[1]),
        |v| Some(v[0].checked_sub(v[1])? >= 96),
        |v| Some(v[0] * v[1] >= 32768),
        |v| Some(v[0].is_power_of_two() && !v[1].is_power_of_two()),
        |v| Some(v[0] * 3 > v[1] * 5),
        |v| Some(v[0] % 96 == 0),
    ];
    let (mut found, mut none, mut refused) = (0, 0, 0);
    for _ in 0..1200 {
        let mut kernel = library::forward_q8();
        for tunable in &mut kernel.tunables {
            let list = (0..1 + below(4)).map(|_| 32 * (1 + below(12)) as u32).collect();
            tunable.candidates = Candidates::List(list);
        }
        for _ in 0..1 + below(3) {
            let [a, b] = [0; 2].map(|_: u32| Quantity::Tunable(TunableId(below(3) as usize)));
            let holds = Condition::new(conditions[below(6) as usize]);
            kernel.requirements.push(Requirement {
                text: "…".into(),
                uses: vec![a, b],
                holds,
                sides: None,
                source: kernel.source,
            });
        }
        let list = |t: &Tunable| match &t.candidates {
            Candidates::List(list) => list.clone(),
            Candidates::Range { .. } => Vec::new(),
        };
        let lists: Vec<Vec<u32>> = kernel.tunables.iter().map(list).collect();
        let choices = lists[0].iter().flat_map(|&a| lists[1].iter().map(move |&b| (a, b)));
        let choices: Vec<_> = choices.flat_map(|(a, b)| lists[2].iter().map(move |&c| [a, b, c])).collect();
        let value = |tiles: &[u32; 3], quantity: &Quantity| match quantity {
            Quantity::Tunable(tunable) => u64::from(tiles[tunable.0]),
            _ => unreachable!(),
        };
        let satisfied = |tiles: &[u32; 3]| {
            let values = |r: &Requirement| r.uses.iter().map(|q| value(tiles, q)).collect::<Vec<_>>();
            kernel.requirements.iter().all(|r| r.holds.of(&values(r)))
        };
        let kernel = match verify(&kernel) {
            Ok(kernel) => kernel,
            Err(found) => {
                assert!(!choices.iter().any(satisfied), "{found:?}");
                refused += 1;
                continue;
            }
        };
        assert!(choices.iter().any(satisfied), "no choice satisfies the requirements, and verify did not say so");
        let axes = [1 + below(400) as u32, 1 + below(400) as u32, 1 + below(400) as u32];
        let vtcm = [96 << 10, 192 << 10, 1 << 20][below(3) as usize];
        let exists = choices.iter().any(|tiles| Plan::with_tunables(&kernel, Arch::V79, &axes, vtcm, tiles).is_ok());
        let plan = solve(&kernel, Arch::V79, &axes, vtcm);
        assert_eq!(plan.is_ok(), exists, "{axes:?}, {vtcm}: {lists:?}: {plan:?}");
        if exists {
            found += 1;
        } else {
            none += 1;
        }
    }
    println!("{found} with a plan, {none} without, {refused} refused before");
    assert!(found > 50 && none > 50 && refused > 50, "{found} with a plan, {none} without, {refused} refused before");
}
