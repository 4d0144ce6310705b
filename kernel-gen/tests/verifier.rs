//! What the verifier says about kernels built or altered by hand, which the macro never saw.

use kernel_gen::{
    Arch, Kernel, Rule,
    ir::{
        AxisId, AxisRole, BlockFormat, Candidates, Condition, Element, HvxStep, HvxStepId, Loop, Operand, OperandId,
        OperandLayout, OperandRole, Pairs, Quantity, Requirement, Scope, Sides, Source, Statement, Step, StepInput,
        StepKind, StepReference, TileFormat, TunableId, Variant, WindowId, WindowLayout,
    },
    library, verify,
};

/// Every step of a schedule, in order.
fn steps(body: &mut [Statement]) -> Vec<&mut Step> {
    let mut all = Vec::new();
    for statement in body {
        match statement {
            Statement::Step(step) => all.push(step),
            Statement::Loop(l) => all.extend(steps(&mut l.body)),
        }
    }
    all
}

/// The loop over `axis`.
fn loop_over(body: &mut [Statement], axis: usize) -> &mut Loop {
    fn find(body: &mut [Statement], axis: AxisId) -> Option<&mut Loop> {
        body.iter_mut().find_map(|statement| match statement {
            Statement::Loop(l) => {
                if l.axis == axis {
                    Some(l)
                } else {
                    find(&mut l.body, axis)
                }
            }
            Statement::Step(_) => None,
        })
    }
    find(body, AxisId(axis)).unwrap()
}

fn nth(kernel: &mut Kernel, index: usize) -> &mut StepKind {
    &mut steps(&mut kernel.schedule).remove(index).kind
}

/// Makes the weight tiles by a step of the author's.
fn apply(kernel: &mut Kernel, body: &str, format: TileFormat) {
    kernel.steps.push(HvxStep {
        name: "own".into(),
        doc: Vec::new(),
        input: StepInput::Packed(format, Pairs::Cols),
        body: body.into(),
        body_source: Source::default(),
        reference: StepReference::new(|_, _, _| 0.0),
        source: kernel.source,
    });
    *nth(kernel, 2) = StepKind::Apply { step: HvxStepId(0), to: WindowId(2), from: WindowId(1) };
}

/// The kernel itself, altered, in its place on V81.
fn on_v81(kernel: &mut Kernel, alter: fn(&mut Kernel)) {
    let mut other = Kernel { variants: Vec::new(), ..kernel.clone() };
    alter(&mut other);
    kernel.variants.push(Variant { arch: Arch::V81, kernel: other });
}

/// A requirement that is no comparison.
fn require(kernel: &mut Kernel, text: &str, uses: Vec<Quantity>, holds: fn(&[u64]) -> Option<bool>) {
    let (text, source) = (text.into(), kernel.source);
    kernel.requirements.push(Requirement { text, uses, holds: Condition::new(holds), sides: None, source });
}

/// A comparison of `sides`.
fn compare(
    kernel: &mut Kernel,
    text: &str,
    uses: Vec<Quantity>,
    holds: fn(&[u64]) -> Option<bool>,
    sides: fn(&[u64]) -> [Option<u64>; 2],
) {
    require(kernel, text, uses, holds);
    kernel.requirements.last_mut().unwrap().sides = Some(Sides::new(sides));
}

