//! Changes of a kernel that nobody would write: indices, layouts, names, steps and loops, right ones among them.

use kernel_gen::ir::{
    AxisId, AxisRole, BlockFormat, Candidates, ColumnFactors, Condition, Element, HvxStep, HvxStepId, InputTile, Loop,
    OperandId, OperandLayout, OperandRole, Pairs, Quantity, Requirement, Scope, Source, Statement, Step, StepInput,
    StepKind, StepReference, TileFormat, TunableId, Variant, WindowId, WindowLayout,
};
use kernel_gen::{Arch, Kernel};

/// A condition on two quantities.
type Judged = fn(&[u64]) -> Option<bool>;

/// Names C or the emitted functions have a use for, and some that are free.
const NAMES: [&str; 16] = [
    "from", "static", "int32_t", "uint8_t", "uint32_t", "memcpy", "size_t", "xa", "at", "a b", "e", "block", "n_len",
    "pf_x", "linux", "INT_MAX",
];

/// Numbers that proptest draws and shrinks towards 0; once they are used up, every choice is the first.
pub struct Dice<'c>(std::slice::Iter<'c, u32>);

impl<'c> Dice<'c> {
    /// Choices to be made one after the other.
    pub fn new(choices: &'c [u32]) -> Dice<'c> {
        Dice(choices.iter())
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.next().map_or(0, |&choice| choice as usize % bound.max(1))
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
                let unscale = self.flag();
                let guard = [None, Some(60_000), Some(1)][self.below(3)];
                let mut factor = || [None, None, Some(OperandId(3)), Some(OperandId(self.index()))][self.below(4)];
                let columns = ColumnFactors { scale: factor(), bias: factor() };
                if n == 7 {
                    StepKind::UnpackRows { operand, block, window: to, unscale, columns, guard }
                } else {
                    StepKind::UnpackCols { operand, block, window: to, unscale, columns, guard }
                }
            }
        }
    }
}

