//! Does the error of a recurrent layer's weights grow along the tokens? Texts as long as the small trained hybrid model
//! takes, once with all weights in f32 and then with its recurrent projections in FP16 or in Q8: the relative error of the
//! hidden state before the head at every position, averaged over the texts.
//!
//! `cargo run --release -p benches --bin precision_drift` prints a table and writes the picture.

use std::error::Error;
use std::path::{Path, PathBuf};

use clap::Parser;
use hexagon_runtime::{DeviceKind, Precision, RuntimeBuilder, RuntimeConfig};
use plotters::prelude::*;
use trainer::architecture::{ContextCache, Decoder, Segment};
use trainer::demo;
use trainer::model_file::ModelFile;
use trainer::registry::PrecisionPolicy;

/// Positions whose errors make one point of the strong curves.
const WINDOW: usize = 32;
/// Positions left out at the start of the first quarter: the state is still empty.
const WARM_UP: usize = 32;

/// Measures the error of FP16 and Q8 recurrent projections along the tokens.
#[derive(Parser)]
struct Drift {
    /// Texts, drawn one after the other from the bundled descriptions of programs.
    #[arg(long, default_value_t = 20)]
    texts: usize,
    /// Tokens of a text; the model has 1024 positions.
    #[arg(long, default_value_t = 1024)]
    tokens: usize,
    /// Where the picture goes.
    #[arg(long, default_value = "docs/precision_drift.svg")]
    out: PathBuf,
}

/// One way to keep the weights.
struct Kept {
    name: &'static str,
    device: DeviceKind,
    policy: PrecisionPolicy,
    color: RGBColor,
}

const F32: PrecisionPolicy = PrecisionPolicy::uniform(Precision::F32);
const F16: PrecisionPolicy = PrecisionPolicy::uniform(Precision::F16);
const NPU: DeviceKind = DeviceKind::Model { checked: false };

/// On the CPU nothing but the weights is rounded. The NPU rounds its inputs and outputs too and takes no f32 weights.
const COMPARED: [Kept; 4] = [
    Kept {
        name: "CPU: recurrent Q8, others f32",
        device: DeviceKind::Cpu,
        policy: PrecisionPolicy { recurrent: Precision::Q8, ..F32 },
        color: RGBColor(178, 34, 34),
    },
    Kept {
        name: "NPU model: recurrent Q8, others FP16",
        device: NPU,
        policy: PrecisionPolicy { recurrent: Precision::Q8, ..F16 },
        color: RGBColor(230, 140, 40),
    },
    Kept { name: "NPU model: recurrent FP16, others FP16", device: NPU, policy: F16, color: RGBColor(60, 140, 80) },
    Kept {
        name: "CPU: recurrent FP16, others f32",
        device: DeviceKind::Cpu,
        policy: PrecisionPolicy { recurrent: Precision::F16, ..F32 },
        color: RGBColor(30, 80, 170),
    },
];

