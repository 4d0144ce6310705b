//! What a sound file gives.

use super::built::{Built, U32, open_bytes, tokens};
use super::dequantise::dequantise;
use super::element::Element;
use crate::architecture::Decoder;
use crate::registry::PrecisionPolicy;
use crate::registry::{Architecture, ModelConfig, Rope};
use crate::weight_cache::{WeightCache, WeightCachePlace, WeightCacheUse};
use half::f16;
use hexagon_runtime::{Precision, RuntimeBuilder, RuntimeConfig};

#[test]
fn configuration_and_names() {
    let model = Built::sound().open().unwrap();
    assert_eq!(
        model.config,
        ModelConfig {
            architecture: Architecture::Llama,
            hidden: 32,
            layers: 1,
            heads: 2,
            kv_heads: 1,
            head_dim: 16,
            rotary_dim: 16,
            intermediate: 64,
            vocab: tokens().len(),
            norm_eps: 1e-5,
            rope: Rope { theta: 1e5, scaling: None },
            tied_head: true,
            max_positions: 128,
            delta_net: None,
        }
    );
    let mut wanted: Vec<String> = model.config.tensor_shapes().into_iter().map(|(name, _)| name).collect();
    wanted.sort();
    assert_eq!(model.tensors.names(), wanted);
    assert!(model.tensors.read_f32("lm_head.weight").is_err());
}

#[test]
fn an_output_tensor_makes_the_head_its_own() {
    let mut built = Built::sound();
    built.add_f32("output.weight", &[32, tokens().len() as u64]);
    let (_file, opened) = open_bytes(&built.bytes());
    let model = opened.unwrap();
    assert!(!model.config.tied_head);
    assert!(model.tensors.read_f32("lm_head.weight").is_ok());
}

#[test]
fn version_2_and_other_alignments_open() {
    let mut built = Built::sound();
    built.version = 2;
    built.open().unwrap();
    // The builder pads to 32, which every smaller power of two divides.
    for alignment in [1u32, 8, 16, 32] {
        built.set("general.alignment", U32, alignment.to_le_bytes().into());
        // Data begins at the next multiple of the alignment, which is 32 only for 32.
        let opened = built.open();
        assert!(opened.is_ok(), "{alignment}: {:?}", opened.err());
    }
}

/// Values are the flat index in the file, 32 to a row.
#[test]
fn rotary_rows_come_back_half_split() {
    let (_file, opened) = open_bytes(&Built::sound().bytes());
    let tensors = opened.unwrap().tensors;
    let rows = |name: &str| -> Vec<usize> {
        let values = tensors.read_f32(name).unwrap();
        values.chunks(32).map(|row| row[0] as usize / 32).collect()
    };
    let head = |start: usize| {
        let pairs = start..start + 16;
        pairs.clone().step_by(2).chain(pairs.skip(1).step_by(2))
    };
    let wanted: Vec<usize> = head(0).chain(head(16)).collect();
    assert_eq!(rows("model.layers.0.self_attn.q_proj.weight"), wanted);
    let wanted: Vec<usize> = head(0).collect();
    assert_eq!(rows("model.layers.0.self_attn.k_proj.weight"), wanted);
    let wanted: Vec<usize> = (0..16).collect();
    assert_eq!(rows("model.layers.0.self_attn.v_proj.weight"), wanted);
}

#[test]
fn q8_0_blocks_are_handed_out_as_stored_in_canonical_order() {
    let mut built = Built::sound();
    let query = built.tensor("blk.0.attn_q.weight");
    query.element = 8;
    query.data = (0..32u8)
        .flat_map(|row| {
            let scale = f16::from_f32(0.5).to_le_bytes();
            scale.into_iter().chain([row; 32])
        })
        .collect();
    let (_file, opened) = open_bytes(&built.bytes());
    let tensors = opened.unwrap().tensors;
    let name = "model.layers.0.self_attn.q_proj.weight";
    let blocks = tensors.q8_0_blocks(name).unwrap().unwrap();
    let values = tensors.read_f32(name).unwrap();
    assert_eq!(blocks.len(), 32 * 34);
    for (row, block) in blocks.chunks(34).enumerate() {
        let mut dequantised = [0.0; 32];
        dequantise(Element::Q8_0, block, &mut dequantised);
        assert_eq!(dequantised, values[row * 32..][..32]);
    }
    assert_eq!(blocks[34 + 2], 2, "row 1 of the canonical order is row 2 of the file");
    let other = tensors.q8_0_blocks("model.norm.weight").unwrap();
    assert_eq!(other, None);

    let infinite = f16::INFINITY.to_le_bytes();
    built.tensor("blk.0.attn_q.weight").data[34..36].copy_from_slice(&infinite);
    let (_file, opened) = open_bytes(&built.bytes());
    let error = opened.unwrap().tensors.q8_0_blocks(name).unwrap_err();
    assert!(error.to_string().contains("inf at index 256"), "{error}");
}

