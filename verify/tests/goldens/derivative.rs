//! Whole-model gradients against differences of the forward pass, at lengths and adapter shapes the
//! reference files may not have, and what position and packing must not change.

use super::folder::{self, Subject};
use std::path::Path;
use trainer::adapter::{Adapter, AdapterGrads, AdapterOptions};
use trainer::architecture::{NO_TARGET, Sequence, StepOptions};
use trainer::nodes::mix;

/// A number in [−1, 1).
fn draw(seed: u64, index: usize) -> f32 {
    (mix(seed << 40 | index as u64) >> 40) as f32 / 8_388_608.0 - 1.0
}

fn sequence(length: usize, vocab: usize, position: usize) -> Sequence {
    let ids: Vec<u32> = (0..length).map(|i| (mix((length * 1000 + i) as u64) % vocab as u64) as u32).collect();
    let label = |i: usize| if i % 3 == 1 { NO_TARGET } else { ids[i] as i32 };
    Sequence { labels: (0..length).map(label).collect(), ids, position }
}

/// An adapter on some projections only, with all its parameters away from zero.
fn adapter(subject: &Subject, targets: Option<&[&str]>) -> Adapter {
    let targets = targets.map(|t| t.iter().map(|t| (*t).to_owned()).collect());
    let options = AdapterOptions { rank: Some(3), alpha: Some(6.0), targets, ..AdapterOptions::default() };
    let mut adapter = Adapter::fresh(subject.decoder.projections(), &options).unwrap();
    adapter.values.iter_mut().enumerate().for_each(|(i, v)| *v += 0.1 * draw(1, i));
    adapter
}

#[test]
fn gradients_follow_differences_of_the_forward_pass() {
    folder::all().iter().for_each(|folder| follow_differences(folder));
}

fn follow_differences(folder: &Path) {
    let mut subject = Subject::cpu(folder);
    let vocab = subject.decoder.config().vocab;
    let mut choices: Vec<Option<&[&str]>> =
        vec![None, Some(&["down_proj"]), Some(&["up_proj"]), Some(&["o_proj"]), Some(&["k_proj", "gate_proj"])];
    let hybrid = subject.decoder.config().delta_net.is_some();
    if hybrid {
        choices.extend([Some(&["out_proj"][..]), Some(&["in_proj_a", "in_proj_z"]), Some(&["in_proj_b", "v_proj"])]);
    }
    for lengths in [vec![1], vec![2], vec![1, 67, 17], vec![129]] {
        let batch: Vec<Sequence> = lengths.iter().map(|n| sequence(*n, vocab, 0)).collect();
        let tokens: usize = lengths.iter().sum();
        let cotangent: Vec<f32> = (0..tokens * vocab).map(|i| draw(2, i)).collect();
        for targets in choices.iter().copied() {
            let start = adapter(&subject, targets);
            let mut grads = AdapterGrads::zeros(&start);
            let options = StepOptions::default();
            let (decoder, runtime) = (&subject.decoder, &mut subject.runtime);
            decoder.grad_from_cotangent(runtime, &start, &batch, &cotangent, &options, &mut grads).unwrap();
            // Along the gradient itself the slope is its norm.
            let norm = grads.values.iter().map(|g| f64::from(*g).powi(2)).sum::<f64>().sqrt();
            let mut value = |step: f64| -> f64 {
                let mut moved = start.clone();
                moved
                    .values
                    .iter_mut()
                    .zip(&grads.values)
                    .for_each(|(v, g)| *v += (step * f64::from(*g) / norm) as f32);
                let logits = decoder.logits(runtime, Some(&moved), &batch).unwrap();
                logits.iter().zip(&cotangent).map(|(l, c)| f64::from(*l) * f64::from(*c)).sum()
            };
            let slope = extrapolated(|h| (value(h) - value(-h)) / (2.0 * h));
            println!("{lengths:?} {targets:?} {norm:.1}: {:.1e}", (slope - norm).abs() / norm);
            assert!((slope - norm).abs() < 2e-3 * norm, "{lengths:?} {targets:?}: {slope} {norm}");
        }
    }
}

