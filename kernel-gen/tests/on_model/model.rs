//! One request on the functional models, compiled from emitted C.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicUsize, Ordering},
};

use kernel_gen::{
    Plan, Verified, emit_library,
    ir::{Element, Kernel, Operand, OperandLayout, OperandRole, TileFormat},
    plan::{ABI_VERSION, MAX_OPERANDS},
};

static RUNS: AtomicUsize = AtomicUsize::new(0);

/// A compiled model of one set of kernels.
pub struct Model {
    program: PathBuf,
}

/// What a run left behind.
pub struct Outcome {
    pub status: i32,
    pub fault: String,
    /// Dense, rows × cols.
    pub output: Vec<f32>,
    pub flags: Vec<u8>,
}

/// Operands with their values, dense row-major, before they take the kernel's layout.
pub struct Case<'a> {
    pub plan: &'a Plan,
    pub axes: [u32; 3],
    pub rows: std::ops::Range<u32>,
    pub input: &'a [f32],
    pub weight: &'a [f32],
    /// Column vectors, in declaration order.
    pub columns: &'a [Vec<f32>],
    pub exponents: &'a [i32],
}

impl Model {
    /// Compiles `kernels` against the checked or the fast model.
    pub fn build(name: &str, checked: bool, kernels: &[Verified]) -> Model {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("kernels.c"), emit_library(kernels)).unwrap();
        let program = folder.join("model");
        let mut gcc = Command::new("gcc");
        gcc.args(["-std=c11", "-O1", "-ffp-contract=off", "-fno-math-errno", "-Wall", "-Wextra", "-Werror"]);
        gcc.arg(if checked { "-DPF_MODEL_CHECKED" } else { "-DPF_MODEL_FAST" });
        gcc.arg("-DPF_VARIANT=under_test").arg("-I").arg(kernel_gen::device_dir()).arg("-I").arg(&folder);
        gcc.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/on_model/harness.c")).arg("-lm");
        let output = gcc.arg("-o").arg(&program).output().expect("gcc is installed");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Model { program }
    }

    /// Runs one request.
    pub fn run(&self, kernel: &Kernel, case: &Case<'_>) -> Outcome {
        let [m, n, k] = case.axes;
        let mut data = Vec::new();
        let mut request = Words::default();
        request.extend([ABI_VERSION, 248, kernel.id(), 7, m, n, k, 0, case.rows.start, case.rows.end]);
        let mut out_shape = (0, 0, 0);
        let mut columns = case.columns.iter();
        for operand in &kernel.operands {
            let [rows, cols] = operand.shape(&case.axes.map(|a| a as usize));
            let placed = match operand.role {
                OperandRole::Activation => place(operand, rows, cols, case.input),
                OperandRole::Weight => place(operand, rows, cols, case.weight),
                OperandRole::Column => place(operand, rows, cols, columns.next().unwrap()),
                OperandRole::Output => place(operand, rows, cols, &vec![f32::NAN; rows * cols]),
            };
            if operand.role == OperandRole::Output {
                out_shape = (rows, cols, placed.row_stride);
            }
            request.address(data.len());
            request.address(placed.bytes.len());
            request.extend([placed.rows as u32, placed.cols as u32, placed.row_stride as u32, 0]);
            append(&mut data, &placed.bytes);
        }
        for _ in kernel.operands.len()..MAX_OPERANDS {
            request.extend([0; 8]);
        }
        request.address(data.len());
        append(&mut data, &case.exponents.iter().flat_map(|e| e.to_le_bytes()).collect::<Vec<_>>());
        request.address(data.len());
        append(&mut data, &vec![0; m as usize]);

        let mut file = case.plan.record().to_bytes();
        file.extend(request.0);
        file.extend(data);
        // Tests share a model and run at the same time.
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        let [input, result] = ["case", "result"].map(|kind| self.program.with_extension(format!("{run}.{kind}")));
        fs::write(&input, file).unwrap();
        let status = Command::new(&self.program).arg(&input).arg(&result).status().unwrap();
        assert!(status.success(), "the harness ended with {status}");
        let bytes = fs::read(&result).unwrap();
        fs::remove_file(input).unwrap();
        fs::remove_file(result).unwrap();
        outcome(&bytes, out_shape)
    }
}

fn outcome(bytes: &[u8], (rows, cols, row_stride): (usize, usize, usize)) -> Outcome {
    const COUNTS: usize = 7 * 8;
    let (status, rest) = bytes.split_at(4);
    let (fault, rest) = rest.split_at(512);
    let (output, flags) = rest[COUNTS..].split_at(rows * row_stride);
    let element = |i: usize, j: usize| {
        let at = i * row_stride + j * 4;
        f32::from_le_bytes(output[at..at + 4].try_into().unwrap())
    };
    Outcome {
        status: i32::from_le_bytes(status.try_into().unwrap()),
        fault: String::from_utf8_lossy(fault).trim_end_matches('\0').to_string(),
        output: (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j))).map(|(i, j)| element(i, j)).collect(),
        flags: flags.to_vec(),
    }
}