/// A name for the snapshot, the rule that must be among those reported, and the alteration of `forward_q8`.
type Alteration = (&'static str, Rule, fn(&mut Kernel));

// forward_q8: axes m n k; operands x w y; tunables mc nc kc; windows xa wq wb yc;
// steps pack_rows, load, dequantise, multiply, unpack_rows.
const ALTERATIONS: &[Alteration] = &[
    ("split along no axis", Rule::Limit, |k| steps(&mut k.schedule)[2].split = Some(AxisId(9))),
    ("split load", Rule::Split, |k| steps(&mut k.schedule)[1].split = Some(AxisId(1))),
    ("split multiply", Rule::Split, |k| steps(&mut k.schedule)[3].split = Some(AxisId(0))),
    ("split of a row", Rule::Split, |k| steps(&mut k.schedule)[0].split = Some(AxisId(2))),
    ("split of a strip", Rule::Split, |k| steps(&mut k.schedule)[2].split = Some(AxisId(2))),
    ("split along another axis", Rule::Split, |k| steps(&mut k.schedule)[2].split = Some(AxisId(0))),
    ("split of a flag", Rule::Split, |k| steps(&mut k.schedule)[4].split = Some(AxisId(1))),
    ("split of a sum", Rule::Split, |k| steps(&mut k.schedule)[4].split = Some(AxisId(2))),
    ("window index", Rule::Limit, |k| *nth(k, 2) = StepKind::Dequantise { to: WindowId(9), from: WindowId(1) }),
    ("axis index", Rule::Limit, |k| k.operands[0].axes[1] = AxisId(7)),
    ("nine windows", Rule::Limit, |k| k.windows = vec![k.windows[0].clone(); 9]),
    ("no stage", Rule::Limit, |k| k.windows[1].stages = 0),
    ("C keyword", Rule::Name, |k| k.windows[0].name = "static".into()),
    ("C type", Rule::Name, |k| k.axes[2].name = "int32_t".into()),
    ("macro of a compiler", Rule::Name, |k| k.tunables[0].name = "linux".into()),
    ("not an identifier", Rule::Name, |k| k.operands[0].name = "x\" y".into()),
    ("local of the emitted C", Rule::Name, |k| k.operands[1].name = "from".into()),
    ("one name twice", Rule::Name, |k| k.windows[2].name = "mc".into()),
    ("two token axes", Rule::Axes, |k| k.axes[1].role = AxisRole::Token),
    ("token axis second", Rule::Axes, |k| {
        k.axes[0].role = AxisRole::Out;
        k.axes[1].role = AxisRole::Token;
    }),
    ("granule", Rule::Tile, |k| k.tunables[0].multiple_of = 8),
    ("illegal candidate", Rule::Tile, |k| k.tunables[0].candidates = Candidates::List(vec![64, 80])),
    ("no candidate", Rule::Tile, |k| k.tunables[0].candidates = Candidates::Range { min: 33, max: 63 }),
    ("unused tunable", Rule::Tile, |k| {
        let mut spare = k.tunables[0].clone();
        spare.name = "spare".into();
        k.tunables.push(spare);
    }),
    ("axis without a loop", Rule::Loops, |k| {
        let body = std::mem::take(&mut loop_over(&mut k.schedule, 1).body);
        loop_over(&mut k.schedule, 2).body.splice(1.., body);
    }),
    ("axis walked twice", Rule::Loops, |k| loop_over(&mut k.schedule, 1).axis = AxisId(2)),
    ("empty loop", Rule::Loops, |k| {
        let mut empty = loop_over(&mut k.schedule, 1).clone();
        empty.body.clear();
        empty.pipeline.clear();
        loop_over(&mut k.schedule, 2).body.push(Statement::Loop(empty));
    }),
    ("step outside its loop", Rule::Loops, |k| {
        let pack = loop_over(&mut k.schedule, 2).body.remove(0);
        loop_over(&mut k.schedule, 0).body.insert(0, pack);
    }),
    ("never read", Rule::Dataflow, |k| {
        let mut spare = k.windows[2].clone();
        spare.name = "spare".into();
        k.windows.push(spare);
        *nth(k, 2) = StepKind::Dequantise { to: WindowId(4), from: WindowId(1) };
    }),
    ("read before written", Rule::Dataflow, |k| loop_over(&mut k.schedule, 1).body.swap(1, 2)),
    ("filled twice", Rule::Dataflow, |k| {
        let body = &mut loop_over(&mut k.schedule, 1).body;
        let again = body[1].clone();
        body.insert(2, again);
    }),
    ("stale block", Rule::Dataflow, |k| {
        let (mut second, moved) = {
            let inner = loop_over(&mut k.schedule, 1);
            let moved = inner.body.split_off(2);
            (inner.clone(), moved)
        };
        second.pipeline.clear();
        second.body = moved;
        loop_over(&mut k.schedule, 2).body.push(Statement::Loop(second));
    }),
    ("one stage", Rule::Pipeline, |k| k.windows[1].stages = 1),
    ("idle stages", Rule::Pipeline, |k| loop_over(&mut k.schedule, 1).pipeline.clear()),
    ("pipelined twice", Rule::Pipeline, |k| loop_over(&mut k.schedule, 1).pipeline.push(WindowId(1))),
    ("load elsewhere", Rule::Pipeline, |k| loop_over(&mut k.schedule, 1).pipeline = vec![WindowId(0)]),
    ("weight streamed", Rule::Role, |k| k.operands[1].scope = Scope::DdrStream),
    ("weight written", Rule::Role, |k| k.operands[2].role = OperandRole::Weight),
    ("roles exchanged", Rule::Role, |k| {
        *nth(k, 3) = StepKind::Multiply { to: WindowId(3), data: WindowId(2), weights: WindowId(0), swap: false };
    }),
    ("swap without swapped windows", Rule::Role, |k| {
        *nth(k, 3) = StepKind::Multiply { to: WindowId(3), data: WindowId(0), weights: WindowId(2), swap: true };
    }),
    ("quantised multiply", Rule::Role, |k| {
        *nth(k, 3) = StepKind::Multiply { to: WindowId(3), data: WindowId(0), weights: WindowId(1), swap: false };
    }),
    ("f32 window", Rule::Layout, |k| k.windows[0].element = Element::F32),
    ("scatter of Q8_0", Rule::Layout, |k| *nth(k, 2) = StepKind::ScatterWords { to: WindowId(2), from: WindowId(1) }),
    ("pair axis", Rule::Layout, |k| {
        let StepKind::PackRows { window, operand, block, scale } = *nth(k, 0) else {
            return;
        };
        *nth(k, 0) = StepKind::PackCols { window, operand, block, scale };
    }),
    ("window extents exchanged", Rule::Layout, |k| k.windows[1].extents.swap(0, 1)),
    ("output extents exchanged", Rule::Layout, |k| k.windows[3].extents.swap(0, 1)),
    ("block order", Rule::Layout, |k| {
        *nth(k, 1) = StepKind::Load { window: WindowId(1), operand: OperandId(1), block: [AxisId(2), AxisId(1)] };
    }),
    ("scale without inverse", Rule::Scale, |k| {
        let StepKind::UnpackRows { unscale, .. } = nth(k, 4) else {
            return;
        };
        *unscale = false;
    }),
    ("inverse without scale", Rule::Scale, |k| {
        let StepKind::PackRows { scale, .. } = nth(k, 0) else {
            return;
        };
        *scale = false;
    }),
    ("no guard", Rule::Guard, |k| {
        let StepKind::UnpackRows { guard, .. } = nth(k, 4) else {
            return;
        };
        *guard = None;
    }),
    ("other guard", Rule::Guard, |k| {
        let StepKind::UnpackRows { guard, .. } = nth(k, 4) else {
            return;
        };
        *guard = Some(65_504);
    }),
    ("output written twice", Rule::Coverage, |k| {
        let body = &mut loop_over(&mut k.schedule, 1).body;
        let again = body[3].clone();
        body.push(again);
    }),
    ("two outputs", Rule::Coverage, |k| {
        let mut second = k.operands[2].clone();
        second.name = "y2".into();
        k.operands.push(second);
    }),
    ("output never written", Rule::Coverage, |k| drop(loop_over(&mut k.schedule, 1).body.pop())),
    ("matrix as a vector", Rule::Role, |k| k.operands[1].role = OperandRole::Column),
    ("column factor is a matrix", Rule::Layout, |k| {
        let StepKind::UnpackRows { columns, .. } = nth(k, 4) else {
            return;
        };
        columns.scale = Some(OperandId(0));
    }),
    ("column factor index", Rule::Limit, |k| {
        let StepKind::UnpackRows { columns, .. } = nth(k, 4) else {
            return;
        };
        columns.bias = Some(OperandId(8));
    }),
    ("tiles that overlap", Rule::Layout, |k| {
        k.windows[1].layout = WindowLayout::Tiles(TileFormat { stride: 1024, ..TileFormat::Q8_0 });
    }),
    ("unknown blocks", Rule::Layout, |k| {
        let format = BlockFormat { name: "q6_k_blocks", bytes: 210, ..BlockFormat::Q8_0 };
        (k.operands[1].layout, k.windows[1].layout) = (OperandLayout::Blocks(format), WindowLayout::Blocks(format));
    }),
    ("blocks loaded as tiles", Rule::Layout, |k| k.operands[1].layout = OperandLayout::Blocks(BlockFormat::Q8_0)),
    ("blocks scattered as rows", Rule::Layout, |k| {
        k.operands[1].layout = OperandLayout::Blocks(BlockFormat::Q8_0);
        k.windows[1].layout = WindowLayout::Blocks(BlockFormat::Q8_0);
        *nth(k, 2) = StepKind::ScatterWords { to: WindowId(2), from: WindowId(1) };
    }),
    ("blocks of halves", Rule::Layout, |k| {
        k.operands[1].layout = OperandLayout::Blocks(BlockFormat::Q8_0);
        k.operands[1].element = Element::F16;
        k.windows[1].layout = WindowLayout::Blocks(BlockFormat::Q8_0);
    }),
    ("tiles without a strip call", Rule::Layout, |k| {
        let format = TileFormat::new("q5_0_tiles", 704, None);
        k.operands[1].layout = OperandLayout::Tiles(format);
        k.windows[1].layout = WindowLayout::Tiles(format);
    }),
    ("body that ends its function", Rule::Body, |k| apply(k, "pf_vstore(dev, to, pf_vzero()); }", TileFormat::Q8_0)),
    ("body that stays open", Rule::Body, |k| apply(k, "pf_vstore(dev, to, pf_vzero();", TileFormat::Q8_0)),
    ("body with state", Rule::Body, |k| apply(k, "static int n; n++; to[n] = 1;", TileFormat::Q8_0)),
    ("empty body", Rule::Body, |k| apply(k, " ", TileFormat::Q8_0)),
    ("step for other tiles", Rule::Layout, |k| apply(k, "pf_vstore(dev, to, pf_vzero());", TileFormat::Q4_0)),
    ("step index", Rule::Limit, |k| {
        *nth(k, 2) = StepKind::Apply { step: HvxStepId(0), to: WindowId(2), from: WindowId(1) };
    }),
    ("step that nothing applies", Rule::Dataflow, |k| {
        apply(k, "pf_vstore(dev, to, pf_vzero());", TileFormat::Q8_0);
        *nth(k, 2) = StepKind::Dequantise { to: WindowId(2), from: WindowId(1) };
    }),
    ("contractions differ", Rule::Tile, |k| k.windows[2].extents[1] = TunableId(0)),
    ("weight in BF16", Rule::Layout, |k| {
        k.operands[1].layout = OperandLayout::RowMajor;
        k.operands[1].element = Element::Bf16;
    }),
    ("output in BF16", Rule::Role, |k| k.operands[2].element = Element::Bf16),
    ("window in BF16", Rule::Layout, |k| k.windows[0].element = Element::Bf16),
    ("step for rows", Rule::Layout, |k| {
        apply(k, "pf_vstore(dev, to, pf_vzero());", TileFormat::Q8_0);
        k.steps[0].input = StepInput::Rows(Pairs::Cols);
    }),
    ("variant of another shape", Rule::Arch, |k| on_v81(k, |other| other.axes[1].name = "j".into())),
    ("variants of a variant", Rule::Arch, |k| {
        on_v81(k, |v| v.variants.push(Variant { arch: Arch::V79, kernel: library::forward_q8() }));
    }),
    ("two variants for one architecture", Rule::Arch, |k| {
        on_v81(k, |_| {});
        on_v81(k, |_| {});
    }),
    ("a variant for every architecture", Rule::Arch, |k| {
        on_v81(k, |_| {});
        k.variants.push(Variant { arch: Arch::V79, kernel: library::forward_q8() });
    }),
    ("broken on V81", Rule::Guard, |k| {
        on_v81(k, |other| {
            let StepKind::UnpackRows { guard, .. } = nth(other, 4) else {
                return;
            };
            *guard = None;
        });
    }),
    ("broken on V79 and everywhere", Rule::Dataflow, |k| {
        loop_over(&mut k.schedule, 1).body.swap(1, 2);
        on_v81(k, |_| {});
        k.windows[0].element = Element::F32;
    }),
    ("name of emitted C", Rule::Name, |k| k.name = "forward_on_v79".into()),
    ("requirement index", Rule::Limit, |k| require(k, "t7", vec![Quantity::Tunable(TunableId(7))], |_| Some(true))),
    ("no candidate is left", Rule::Tile, |k| {
        let uses = vec![Quantity::Tunable(TunableId(1)), Quantity::VtcmBytes];
        compare(k, "nc > vtcm_bytes", uses, |v| Some(v[0] > v[1]), |v| [Some(v[0]), Some(v[1])]);
    }),
    ("no candidate is a power of two", Rule::Tile, |k| {
        k.tunables[1].candidates = Candidates::List(vec![96, 160]);
        let uses = vec![Quantity::Tunable(TunableId(1))];
        require(k, "nc.is_power_of_two()", uses, |v| Some(v[0].is_power_of_two()));
    }),
    ("difference below 0", Rule::Tile, |k| {
        let uses = vec![Quantity::Tunable(TunableId(1))];
        compare(k, "nc - 1024 > 0", uses, |v| Some(v[0].checked_sub(1024)? > 0), |v| [v[0].checked_sub(1024), Some(0)]);
    }),
    ("division by zero", Rule::Tile, |k| {
        let uses = vec![Quantity::Tunable(TunableId(0)), Quantity::Tunable(TunableId(1))];
        compare(
            k,
            "mc / (nc / 1024) > 0",
            uses,
            |v| Some(v[0].checked_div(v[1] / 1024)? > 0),
            |v| [v[0].checked_div(v[1] / 1024), Some(0)],
        );
    }),
    ("number beyond 64 bits", Rule::Tile, |k| {
        k.tunables[2].candidates = Candidates::List(vec![1 << 22, 1 << 23]);
        let uses = vec![Quantity::Tunable(TunableId(2))];
        compare(
            k,
            "kc * kc * kc > 0",
            uses,
            |v| Some(v[0].checked_mul(v[0])?.checked_mul(v[0])? > 0),
            |v| [v[0].checked_mul(v[0]).and_then(|square| square.checked_mul(v[0])), Some(0)],
        );
    }),
    ("requirement on the token axis", Rule::Tile, |k| {
        require(k, "mc <= m", vec![Quantity::Axis(AxisId(0)), Quantity::Tunable(TunableId(0))], |v| Some(v[1] <= v[0]));
    }),
    ("requirement on no tile size", Rule::Tile, |k| {
        require(k, "n > 100000", vec![Quantity::Axis(AxisId(1))], |v| Some(v[0] > 100_000));
    }),
    ("requirements that contradict", Rule::Tile, |k| {
        require(k, "nc >= 64", vec![Quantity::Tunable(TunableId(1))], |v| Some(v[0] >= 64));
        require(k, "mc >= 64", vec![Quantity::Tunable(TunableId(0))], |v| Some(v[0] >= 64));
        require(k, "nc < 64", vec![Quantity::Tunable(TunableId(1))], |v| Some(v[0] < 64));
    }),
    ("windows that fit no VTCM", Rule::Tile, |k| {
        k.tunables[1].candidates = Candidates::List(vec![512, 1024]);
        k.tunables[2].candidates = Candidates::List(vec![16_384]);
        let uses = vec![Quantity::WindowBytes(WindowId(1)), Quantity::VtcmBytes];
        compare(k, "window_bytes(wq) <= vtcm_bytes", uses, |v| Some(v[0] <= v[1]), |v| [Some(v[0]), Some(v[1])]);
    }),
    ("windows that leave no candidate", Rule::Tile, |k| {
        let uses = vec![Quantity::WindowBytes(WindowId(1)), Quantity::VtcmBytes];
        let sides: fn(&[u64]) -> _ = |v| [Some(v[0]), Some(v[1] / 8192)];
        compare(k, "window_bytes(wq) <= vtcm_bytes / 8192", uses, |v| Some(v[0] <= v[1] / 8192), sides);
    }),
    ("requirement on no window", Rule::Limit, |k| {
        require(k, "window_bytes(w4)", vec![Quantity::WindowBytes(WindowId(4))], |_| Some(true));
    }),
    ("range from 0", Rule::Tile, |k| k.tunables[0].candidates = Candidates::Range { min: 0, max: 1024 }),
    ("empty list", Rule::Tile, |k| k.tunables[0].candidates = Candidates::List(Vec::new())),
    ("step for FP16 tiles", Rule::Layout, |k| {
        apply(k, "pf_vstore(dev, to, pf_vzero());", TileFormat::Q8_0);
        k.steps[0].input = StepInput::F16;
    }),
    ("mistake in a body of a file", Rule::Body, |k| {
        apply(k, "pf_vstore(dev, to, pf_vzero());\n    memcpy(to, from, 128);", TileFormat::Q8_0);
        k.steps[0].body_source = Source { file: "own.rs", line: 7, column: 14 };
    }),
    ("two activations", Rule::Role, |k| {
        k.operands[1] = Operand { name: "w".into(), axes: k.operands[1].axes, ..k.operands[0].clone() };
        k.windows.remove(1);
        loop_over(&mut k.schedule, 1).pipeline.clear();
        loop_over(&mut k.schedule, 1).body.remove(0);
        let pack = StepKind::PackCols {
            window: WindowId(1),
            operand: OperandId(1),
            block: [AxisId(1), AxisId(2)],
            scale: false,
        };
        *nth(k, 1) = pack;
        *nth(k, 2) = StepKind::Multiply { to: WindowId(2), data: WindowId(0), weights: WindowId(1), swap: false };
        let StepKind::UnpackRows { window, .. } = nth(k, 3) else {
            return;
        };
        *window = WindowId(2);
    }),
    ("output window as source", Rule::Layout, |k| k.windows[3].layout = WindowLayout::ActivationTiles),
];

#[test]
fn messages_of_the_verifier() {
    let mut text = String::new();
    for (name, rule, alter) in ALTERATIONS {
        let mut kernel = library::forward_q8();
        alter(&mut kernel);
        let found = verify(&kernel).expect_err(name);
        assert!(found.iter().any(|d| d.rule == *rule), "{name}: {found:?}");
        text.push_str(&format!("=== {name}\n"));
        for diagnostic in found {
            text.push_str(&format!("{diagnostic}\n"));
        }
    }
    insta::assert_snapshot!(text);
}

#[test]
fn library_kernels_are_sound() {
    for kernel in library::all().into_iter().chain(library::extra()) {
        let verified = verify(&kernel).unwrap_or_else(|found| panic!("{}: {found:?}", kernel.name));
        assert_eq!(verified.kernel().id(), kernel.id());
    }
}

#[test]
fn loops_may_stand_in_another_order() {
    // Output columns outside, contraction inside: every block of the output still sums its partial sums in order.
    let mut kernel = library::forward_q8();
    let pack = loop_over(&mut kernel.schedule, 2).body.remove(0);
    let mut columns = loop_over(&mut kernel.schedule, 1).clone();
    let mut sums = loop_over(&mut kernel.schedule, 2).clone();
    sums.body = columns.body;
    sums.body.insert(0, pack);
    sums.pipeline = std::mem::take(&mut columns.pipeline);
    columns.body = vec![Statement::Loop(sums)];
    loop_over(&mut kernel.schedule, 0).body = vec![Statement::Loop(columns)];
    verify(&kernel).unwrap();
}

#[test]
fn a_deep_nest_is_an_error() {
    let mut kernel = library::forward_q8();
    let mut nest = loop_over(&mut kernel.schedule, 1).clone();
    for _ in 0..200 {
        let mut outer = loop_over(&mut kernel.schedule, 0).clone();
        outer.body = vec![Statement::Loop(nest)];
        nest = outer;
    }
    kernel.schedule = vec![Statement::Loop(nest)];
    let found = verify(&kernel).unwrap_err();
    assert!(found.iter().any(|d| d.rule == Rule::Limit), "{found:?}");
}