fn main() -> Result<(), Box<dyn Error>> {
    let drift = Drift::parse();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../verify/reference/mini/qwen35-mini");
    let model = ModelFile::open(&folder)?;
    let texts = texts(&model, drift.texts, drift.tokens)?;
    let exact = hidden(&model, DeviceKind::Cpu, F32, &texts)?;
    println!(
        "{} texts of {} tokens; relative error of the hidden state before the head, mean of the texts",
        drift.texts, drift.tokens
    );
    println!(
        "| weights | first quarter | second | third | last | last over first | texts in which the last is larger |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut curves = Vec::new();
    for kept in COMPARED {
        let found = hidden(&model, kept.device, kept.policy, &texts)?;
        let width = model.config.hidden;
        let errors: Vec<Vec<f64>> = found.iter().zip(&exact).map(|(a, b)| relative_errors(a, b, width)).collect();
        let quarters: Vec<[f64; 4]> = errors.iter().map(|errors| quarters(errors)).collect();
        let of = |quarter: usize| mean(quarters.iter().map(|text| text[quarter]));
        let ratios: Vec<f64> = quarters.iter().map(|text| text[3] / text[0]).collect();
        let grew = ratios.iter().filter(|ratio| **ratio > 1.0).count();
        let ratio = mean(ratios.iter().copied());
        let spread = (mean(ratios.iter().map(|r| (r - ratio).powi(2))) / (ratios.len().max(2) - 1) as f64).sqrt();
        let [a, b, c, d] = [of(0), of(1), of(2), of(3)];
        println!(
            "| {} | {a:.2e} | {b:.2e} | {c:.2e} | {d:.2e} | {ratio:.2} ± {spread:.2} | {grew} of {} |",
            kept.name, drift.texts
        );
        let average = |position: usize| mean(errors.iter().map(|errors| errors[position]));
        curves.push((kept, (0..drift.tokens).map(average).collect::<Vec<f64>>()));
    }
    plot(&drift, &curves)?;
    println!("picture: {}", drift.out.display());
    Ok(())
}

/// Texts of `tokens` tokens each, no description in two of them.
fn texts(model: &ModelFile, count: usize, tokens: usize) -> Result<Vec<Vec<u32>>, Box<dyn Error>> {
    let text = model.text.as_ref().ok_or("the model has no tokenizer")?;
    if tokens < 4 * WARM_UP || tokens > model.config.max_positions || count == 0 {
        let most = model.config.max_positions;
        return Err(format!("give at least one text, of {} to {most} tokens", 4 * WARM_UP).into());
    }
    let mut ids = Vec::new();
    for app in demo::train()?.into_iter().chain(demo::test()?) {
        ids.extend(text.encode(&format!("{}. {}\n", app.title, app.text), false)?);
        if ids.len() >= count * tokens {
            return Ok(ids.chunks_exact(tokens).take(count).map(<[u32]>::to_vec).collect());
        }
    }
    Err(format!("the bundled descriptions have {} tokens: give fewer --texts or --tokens", ids.len()).into())
}

/// Final-normed hidden rows of every text.
fn hidden(
    model: &ModelFile,
    device: DeviceKind,
    policy: PrecisionPolicy,
    texts: &[Vec<u32>],
) -> Result<Vec<Vec<f32>>, Box<dyn Error>> {
    let mut builder = RuntimeBuilder::new(RuntimeConfig { device, ..RuntimeConfig::default() });
    let decoder = Decoder::load(model, &mut builder, policy)?;
    let mut runtime = builder.start()?;
    let mut rows = Vec::new();
    for ids in texts {
        let mut cache = ContextCache::new(&model.config);
        let segment = Segment { ids, position: 0, context: Vec::new() };
        rows.push(decoder.infer(&mut runtime, None, &[segment], &mut cache)?);
    }
    if runtime.counters().fallbacks > 0 {
        return Err("requests fell back to the CPU, so the figures would not be the NPU's".into());
    }
    Ok(rows)
}

/// |a − b| / |b| of every row.
fn relative_errors(a: &[f32], b: &[f32], width: usize) -> Vec<f64> {
    let row = |(a, b): (&[f32], &[f32])| {
        let off: f64 = a.iter().zip(b).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum();
        (off / b.iter().map(|b| f64::from(*b).powi(2)).sum::<f64>()).sqrt()
    };
    a.chunks_exact(width).zip(b.chunks_exact(width)).map(row).collect()
}

/// Mean error of each quarter of the positions.
fn quarters(errors: &[f64]) -> [f64; 4] {
    let quarter = errors.len() / 4;
    std::array::from_fn(|q| mean(errors[(q * quarter).max(WARM_UP)..(q + 1) * quarter].iter().copied()))
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count)
}

/// Every position as a faint line, the mean of [`WINDOW`] positions as a strong one.
fn plot(drift: &Drift, curves: &[(Kept, Vec<f64>)]) -> Result<(), Box<dyn Error>> {
    let all = || curves.iter().flat_map(|(_, curve)| curve.iter().copied().filter(|error| *error > 0.0));
    let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    let root = SVGBackend::new(&drift.out, (900, 560)).into_drawing_area();
    root.fill(&WHITE)?;
    let title = format!("Error along the tokens, mean of {} texts (qwen35-mini)", drift.texts);
    let mut chart = ChartBuilder::on(&root)
        .caption(title, ("sans-serif", 20))
        .margin(14)
        .x_label_area_size(48)
        .y_label_area_size(84)
        // Room above the curves for the legend.
        .build_cartesian_2d(0..drift.tokens, (least / 1.5..most * 12.0).log_scale())?;
    chart
        .configure_mesh()
        .x_desc("token position")
        .y_desc("relative error of the hidden state before the head")
        .y_label_formatter(&|value| format!("{value:.0e}"))
        .axis_desc_style(("sans-serif", 16))
        .label_style(("sans-serif", 14))
        .light_line_style(WHITE)
        .draw()?;
    // Two pairs of curves all but coincide: the NPU's lie below the CPU's, wider and paler.
    let below = |kept: &Kept| kept.device == NPU;
    for (kept, curve) in
        curves.iter().filter(|(kept, _)| below(kept)).chain(curves.iter().filter(|(kept, _)| !below(kept)))
    {
        let style = match below(kept) {
            true => kept.color.mix(0.45).stroke_width(8),
            false => kept.color.stroke_width(2),
        };
        chart.draw_series(LineSeries::new(curve.iter().copied().enumerate(), kept.color.mix(0.2)))?;
        let windows = curve.chunks(WINDOW).enumerate();
        let windows = windows.map(|(i, part)| (i * WINDOW + part.len() / 2, mean(part.iter().copied())));
        chart
            .draw_series(LineSeries::new(windows, style))?
            .label(kept.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 24, y)], style));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .legend_area_size(32)
        .label_font(("sans-serif", 14))
        .background_style(WHITE)
        .border_style(BLACK.mix(0.4))
        .draw()?;
    root.present()?;
    Ok(())
}
