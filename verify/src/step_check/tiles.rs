//! Input tiles that have broken bodies: simple ones first, so that the first wrong tile is one to look at.

use half::f16;
use kernel_gen::ddr::{DdrLayout, Q4Tiles, Q8Tiles};
use kernel_gen::ir::{StepInput, TileFormat};

use crate::family::Random;

/// Elements of a tile of any format of FP16 numbers.
const ELEMENTS: usize = 1024;
/// Tiles of a family that draws its numbers.
const DRAWN: usize = 16;

/// One input tile.
pub(super) struct Tile {
    /// What it is filled with.
    pub family: &'static str,
    /// As many as the step reads.
    pub bytes: Vec<u8>,
}

/// All tiles a step of this input is run on; the same on every run.
pub(super) fn tiles(input: StepInput) -> Vec<Tile> {
    let mut random = Random::new(7);
    match input {
        StepInput::F16 | StepInput::Rows(_) => halves(&mut random),
        StepInput::Packed(TileFormat::Q8_0, _) => quantised(&mut random, &Q8Tiles),
        StepInput::Packed(TileFormat::Q4_0, _) => quantised(&mut random, &Q4Tiles),
        StepInput::Packed(format, _) => packed(&mut random, format.bytes as usize),
    }
}

fn halves(random: &mut Random) -> Vec<Tile> {
    let tile = |family, numbers: &mut dyn Iterator<Item = f16>| Tile {
        family,
        bytes: numbers.take(ELEMENTS).flat_map(f16::to_le_bytes).collect(),
    };
    let mut tiles = vec![
        tile("zeros", &mut std::iter::repeat(f16::ZERO)),
        // Every position has a number of its own, so that an exchanged pair shows.
        tile("whole numbers from 0 to 1023 in the order of the tile", &mut (0..).map(|at| f16::from_f32(at as f32))),
        tile(
            "whole numbers from 0 to -1023 in the order of the tile",
            &mut (0..).map(|at| f16::from_f32(-(at as f32))),
        ),
    ];
    for _ in 0..DRAWN {
        tiles.push(tile("numbers up to 1", &mut std::iter::from_fn(|| Some(f16::from_f32(random.signed())))));
    }
    let mut finite: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).filter(|half| half.is_finite()).collect();
    for at in (1..finite.len()).rev() {
        finite.swap(at, random.below(at + 1));
    }
    let mut every = finite.into_iter();
    while every.len() >= ELEMENTS {
        tiles.push(tile("every finite FP16 number once, in any order", &mut every));
    }
    tiles
}

/// Tiles as a checkpoint's weights make them: any bytes are no tile of a format whose scales are quotients.
fn quantised(random: &mut Random, layout: &dyn DdrLayout) -> Vec<Tile> {
    let mut tile = |family, top: f32| {
        let values: Vec<f32> = (0..ELEMENTS).map(|_| random.signed() * top).collect();
        Tile { family, bytes: layout.image(&values, 32, 32).bytes }
    };
    let mut tiles = vec![tile("zeros", 0.0)];
    for (family, top) in [("weights up to 1", 1.0), ("weights up to 64", 64.0), ("weights up to 2^-9", 2f32.powi(-9))] {
        tiles.extend((0..DRAWN).map(|_| tile(family, top)));
    }
    tiles
}

fn packed(random: &mut Random, bytes: usize) -> Vec<Tile> {
    let mut tile = |family, mask: u8| Tile { family, bytes: (0..bytes).map(|_| random.bits() as u8 & mask).collect() };
    let mut tiles = vec![tile("zeros", 0), tile("bytes from 0 to 3", 3)];
    tiles.extend((0..4 * DRAWN).map(|_| tile("any bytes", 0xFF)));
    tiles
}

#[cfg(test)]
mod tests {
    use kernel_gen::ir::Pairs;

    use super::*;

    #[test]
    fn every_finite_number_is_met() {
        let mut met = vec![false; 1 << 16];
        for tile in tiles(StepInput::F16) {
            assert_eq!(tile.bytes.len(), 2 * ELEMENTS);
            tile.bytes.chunks(2).for_each(|half| met[usize::from(u16::from_le_bytes([half[0], half[1]]))] = true);
        }
        for bits in 0..=u16::MAX {
            assert_eq!(met[usize::from(bits)], f16::from_bits(bits).is_finite(), "{bits:#06x}");
        }
    }

    #[test]
    fn tiles_are_as_long_as_the_step_reads() {
        let own = TileFormat { name: "own", bytes: 1026, stride: 1280, dequantise: None };
        for format in [TileFormat::Q8_0, TileFormat::Q4_0, own] {
            let input = StepInput::Packed(format, Pairs::Cols);
            assert!(tiles(input).iter().all(|tile| tile.bytes.len() == format.bytes as usize));
        }
    }
}
