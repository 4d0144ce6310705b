//! Kernels altered at random: the verifier, the planner and the lowering give errors or C, never a panic.

use kernel_gen::{
    Arch, Kernel, emit_c,
    ir::{
        AxisId, Candidates, ColumnFactors, Condition, HvxStep, HvxStepId, Loop, OperandId, OperandLayout, OperandRole,
        Pairs, Quantity, Requirement, Statement, Step, StepInput, StepKind, StepReference, TileFormat, TunableId,
        Variant, WindowId, WindowLayout,
    },
    library,
    plan::solve,
    verify,
};

/// A condition on two quantities.
type Judged = fn(&[u64]) -> Option<bool>;

struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound.max(1)
    }

    /// Mostly an index that exists.
    fn index(&mut self) -> usize {
        [0, 1, 2, 3, 0, 1, 2, usize::MAX][self.below(8)]
    }

    fn window(&mut self) -> WindowId {
        WindowId(self.index())
    }

    fn block(&mut self) -> [AxisId; 2] {
        [AxisId(self.index()), AxisId(self.index())]
    }

    fn flag(&mut self) -> bool {
        self.below(2) == 0
    }

    /// Mostly none, then mostly an axis that exists.
    fn split(&mut self) -> Option<AxisId> {
        [None, None, Some(AxisId(self.index()))][self.below(3)]
    }

    fn step(&mut self) -> StepKind {
        let operand = OperandId(self.index());
        let (to, from) = (self.window(), self.window());
        let block = self.block();
        match self.below(10) {
            0 => StepKind::Load { window: to, operand, block },
            1 => StepKind::PackRows { window: to, operand, block, scale: self.flag() },
            2 => StepKind::PackCols { window: to, operand, block, scale: self.flag() },
            3 => StepKind::InterleavePairs { to, from },
            4 => StepKind::ScatterWords { to, from },
            5 => StepKind::Dequantise { to, from },
            9 => StepKind::Apply { step: HvxStepId(self.index()), to, from },
            6 => StepKind::Multiply { to, data: from, weights: self.window(), swap: self.flag() },
            n => {
                let (accumulate, unscale) = (self.flag(), self.flag());
                let guard = [None, Some(60_000), Some(1)][self.below(3)];
                let mut factor = || [None, None, Some(OperandId(3)), Some(OperandId(self.index()))][self.below(4)];
                let columns = ColumnFactors { scale: factor(), bias: factor() };
                if n == 7 {
                    StepKind::UnpackRows { operand, block, window: to, accumulate, unscale, columns, guard }
                } else {
                    StepKind::UnpackCols { operand, block, window: to, accumulate, unscale, columns, guard }
                }
            }
        }
    }
}

fn alter_schedule(body: &mut Vec<Statement>, dice: &mut Dice) {
    let at = dice.below(body.len());
    match body.get_mut(at) {
        Some(Statement::Loop(l)) if dice.below(4) != 0 => match dice.below(4) {
            0 => l.axis = AxisId(dice.index()),
            1 => l.pipeline.push(dice.window()),
            2 => l.pipeline.clear(),
            _ => alter_schedule(&mut l.body, dice),
        },
        Some(Statement::Step(step)) if dice.below(4) != 0 => match dice.below(4) {
            0 => step.split = dice.split(),
            _ => step.kind = dice.step(),
        },
        Some(_) => match dice.below(4) {
            0 => drop(body.remove(at)),
            1 => body.push(body[at].clone()),
            2 => {
                let source = library::forward_q8().source;
                body.insert(at, Statement::Step(Step { kind: dice.step(), split: dice.split(), source }));
            }
            _ => {
                let inner = body.remove(at);
                let source = library::forward_q8().source;
                body.push(Statement::Loop(Loop {
                    name: "extra".into(),
                    axis: AxisId(dice.index()),
                    tile: TunableId(dice.index()),
                    pipeline: Vec::new(),
                    body: vec![inner],
                    source,
                }));
            }
        },
        None => {}
    }
}

/// A step that leaves tiles as they are, applied somewhere.
fn add_step(kernel: &mut Kernel, dice: &mut Dice) {
    let source = kernel.source;
    let inputs = [
        StepInput::F16,
        StepInput::Rows(Pairs::Rows),
        StepInput::Packed(TileFormat::Q8_0, Pairs::Cols),
        StepInput::Packed(TileFormat::new("none", 0, None), Pairs::Rows),
    ];
    kernel.steps.push(HvxStep {
        name: ["own", "own", "from", "xa"][dice.below(4)].into(),
        doc: vec!["*/".into()],
        input: inputs[dice.below(4)],
        body: ["(void)dev, (void)to, (void)from;", "(void)dev, (void)to, (void)from;", "", "}", "("][dice.below(5)]
            .into(),
        reference: StepReference::new(|tile, p, q| tile.element(p, q)),
        source,
    });
    let (step, to, from) = (HvxStepId(kernel.steps.len() - 1), dice.window(), dice.window());
    replace_conversion(&mut kernel.schedule, step, dice.flag().then_some((to, from)));
}

