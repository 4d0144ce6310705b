//! Which layers are stored and which are computed again, decided in bytes before the step.

/// One layer's share of the tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerBytes {
    /// Bytes of its input, kept in any case.
    pub input: u64,
    /// Bytes of the rest, kept if it is stored.
    pub stored: u64,
    /// Floating-point operations to compute the rest again.
    pub recompute_flops: u64,
}

/// What was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// One entry a layer: whether it is stored.
    pub stored: Vec<bool>,
    /// Most bytes of activations alive at once, the layer at work included.
    pub peak: u64,
}

impl Choice {
    /// No layer stored.
    pub fn recompute_all(layers: &[LayerBytes]) -> Choice {
        let stored = vec![false; layers.len()];
        Choice { peak: peak(layers, &stored), stored }
    }

    /// The layers computed again.
    pub fn recomputed(&self) -> Vec<usize> {
        self.stored.iter().enumerate().filter(|(_, stored)| !**stored).map(|(layer, _)| layer).collect()
    }
}

/// A budget below what even full recomputation needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "activations need at least {needed} bytes with every layer computed again, {cap} are allowed: raise \
     --activation-bytes, free memory, or take fewer tokens at a time (--micro-tokens, or shorter rows)"
)]
pub struct TooSmall {
    /// Bytes of the layers' inputs and the one layer at work.
    pub needed: u64,
    /// Bytes allowed.
    pub cap: u64,
}

/// Stores as much as `cap` bytes allow (`None`: everything), the layers that cost most to compute again for their bytes
/// first, among equal ones the last: the backward pass frees those before it computes the others again.
///
/// # Errors
/// [`TooSmall`] if the inputs of all layers and one layer at work do not fit.
pub fn choose(layers: &[LayerBytes], cap: Option<u64>) -> Result<Choice, TooSmall> {
    let Some(cap) = cap else {
        let stored = vec![true; layers.len()];
        return Ok(Choice { peak: peak(layers, &stored), stored });
    };
    let mut stored = vec![false; layers.len()];
    let mut least = peak(layers, &stored);
    if least > cap {
        return Err(TooSmall { needed: least, cap });
    }
    let mut order: Vec<usize> = (0..layers.len()).collect();
    let worth = |a: &LayerBytes, b: &LayerBytes| u128::from(a.recompute_flops) * u128::from(b.stored);
    order.sort_by(|&a, &b| worth(&layers[b], &layers[a]).cmp(&worth(&layers[a], &layers[b])).then(b.cmp(&a)));
    for layer in order {
        stored[layer] = true;
        match peak(layers, &stored) {
            bytes if bytes <= cap => least = bytes,
            _ => stored[layer] = false,
        }
    }
    Ok(Choice { stored, peak: least })
}

/// Most bytes alive at once. While a layer is at work, forward or backward, there are the inputs up to its own, the
/// stored layers below it, and the layer itself: those above are not there yet, or not any more.
fn peak(layers: &[LayerBytes], stored: &[bool]) -> u64 {
    let (mut below, mut most) = (0, 0);
    for (layer, stored) in layers.iter().zip(stored) {
        most = most.max(below + layer.input + layer.stored);
        below += layer.input + if *stored { layer.stored } else { 0 };
    }
    most.max(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EQUAL: LayerBytes = LayerBytes { input: 1, stored: 10, recompute_flops: 100 };

    #[test]
    fn without_a_cap_everything_is_stored() {
        assert_eq!(choose(&[EQUAL; 4], None), Ok(Choice { stored: vec![true; 4], peak: 44 }));
        assert_eq!(choose(&[], Some(0)), Ok(Choice { stored: vec![], peak: 0 }));
    }

    #[test]
    fn equal_layers_are_stored_from_the_last_down() {
        // Four inputs and one layer at work.
        let needed = 14;
        assert_eq!(choose(&[EQUAL; 4], Some(needed - 1)), Err(TooSmall { needed, cap: 13 }));
        // The last layer is alone with the inputs when it is at work, so storing it costs nothing more.
        let one = choose(&[EQUAL; 4], Some(needed)).unwrap();
        assert_eq!((one.recomputed(), one.peak), (vec![0, 1, 2], 14));
        let three = choose(&[EQUAL; 4], Some(43)).unwrap();
        assert_eq!((three.recomputed(), three.peak), (vec![0], 34));
        assert_eq!(choose(&[EQUAL; 4], Some(44)).unwrap().recomputed().len(), 0);
    }

    #[test]
    fn what_is_dear_to_compute_and_small_to_keep_is_stored_first() {
        let large = LayerBytes { input: 1, stored: 50, recompute_flops: 100 };
        let layers = [EQUAL, large, large, EQUAL];
        let choice = choose(&layers, Some(70)).unwrap();
        assert_eq!((choice.stored, choice.peak), (vec![true, false, false, true], 63));
        assert_eq!(choose(&layers, Some(80)).unwrap().stored, [true, false, true, true]);
    }

    #[test]
    fn a_choice_never_exceeds_its_cap() {
        let layers: Vec<LayerBytes> = (0..24u64)
            .map(|i| LayerBytes { input: 3 + i % 2, stored: 10 + (i * 7) % 13, recompute_flops: 40 + (i * 5) % 11 })
            .collect();
        let least = choose(&layers, Some(0)).unwrap_err().needed;
        let whole = choose(&layers, None).unwrap().peak;
        for cap in least..=whole {
            let choice = choose(&layers, Some(cap)).unwrap();
            assert!(choice.peak <= cap && choice.peak == peak(&layers, &choice.stored), "{cap}: {choice:?}");
        }
        assert_eq!(choose(&layers, Some(whole)).unwrap().recomputed().len(), 0);
    }
}
