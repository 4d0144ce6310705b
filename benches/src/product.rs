use hexagon_runtime::{
    DeviceKind, Direction, Precision, ProjectionId, Runtime, RuntimeBuilder, RuntimeConfig, WeightData,
};
use verify::effective::{f16_weights, q8_weights};
use verify::family::{Random, RowFamily};
use verify::product::Product;

/// Tokens × output features × input features.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Token rows of the request.
    pub rows: usize,
    /// Output features of the weight.
    pub out: usize,
    /// Input features of the weight.
    pub in_: usize,
}

/// 4B attention-sized, and the two MLP shapes of the demo's model at a batch of eight conversations.
pub const SHAPES: [Shape; 3] = [
    Shape { rows: 512, out: 2560, in_: 2560 },
    Shape { rows: 1072, out: 576, in_: 1536 },
    Shape { rows: 1072, out: 1536, in_: 576 },
];

impl Shape {
    /// Floating-point operations of one product.
    pub fn flop(self) -> f64 {
        2.0 * self.rows as f64 * self.out as f64 * self.in_ as f64
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}x{}x{}", self.rows, self.out, self.in_)
    }
}

/// One product, ready to run on the functional model with one host thread.
pub struct BenchProduct {
    runtime: Runtime,
    id: ProjectionId,
    direction: Direction,
    /// The shape.
    pub shape: Shape,
    /// Input rows, dense.
    pub input: Vec<f32>,
    /// Effective weights, row-major `[out][in]`.
    pub weights: Vec<f32>,
    /// Output rows, dense.
    pub output: Vec<f32>,
}

impl BenchProduct {
    /// Makes the product and checks its answer against the f64 reference before anything is timed.
    pub fn new(shape: Shape, direction: Direction, precision: Precision, checked: bool) -> BenchProduct {
        let mut random = Random::new(1);
        let weights: Vec<f32> = (0..shape.out * shape.in_).map(|_| random.signed() * 0.05).collect();
        let effective = match precision {
            Precision::Q8 => q8_weights(&weights, shape.in_),
            _ => f16_weights(&weights),
        };
        let (contraction, width) = match direction {
            Direction::Forward => (shape.in_, shape.out),
            Direction::InputGrad => (shape.out, shape.in_),
        };
        let input: Vec<f32> =
            (0..shape.rows).flat_map(|_| RowFamily::Uniform.row(&mut random, contraction, 0)).collect();
        let mut builder = RuntimeBuilder::new(RuntimeConfig {
            device: DeviceKind::Model { checked },
            precision,
            threads: 1,
            token_buckets: vec![shape.rows],
            ..RuntimeConfig::default()
        });
        let id = builder.add("bench", shape.out, shape.in_, WeightData::F32(&weights)).expect("a legal weight");
        let mut bench = BenchProduct {
            runtime: builder.start().expect("a runtime"),
            id,
            direction,
            shape,
            input,
            weights: effective.iter().map(|&w| w as f32).collect(),
            output: vec![0.0; shape.rows * width],
        };
        bench.run();
        assert_eq!(bench.runtime.counters().fallbacks, 0, "the product must run on the device");
        let reference = Product {
            direction,
            out: shape.out,
            in_: shape.in_,
            weights: &effective,
            input: &bench.input,
            contraction_tile: contraction,
        };
        for row in [0, shape.rows / 2, shape.rows - 1] {
            reference.check(row, &bench.output[row * width..(row + 1) * width]).expect("the product is right");
        }
        bench
    }

    /// One request: copy in, scale, pack, multiply, unpack, copy out.
    pub fn run(&mut self) {
        self.runtime.run(self.id, self.direction, &self.input, self.shape.rows, &mut self.output).expect("a product");
    }
}