/// Puts the step in the place of the first dequantise, with its windows or with others.
fn replace_conversion(body: &mut [Statement], own: HvxStepId, windows: Option<(WindowId, WindowId)>) {
    for statement in body {
        match statement {
            Statement::Loop(l) => replace_conversion(&mut l.body, own, windows),
            Statement::Step(step) => {
                if let StepKind::Dequantise { to, from } = step.kind {
                    let (to, from) = windows.unwrap_or((to, from));
                    step.kind = StepKind::Apply { step: own, to, from };
                }
            }
        }
    }
}

fn alter(kernel: &mut Kernel, dice: &mut Dice) {
    match dice.below(12) {
        11 => {
            let mut other = Kernel { variants: Vec::new(), ..kernel.clone() };
            alter(&mut other, dice);
            kernel.variants.push(Variant { arch: Arch::ALL[dice.below(2)], kernel: other });
        }
        10 => {
            let quantities =
                [Quantity::Tunable(TunableId(dice.index())), Quantity::Axis(AxisId(dice.index())), Quantity::VtcmBytes];
            let conditions: [Judged; 4] = [
                |v| Some(v[0] <= 256),
                |v| Some(v[0].checked_sub(64)? < v[1]),
                |v| Some(v[0].is_power_of_two()),
                |_| None,
            ];
            kernel.requirements.push(Requirement {
                text: "*/".into(),
                uses: vec![quantities[dice.below(3)], quantities[dice.below(3)]],
                holds: Condition::new(conditions[dice.below(4)]),
                source: kernel.source,
            });
        }
        9 => add_step(kernel, dice),
        8 => {
            let at = dice.below(kernel.operands.len());
            let operand = &mut kernel.operands[at];
            match dice.below(3) {
                0 => operand.layout = OperandLayout::Vector,
                1 => operand.role = OperandRole::Column,
                _ => operand.layout = OperandLayout::Tiles(TileFormat::Q4_0),
            }
        }
        0 => {
            let layouts = [
                WindowLayout::ActivationTiles,
                WindowLayout::WeightTiles,
                WindowLayout::OutputTiles,
                WindowLayout::RowMajor,
                WindowLayout::Tiles(TileFormat::Q8_0),
                WindowLayout::Tiles(TileFormat::Q4_0),
                WindowLayout::Tiles(TileFormat { stride: 0, ..TileFormat::Q8_0 }),
            ];
            let at = dice.below(kernel.windows.len());
            kernel.windows[at].layout = layouts[dice.below(layouts.len())];
        }
        1 => {
            let at = dice.below(kernel.windows.len());
            kernel.windows[at].extents = [TunableId(dice.index()), TunableId(dice.index())];
        }
        2 => {
            let at = dice.below(kernel.windows.len());
            kernel.windows[at].stages = [0, 1, 2, 3, u32::MAX][dice.below(5)];
        }
        3 => {
            let at = dice.below(kernel.tunables.len());
            kernel.tunables[at].candidates = match dice.below(4) {
                0 => Candidates::List(vec![32, 4096, u32::MAX - 31]),
                1 => Candidates::List(Vec::new()),
                2 => Candidates::Range { min: 0, max: u32::MAX },
                _ => Candidates::Range { min: u32::MAX, max: 0 },
            };
        }
        4 => {
            let at = dice.below(kernel.tunables.len());
            kernel.tunables[at].multiple_of = [0, 1, 32, 96, u32::MAX][dice.below(5)];
        }
        _ => alter_schedule(&mut kernel.schedule, dice),
    }
}

#[test]
fn altered_kernels_are_errors_or_c() {
    let mut dice = Dice(11);
    let mut sound = 0;
    let kernels: Vec<_> = library::all().into_iter().chain(library::extra()).collect();
    for round in 0..20_000 {
        let mut kernel = kernels[round % kernels.len()].clone();
        for _ in 0..=dice.below(3) {
            alter(&mut kernel, &mut dice);
        }
        let Ok(verified) = verify(&kernel) else {
            continue;
        };
        sound += 1;
        for arch in Arch::ALL {
            assert!(emit_c(&verified, arch).contains("_run(dev, plan, request);"));
        }
        for axes in [[1, 1, 1], [3431, 2560, 9728], [u32::MAX, 1, 1], [1 << 24, 1 << 24, 1 << 24]] {
            for vtcm in [8 << 20, 16 << 10, 0, u32::MAX] {
                if let Ok(plan) = solve(&verified, Arch::V79, &axes, vtcm) {
                    assert!(plan.vtcm_bytes < vtcm, "{plan}");
                }
            }
        }
    }
    assert!(sound > 500, "only {sound} altered kernels were sound: the planner was hardly tried");
}