#[test]
fn fingerprint_follows_the_weights_and_nothing_else() {
    let print = |built: &Built| {
        let (_file, opened) = open_bytes(&built.bytes());
        opened.unwrap().tensors.fingerprint().unwrap()
    };
    let sound = print(&Built::sound());
    assert_eq!(sound.len(), 64);
    let mut renamed = Built::sound();
    renamed.set("general.name", super::built::STRING, super::built::text("x"));
    renamed.tensors.reverse();
    assert_eq!(print(&renamed), sound);
    let mut other = Built::sound();
    other.tensor("blk.0.ffn_down.weight").data[2] ^= 1;
    assert_ne!(print(&other), sound);
}

#[test]
fn a_stream_is_what_is_read_at_once() {
    for quantised in [false, true] {
        let mut built = Built::sound();
        if quantised {
            for name in ["blk.0.ffn_up.weight", "blk.0.attn_q.weight"] {
                let tensor = built.tensor(name);
                tensor.element = 8;
                let rows = tensor.extents[1] as u8;
                tensor.data = (0..rows).flat_map(|row| [[0, 0x38 + row % 4].as_slice(), &[row; 32]].concat()).collect();
            }
        }
        let (_file, opened) = open_bytes(&built.bytes());
        let tensors = opened.unwrap().tensors;
        for name in tensors.names() {
            let mut streamed = Vec::new();
            tensors.stream_f32(&name, &mut |piece| streamed.extend_from_slice(piece)).unwrap();
            assert_eq!(streamed, tensors.read_f32(&name).unwrap(), "{name}");
        }
    }
}

/// What the same bytes mean depends on the width of a rotary head.
#[test]
fn equal_tensors_of_other_heads_are_decoded_in_another_way() {
    let print = |heads: u32| {
        let mut built = Built::sound();
        built.set("llama.attention.head_count", U32, heads.to_le_bytes().to_vec());
        built.set("llama.attention.head_count_kv", U32, (heads / 2).to_le_bytes().to_vec());
        let (_file, opened) = open_bytes(&built.bytes());
        let tensors = opened.unwrap().tensors;
        (tensors.fingerprint().unwrap(), tensors.decoding())
    };
    let (two, four) = (print(2), print(4));
    assert_eq!(two.0, four.0);
    assert_ne!(two.1, four.1);
}

#[test]
fn quantised_weights_come_back_from_the_cache_and_stored_ones_from_the_file() {
    let mut built = Built::sound();
    let up = built.tensor("blk.0.ffn_up.weight");
    up.element = 8;
    up.data = (0..64u8).flat_map(|row| [[0, 0x38].as_slice(), &[row; 32]].concat()).collect();
    // Too large for FP16: kept in f32, with and without a cache.
    built.tensor("blk.0.ffn_down.weight").data[..4].copy_from_slice(&1e6f32.to_le_bytes());
    let (_file, opened) = open_bytes(&built.bytes());
    let model = opened.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let policy = PrecisionPolicy::uniform(Precision::Q8);
    let load = |place: &WeightCachePlace| {
        let mut builder = RuntimeBuilder::new(RuntimeConfig::default());
        let mut cache = WeightCache::open(&model, &policy, place).unwrap();
        let decoder = Decoder::load_cached(&model, &mut builder, policy, &mut cache).unwrap();
        let used = cache.keep(&model, &builder);
        let tiles: Vec<_> = builder.q8_tiles().map(|(name, tiles)| (name.to_owned(), tiles.bytes().to_vec())).collect();
        (tiles, used, decoder.loading_peak())
    };
    let (expected, unused, _) = load(&WeightCachePlace::Off);
    assert_eq!((expected.len(), unused), (6, WeightCacheUse::Unused));
    let place = WeightCachePlace::In(folder.path().to_owned());
    let (made, WeightCacheUse::Made(path), quantising) = load(&place) else { panic!("nothing was made") };
    assert_eq!(made, expected);
    let (read, used, reading) = load(&place);
    assert_eq!((read, used), (expected, WeightCacheUse::Read(path.clone())));
    assert!(reading <= quantising);
    let bytes = std::fs::read(path).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains("mlp.gate_proj") && !text.contains("mlp.up_proj") && !text.contains("mlp.down_proj"));
}