fn alter_schedule(body: &mut Vec<Statement>, dice: &mut Dice<'_>) {
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
                let source = Source::default();
                body.insert(at, Statement::Step(Step { kind: dice.step(), split: dice.split(), source }));
            }
            _ => {
                let inner = body.remove(at);
                let source = Source::default();
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

/// A step of an author, right or not, applied somewhere.
fn add_step(kernel: &mut Kernel, dice: &mut Dice<'_>) {
    const COPY: &str = "for (uint32_t i = 0; i < 16; i++)
        pf_vstore(dev, to + i * PF_VECTOR_BYTES, pf_vload(dev, from + i * PF_VECTOR_BYTES));";
    const CLEAR: &str = "(void)from;
    for (uint32_t i = 0; i < 16; i++)
        pf_vstore(dev, to + i * PF_VECTOR_BYTES, pf_vzero());";
    let (input, right, reference): (_, _, fn(&InputTile<'_>, usize, usize) -> f64) = match dice.below(5) {
        0 => (StepInput::F16, COPY, |tile, p, q| tile.element(p, q)),
        1 => (StepInput::Packed(TileFormat::Q8_0, Pairs::Cols), CLEAR, |_, _, _| 0.0),
        2 => (StepInput::Packed(TileFormat::Q4_0, Pairs::Rows), CLEAR, |_, _, _| 0.0),
        3 => (StepInput::Rows(Pairs::Rows), CLEAR, |_, _, _| 0.0),
        _ => (StepInput::Packed(TileFormat::new("none", 0, None), Pairs::Rows), CLEAR, |_, _, _| 0.0),
    };
    kernel.steps.push(HvxStep {
        name: ["own", "own", "own", NAMES[dice.below(NAMES.len())]][dice.below(4)].into(),
        doc: vec!["*/".into()],
        input,
        body: [right, right, right, "", "}", "("][dice.below(6)].into(),
        body_source: kernel.source,
        reference: StepReference::new(reference),
        source: kernel.source,
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

/// Every loop, from the outermost in.
fn loops(body: &mut [Statement]) -> Vec<&mut Loop> {
    let mut all = Vec::new();
    for statement in body {
        if let Statement::Loop(l) = statement {
            all.push(l);
        }
    }
    all
}

/// Exchanges what a loop and the one directly inside it walk: often still a kernel.
fn exchange_loops(body: &mut [Statement], dice: &mut Dice<'_>) {
    for outer in loops(body) {
        let here = dice.flag();
        for inner in loops(&mut outer.body) {
            if here {
                std::mem::swap(&mut outer.axis, &mut inner.axis);
                std::mem::swap(&mut outer.tile, &mut inner.tile);
                std::mem::swap(&mut outer.name, &mut inner.name);
                return;
            }
        }
        exchange_loops(&mut outer.body, dice);
    }
}

/// Moves everything of a loop that follows its first steps before it, or a step one place on.
fn move_step(body: &mut [Statement], dice: &mut Dice<'_>) {
    for l in loops(body) {
        if dice.flag() && l.body.len() > 1 {
            let at = dice.below(l.body.len() - 1);
            l.body.swap(at, at + 1);
            return;
        }
        move_step(&mut l.body, dice);
    }
}

fn rename(kernel: &mut Kernel, dice: &mut Dice<'_>) {
    let name = NAMES[dice.below(NAMES.len())].to_string();
    match dice.below(5) {
        0 => kernel.name = name,
        1 => {
            let at = dice.below(kernel.axes.len());
            kernel.axes[at].name = name;
        }
        2 => {
            let at = dice.below(kernel.operands.len());
            kernel.operands[at].name = name;
        }
        3 => {
            let at = dice.below(kernel.tunables.len());
            kernel.tunables[at].name = name;
        }
        _ => {
            let at = dice.below(kernel.windows.len());
            kernel.windows[at].name = name;
        }
    }
}

fn alter_operand(kernel: &mut Kernel, dice: &mut Dice<'_>) {
    let at = dice.below(kernel.operands.len());
    let operand = &mut kernel.operands[at];
    match dice.below(7) {
        0 => operand.layout = OperandLayout::Vector,
        1 => operand.role = OperandRole::Column,
        2 => operand.layout = OperandLayout::Tiles(TileFormat::Q4_0),
        3 => operand.layout = OperandLayout::Blocks(BlockFormat::Q8_0),
        4 => operand.axes = dice.block(),
        5 => operand.element = [Element::F32, Element::F16, Element::Bf16, Element::Packed][dice.below(4)],
        _ => operand.scope = [Scope::DdrResident, Scope::DdrStream][dice.below(2)],
    }
}

/// Both sides of a load in another format, so that what follows sees only that.
fn alter_format(kernel: &mut Kernel, dice: &mut Dice<'_>) {
    let (of_operand, of_window) = [
        (OperandLayout::Tiles(TileFormat::Q8_0), WindowLayout::Tiles(TileFormat::Q8_0)),
        (OperandLayout::Tiles(TileFormat::Q4_0), WindowLayout::Tiles(TileFormat::Q4_0)),
        (OperandLayout::Blocks(BlockFormat::Q8_0), WindowLayout::Blocks(BlockFormat::Q8_0)),
    ][dice.below(3)];
    if let (Some(operand), Some(window)) = (kernel.operands.get_mut(1), kernel.windows.get_mut(1)) {
        (operand.layout, operand.element) = (of_operand, Element::Packed);
        (window.layout, window.element) = (of_window, Element::Packed);
    }
}

/// A condition on the tile sizes: one that some meet, or none.
fn add_requirement(kernel: &mut Kernel, dice: &mut Dice<'_>) {
    let quantities = [
        Quantity::Tunable(TunableId(dice.index())),
        Quantity::Axis(AxisId(dice.index())),
        Quantity::VtcmBytes,
        Quantity::WindowBytes(dice.window()),
    ];
    let conditions: [Judged; 4] =
        [|v| Some(v[0] <= 256), |v| Some(v[0].checked_sub(64)? < v[1]), |v| Some(v[0].is_power_of_two()), |_| None];
    kernel.requirements.push(Requirement {
        text: "*/".into(),
        uses: vec![quantities[dice.below(4)], quantities[dice.below(4)]],
        holds: Condition::new(conditions[dice.below(4)]),
        sides: None,
        source: kernel.source,
    });
}

/// Changes one thing.
pub fn alter(kernel: &mut Kernel, dice: &mut Dice<'_>) {
    match dice.below(18) {
        0 => {
            let layouts = [
                WindowLayout::ActivationTiles,
                WindowLayout::WeightTiles,
                WindowLayout::OutputTiles,
                WindowLayout::RowMajor,
                WindowLayout::Tiles(TileFormat::Q8_0),
                WindowLayout::Tiles(TileFormat::Q4_0),
                WindowLayout::Tiles(TileFormat { stride: 0, ..TileFormat::Q8_0 }),
                WindowLayout::Blocks(BlockFormat::Q8_0),
                WindowLayout::Blocks(BlockFormat { bytes: 0, ..BlockFormat::Q8_0 }),
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
            kernel.windows[at].stages = [2, 3, 1, 8, 0, u32::MAX][dice.below(6)];
        }
        3 => {
            let at = dice.below(kernel.tunables.len());
            kernel.tunables[at].candidates = match dice.below(5) {
                0 => Candidates::List(vec![32, 4096, u32::MAX - 31]),
                1 => Candidates::List(vec![96]),
                2 => Candidates::List(Vec::new()),
                3 => Candidates::Range { min: 1, max: u32::MAX },
                _ => Candidates::Range { min: u32::MAX, max: 0 },
            };
        }
        4 => {
            let at = dice.below(kernel.tunables.len());
            kernel.tunables[at].multiple_of = [0, 1, 32, 96, u32::MAX][dice.below(5)];
        }
        5 => {
            let at = dice.below(kernel.axes.len());
            kernel.axes[at].role = [AxisRole::Token, AxisRole::Out, AxisRole::In][dice.below(3)];
        }
        6 => rename(kernel, dice),
        7 => alter_operand(kernel, dice),
        8 => add_step(kernel, dice),
        9 => alter_format(kernel, dice),
        10 => exchange_loops(&mut kernel.schedule, dice),
        11 => move_step(&mut kernel.schedule, dice),
        12 => add_requirement(kernel, dice),
        13 => {
            let mut other = Kernel { variants: Vec::new(), ..kernel.clone() };
            alter(&mut other, dice);
            kernel.variants.push(Variant { arch: Arch::ALL[dice.below(2)], kernel: other });
        }
        _ => alter_schedule(&mut kernel.schedule, dice),
    }
}