/// The slope at 0 from central differences: Richardson's rule takes their error to the fourth power of the step, and of
/// the steps the one is taken that agrees best with its neighbour: a longer one bends, a shorter one drowns in f32.
fn extrapolated(mut slope: impl FnMut(f64) -> f64) -> f64 {
    let slopes: Vec<f64> = (0..6).map(|halvings| slope(1e-2 / f64::from(1 << halvings))).collect();
    let estimates: Vec<f64> = slopes.windows(2).map(|pair| (4.0 * pair[1] - pair[0]) / 3.0).collect();
    let disagreement = |pair: &&[f64]| (pair[1] - pair[0]).abs();
    let best = estimates.windows(2).min_by(|a, b| disagreement(a).total_cmp(&disagreement(b)));
    best.map_or(f64::NAN, |pair| pair[1])
}

/// A lower adapted layer than needed is not reached, and what is reached does not depend on asking
/// for the embedding output's gradient too.
#[test]
fn skipping_what_nobody_needs_changes_no_bit() {
    folder::all().iter().for_each(|folder| skipping(folder));
}

fn skipping(folder: &Path) {
    let mut subject = Subject::cpu(folder);
    let vocab = subject.decoder.config().vocab;
    let batch = [sequence(40, vocab, 0), sequence(9, vocab, 0)];
    for targets in [None, Some(&["down_proj"][..]), Some(&["gate_proj"]), Some(&["o_proj"]), Some(&["v_proj"])] {
        let adapter = adapter(&subject, targets);
        let mut run = |inputs_embeds_grad| {
            let mut grads = AdapterGrads::zeros(&adapter);
            let options = StepOptions { inputs_embeds_grad, ..StepOptions::default() };
            let (decoder, runtime) = (&subject.decoder, &mut subject.runtime);
            let loss = decoder.loss_and_grad(runtime, &adapter, &batch, &options, &mut grads).unwrap();
            assert_eq!(loss.inputs_embeds_grad.is_some(), inputs_embeds_grad);
            grads.values
        };
        assert_eq!(run(false), run(true), "{targets:?}");
    }
}

#[test]
fn position_and_packing_change_next_to_nothing() {
    folder::all().iter().for_each(|folder| packing(folder));
}

fn packing(folder: &Path) {
    let mut subject = Subject::cpu(folder);
    let vocab = subject.decoder.config().vocab;
    let adapter = adapter(&subject, None);
    let (decoder, runtime) = (&subject.decoder, &mut subject.runtime);
    let (first, second) = (sequence(33, vocab, 0), sequence(70, vocab, 0));
    let mut logits = |batch: &[Sequence]| decoder.logits(runtime, Some(&adapter), batch).unwrap();
    let alone = logits(std::slice::from_ref(&second));
    let packed = logits(&[first.clone(), second.clone()]);
    let moved = logits(&[Sequence { position: 13, ..second.clone() }]);
    let peak = alone.iter().fold(0.0f32, |m, v| m.max(v.abs()));
    let off = |other: &[f32]| alone.iter().zip(other).fold(0.0f32, |m, (a, b)| m.max((a - b).abs())) / peak;
    let (packed, moved) = (off(&packed[first.ids.len() * vocab..]), off(&moved));
    println!("{}: packed {packed:.1e}, moved {moved:.1e}", folder.display());
    // Products of another number of rows round otherwise, which the delta rule enlarges.
    let limit = if subject.decoder.config().delta_net.is_some() { 1e-5 } else { 1e-6 };
    assert!(packed <= limit, "{}: {packed:e}", folder.display());
    // Rope depends on differences of positions only.
    assert!(moved <= 1e-5, "{}: {moved:e}", folder.display());
}