#[derive(Default)]
struct Words(Vec<u8>);

impl Words {
    fn extend<const N: usize>(&mut self, words: [u32; N]) {
        self.0.extend(words.iter().flat_map(|w| w.to_le_bytes()));
    }

    fn address(&mut self, offset: usize) {
        self.0.extend((offset as u64).to_le_bytes());
    }
}

struct Placed {
    bytes: Vec<u8>,
    rows: usize,
    cols: usize,
    row_stride: usize,
}

fn append(data: &mut Vec<u8>, bytes: &[u8]) {
    data.extend(bytes);
    data.resize(data.len().next_multiple_of(128), 0);
}

/// Values in the operand's layout. FP16 and Q8_0 take whole numbers below 128 with a scale of 1, Q4_0 from −8 to 7: exact in all.
fn place(operand: &Operand, rows: usize, cols: usize, values: &[f32]) -> Placed {
    let value = |i: usize, j: usize| {
        if i < rows && j < cols { values[i * cols + j] } else { 0.0 }
    };
    let mut bytes = Vec::new();
    match (operand.layout, operand.element) {
        (OperandLayout::RowMajor | OperandLayout::Vector, Element::F32) => {
            let row_stride = (cols * 4).next_multiple_of(128);
            for i in 0..rows {
                bytes.extend((0..cols).flat_map(|j| value(i, j).to_le_bytes()));
                bytes.resize((i + 1) * row_stride, 0);
            }
            Placed { bytes, rows, cols, row_stride }
        }
        (OperandLayout::RowMajor, Element::Bf16) => {
            let row_stride = (cols * 2).next_multiple_of(128);
            for i in 0..rows {
                bytes.extend((0..cols).map(|j| (value(i, j).to_bits() >> 16) as u16).flat_map(u16::to_le_bytes));
                bytes.resize((i + 1) * row_stride, 0xff);
            }
            Placed { bytes, rows, cols, row_stride }
        }
        (OperandLayout::RowMajor | OperandLayout::Vector, _) => {
            let (rows, cols) = (rows.next_multiple_of(32), cols.next_multiple_of(64));
            for i in 0..rows {
                bytes.extend((0..cols).flat_map(|j| half(value(i, j)).to_le_bytes()));
            }
            Placed { bytes, rows, cols, row_stride: cols * 2 }
        }
        (OperandLayout::Tiles(format), _) => {
            let grid = (rows.div_ceil(32), cols.div_ceil(32));
            for (strip, tile) in (0..grid.0).flat_map(|s| (0..grid.1).map(move |t| (s, t))) {
                let at = bytes.len();
                packed(&mut bytes, format, |n, k| value(strip * 32 + n, tile * 32 + k) as i8);
                assert_eq!(bytes.len() - at, format.bytes as usize);
            }
            Placed { bytes, rows: grid.0, cols: grid.1 * 32, row_stride: grid.1 * format.bytes as usize }
        }
    }
}

/// One packed tile of whole numbers that E5M2 holds, with scales of 1 where the format has scales.
fn packed(bytes: &mut Vec<u8>, format: TileFormat, value: impl Fn(usize, usize) -> i8) {
    for pair in 0..16 {
        for n in 0..32 {
            let [even, odd] = [value(n, 2 * pair), value(n, 2 * pair + 1)];
            if format == TileFormat::Q8_0 {
                bytes.extend([even as u8, odd as u8]);
            } else if format == TileFormat::Q4_0 {
                bytes.push((even + 8) as u8 | ((odd + 8) as u8) << 4);
            } else {
                assert_eq!(format.name, "e5m2_tiles");
                bytes.extend([even, odd].map(|v| (half(f32::from(v)) >> 8) as u8));
            }
        }
    }
    if format.name == "e5m2_tiles" {
        return;
    }
    bytes.extend((0..32).flat_map(|_| half(1.0).to_le_bytes()));
}

/// FP16 of a whole number below 2048.
fn half(value: f32) -> u16 {
    if value == 0.0 {
        return 0;
    }
    let bits = value.to_bits();
    let exponent = ((bits >> 23) & 0xFF) as i32 - 127 + 15;
    ((bits >> 16) & 0x8000) as u16 | (exponent as u16) << 10 | ((bits >> 13) & 0x3FF) as u16
}