/// Expected numbers are those of the `gguf` Python package (numpy code, version 0.19.0) on the
/// same bytes: eight values, and the sum of all values weighted 1..=17 by position.
#[test]
fn dequantised_values_equal_the_reference() {
    for (element, second, wanted, sum) in [
        (
            Element::Q4_0,
            false,
            [
                -0.086090087890625,
                0.012298583984375,
                0.036895751953125,
                0.012298583984375,
                6.076171875,
                -3.0380859375,
                -8.1015625,
                -3.0380859375,
            ],
            -250.11502075195312,
        ),
        (
            Element::Q4_1,
            true,
            [
                -0.6817626953125,
                -0.632568359375,
                -0.644866943359375,
                -0.55877685546875,
                6.6396484375,
                0.5634765625,
                10.6904296875,
                1.576171875,
            ],
            1443.9897766113281,
        ),
        (
            Element::Q5_0,
            false,
            [
                0.12298583984375,
                -0.012298583984375,
                -0.12298583984375,
                -0.12298583984375,
                2.025390625,
                -7.0888671875,
                -3.0380859375,
                -2.025390625,
            ],
            174.970703125,
        ),
        (
            Element::Q8_0,
            false,
            [
                1.389739990234375,
                -0.873199462890625,
                -0.332061767578125,
                0.86090087890625,
                -87.091796875,
                125.57421875,
                95.193359375,
                28.35546875,
            ],
            6111.145294189453,
        ),
        (
            Element::Q4K,
            true,
            [
                3.4296875,
                3.6756591796875,
                2.937744140625,
                1.7078857421875,
                28.127197265625,
                7.3095703125,
                127.4384765625,
                117.3115234375,
            ],
            740106.4093017578,
        ),
        (
            Element::Q5K,
            true,
            [
                4.905517578125,
                7.6112060546875,
                1.953857421875,
                7.857177734375,
                23.994873046875,
                826.8994140625,
                1778.5810546875,
                1505.1533203125,
            ],
            1434923.4244689941,
        ),
        (
            Element::Q6K,
            false,
            [
                14.475433349609375,
                9.211639404296875,
                8.63360595703125,
                -7.67431640625,
                -7.74810791015625,
                -904.3369140625,
                -1687.150390625,
                30.380859375,
            ],
            189257.43939208984,
        ),
    ] {
        let (size, count) = (element.block_bytes(), element.block_values());
        let mut bytes: Vec<u8> =
            (0..2 * size as u32).map(|index| ((index * index * 7 + index * 37 + 11) % 251) as u8).collect();
        for block in 0..2 {
            let mut put = |at: usize, value: f32| {
                let at = block * size + at;
                bytes[at..at + 2].copy_from_slice(&f16::from_f32(value).to_le_bytes());
            };
            let scale = 0.0123 + block as f32;
            put(if element == Element::Q6K { 208 } else { 0 }, scale);
            if second {
                put(2, -0.731 * (block + 1) as f32);
            }
        }
        let mut values = vec![0.0; 2 * count];
        dequantise(element, &bytes, &mut values);
        let places = [0, 1, 17, 31, 33, count, 2 * count - 20, 2 * count - 1];
        assert_eq!(places.map(|place| f64::from(values[place])), wanted, "{element:?}");
        let found: f64 =
            values.iter().enumerate().map(|(index, &value)| f64::from(value) * (index % 17 + 1) as f64).sum();
        assert_eq!(found, sum, "{element:?}");
    }
}

#[test]
fn half_types() {
    let mut out = [0.0; 2];
    dequantise(Element::BF16, &[0x80, 0x3f, 0x20, 0xc1], &mut out);
    assert_eq!(out, [1.0, -10.0]);
    dequantise(Element::F16, &[0x00, 0x3c, 0x01, 0x00], &mut out);
    assert_eq!(out, [1.0, 2f32.powi(-24)]);
}

/// Qwen2 has biases, Qwen3 norms of heads; neither interleaves its rotary rows.
#[test]
fn qwen2_and_qwen3_have_their_own_tensors_and_row_order() {
    type Extra<'a> = (&'a str, Architecture, &'a [(&'a str, u64)]);
    let extras: [Extra; 2] = [
        ("qwen2", Architecture::Qwen2, &[("attn_q.bias", 32), ("attn_k.bias", 16), ("attn_v.bias", 16)]),
        ("qwen3", Architecture::Qwen3, &[("attn_q_norm.weight", 16), ("attn_k_norm.weight", 16)]),
    ];
    for (name, architecture, tensors) in extras {
        let mut built = Built::renamed(name);
        for (part, len) in tensors {
            built.add_f32(&format!("blk.0.{part}"), &[*len]);
        }
        let model = built.open().unwrap();
        assert_eq!(model.config.architecture, architecture);
        let mut wanted: Vec<String> = model.config.tensor_shapes().into_iter().map(|(name, _)| name).collect();
        wanted.sort();
        assert_eq!(model.tensors.names(), wanted);
        let rows = model.tensors.read_f32("model.layers.0.self_attn.q_proj.weight").unwrap();
        assert!(rows.iter().enumerate().all(|(index, value)| *value == index as f32), "{name}: rows were moved");
        // Without them the file is not of its architecture.
        built.tensors.pop();
        assert!(built.open().err().unwrap().to_string().contains("missing"));
    }
    let error = Built::renamed("qwen35").open().err().unwrap().to_string();
    assert!(error.contains("`qwen35`") && error.contains("Hugging Face folder"), "{error}");
}
