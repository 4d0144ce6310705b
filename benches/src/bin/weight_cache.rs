//! Loads a model with its Q8 weights made from the checkpoint and read from the weight cache, in turns, checks that both are the
//! same bytes, and prints what the cache saves.
//!
//! `cargo build --release -p trainer && cargo run --release -p benches --bin weight_cache`

use std::error::Error;
use std::time::Instant;

use benches::{Training, median};
use clap::Parser;
use hexagon_runtime::{RuntimeBuilder, RuntimeConfig};
use trainer::architecture::Decoder;
use trainer::model_file::ModelFile;
use trainer::registry::PrecisionPolicy;
use trainer::weight_cache::{WeightCache, WeightCachePlace, WeightCacheUse};

/// Times loading with and without the weight cache.
#[derive(Parser)]
struct Measurement {
    /// Model whose shapes are taken, weights in BF16.
    #[arg(long, default_value = "llama-3.2-1b")]
    preset: String,
    /// Layers of it.
    #[arg(long, default_value_t = 16)]
    layers: usize,
    /// Pairs of loads.
    #[arg(long, default_value_t = 5)]
    pairs: usize,
}

/// One load, in seconds.
#[derive(Clone, Copy)]
struct Seconds {
    /// SHA-256 over the checkpoint, which names an adapter's base model in any case.
    fingerprint: f64,
    /// Embedding, head and projections.
    load: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let measurement = Measurement::parse();
    if measurement.pairs == 0 {
        return Err("give at least 1 pair".into());
    }
    let folder = tempfile::tempdir()?;
    let model = Training::new(folder.path(), &measurement.preset, measurement.layers, 1, 1)?.model();
    let load = |place: &WeightCachePlace| -> Result<(Seconds, RuntimeBuilder, WeightCacheUse), Box<dyn Error>> {
        let file = ModelFile::open(&model)?;
        let start = Instant::now();
        file.tensors.fingerprint()?;
        let fingerprint = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let mut builder = RuntimeBuilder::new(RuntimeConfig::default());
        let mut cache = WeightCache::open(&file, &PrecisionPolicy::NPU, place)?;
        Decoder::load_cached(&file, &mut builder, PrecisionPolicy::NPU, &mut cache)?;
        let load = start.elapsed().as_secs_f64();
        let used = cache.keep(&file, &builder);
        Ok((Seconds { fingerprint, load }, builder, used))
    };
    let kept = WeightCachePlace::In(folder.path().join("cache"));
    let (_, made, used) = load(&kept)?;
    let WeightCacheUse::Made(path) = used else { return Err(format!("no cache was made: {used:?}").into()) };
    let megabytes = std::fs::metadata(path)?.len() as f64 / 1e6;
    let mut pairs = Vec::new();
    for _ in 0..measurement.pairs {
        let (without, builder, _) = load(&WeightCachePlace::Off)?;
        same(&made, &builder)?;
        drop(builder);
        let (with, builder, used) = load(&kept)?;
        same(&made, &builder)?;
        if !matches!(used, WeightCacheUse::Read(_)) {
            return Err(format!("the cache was not read: {used:?}").into());
        }
        pairs.push((without, with));
    }
    println!(
        "{} {} layers, {megabytes:.0} MB of cached weights, medians of {} pairs",
        measurement.preset,
        measurement.layers,
        pairs.len()
    );
    println!("| | from the checkpoint | from the cache | ratio |\n|---|---|---|---|");
    let line = |what: &str, seconds: &dyn Fn(&Seconds) -> f64| {
        let of = |pick: &dyn Fn(&(Seconds, Seconds)) -> f64| median(pairs.iter().map(pick).collect());
        let (without, with) = (of(&|pair| seconds(&pair.0)), of(&|pair| seconds(&pair.1)));
        let ratio = of(&|pair| seconds(&pair.0) / seconds(&pair.1));
        println!("| {what} | {without:.2} s | {with:.2} s | {ratio:.2} |");
    };
    line("loading", &|seconds| seconds.load);
    line("loading and fingerprint", &|seconds| seconds.load + seconds.fingerprint);
    Ok(())
}

/// Both hold the same weights, byte for byte.
fn same(a: &RuntimeBuilder, b: &RuntimeBuilder) -> Result<(), Box<dyn Error>> {
    let equal = a
        .q8_tiles()
        .map(|(name, tiles)| (name, tiles.bytes()))
        .eq(b.q8_tiles().map(|(name, tiles)| (name, tiles.bytes())));
    if equal { Ok(()) } else { Err("the cache gave other weights than the checkpoint".into()) }
}
