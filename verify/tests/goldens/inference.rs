//! Inference with a cache gives what the whole sequence gives.

use super::case;
use super::folder::{self, Subject};
use std::path::Path;
use trainer::architecture::{ContextCache, Segment};

#[test]
fn a_shared_prefix_serves_several_continuations() {
    folder::all().iter().for_each(|folder| continuations(folder));
}

fn continuations(folder: &Path) {
    let mut subject = Subject::cpu(folder);
    let adapter = subject.adapter(&folder.join("adapter_init"));
    let sequences = case::all(folder).into_iter().flat_map(|case| case.batch);
    let mut whole = sequences.max_by_key(|sequence| sequence.ids.len()).unwrap();
    assert!(whole.ids.len() > 24);
    whole.position = 0;
    let mut other = whole.clone();
    other.ids[20..].reverse();
    let (decoder, runtime) = (&subject.decoder, &mut subject.runtime);
    let both = [whole.clone(), other.clone()];
    let expected = decoder.logits(runtime, Some(&adapter), &both).unwrap();

    // Rows 0..12 are the prefix; in one call, 12..20 continue it and two ends continue both.
    let len = whole.ids.len();
    let mut cache = ContextCache::new(decoder.config());
    let segment = |ids, position, context| Segment { ids, position, context };
    decoder.infer(runtime, Some(&adapter), &[segment(&whole.ids[..12], 0, vec![])], &mut cache).unwrap();
    assert_eq!(cache.len(), 12);
    cache.pin();
    let segments = [
        segment(&whole.ids[12..20], 12, vec![0..5, 5..12]),
        segment(&whole.ids[20..], 20, vec![0..12, 12..20]),
        segment(&other.ids[20..], 20, std::iter::once(0..20).collect()),
    ];
    let hidden = decoder.infer(runtime, Some(&adapter), &segments, &mut cache).unwrap();
    assert_eq!(cache.len(), 20 + 2 * (len - 20));

    let (width, vocab) = (decoder.config().hidden, decoder.config().vocab);
    let rows = (12..len).chain(len + 20..2 * len);
    let peak = expected.iter().fold(0.0f32, |m, v| m.max(v.abs()));
    for (index, row) in rows.enumerate() {
        let normed = &hidden[index * width..][..width];
        let exact = &expected[row * vocab..][..vocab];
        let logits = decoder.head_logits(normed);
        let off = logits.iter().zip(exact).fold(0.0f32, |m, (a, b)| m.max((a - b).abs())) / peak;
        assert!(off < 1e-5, "row {row}: {off}");
        let probs = decoder.log_probs(normed, &[vec![3, 7]]);
        let total = exact.iter().map(|v| f64::from(*v).exp()).sum::<f64>().ln();
        assert!((f64::from(probs[0][1]) - (f64::from(exact[7]) - total)).abs() < 1e-3);
    }

    cache.truncate(12);
    assert_eq!(cache.len(), 12);
    let again = decoder.infer(runtime, Some(&adapter), &segments[..1], &mut cache).unwrap();
    for (a, b) in again.iter().zip(&hidden) {
        assert!((a - b).abs() < 1e-5);
    }
    let beyond = [segment(&whole.ids[..1], 0, std::iter::once(0..99).collect())];
    assert!(decoder.infer(runtime, None, &beyond, &mut cache).is_err());
    // A recurrent layer has no state in the middle of a segment; attention does not mind.
    let inside = [segment(&whole.ids[..1], 0, std::iter::once(0..7).collect())];
    let found = decoder.infer(runtime, None, &inside, &mut cache);
    assert_eq!(found.is_err(), decoder.config().delta_net.is_some());
}
