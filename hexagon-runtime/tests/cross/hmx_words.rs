//! HMX instructions as encoded words: built here bit by bit, and compared with the device layer's constants and with the bytes
//! of a linked library.

use std::collections::BTreeSet;
use std::fs;

use hexagon_runtime::cross::{Class, HmxOp, Opcode, Scan, ToolchainKind, build};
use kernel_gen::{Arch, device_dir, library, verify};

/// Field layouts, most significant bit first: P parse bits, s and t the registers Rs and Rt.
const LAYOUTS: [(HmxOp, &str); 7] = [
    (HmxOp::Clear, "1010 0110 1110 0000 PP00 0000 0001 0011"),
    (HmxOp::Bias, "1001 0010 000s ssss PP00 0011 1111 1110"),
    (HmxOp::Activation, "1001 0010 000s ssss PP0t tttt 1110 0100"),
    (HmxOp::Weight, "1001 0010 000s ssss PP1t tttt 1110 1111"),
    (HmxOp::StoreAccumulator, "1010 0110 111s ssss PP1t tttt 0000 0100"),
    (HmxOp::Convert, "1010 0110 111s ssss PP01 1010 0001 0000"),
    (HmxOp::Store, "1010 0110 111s ssss PP0t tttt 0001 1000"),
];

const INSIDE: u32 = 0b01;
const LAST: u32 = 0b11;

/// The word of `op` with these registers and parse bits.
fn word(op: HmxOp, rs: u32, rt: u32, parse: u32) -> u32 {
    let layout = LAYOUTS.iter().find(|(name, _)| *name == op).unwrap().1;
    let bits: Vec<char> = layout.chars().filter(|c| *c != ' ').collect();
    assert_eq!(bits.len(), 32);
    // Fields are consecutive bits, so each takes its value's bits from the top.
    let mut left = [('P', parse, 2), ('s', rs, 5), ('t', rt, 5)];
    bits.iter().fold(0, |word, bit| {
        let value = match bit {
            '0' => 0,
            '1' => 1,
            field => {
                let (_, value, count) = left.iter_mut().find(|(name, ..)| name == field).unwrap();
                *count -= 1;
                *value >> *count & 1
            }
        };
        word << 1 | value
    })
}

/// What the device layer issues, registers as its inline assembler fixes them.
fn issued() -> BTreeSet<u32> {
    BTreeSet::from([
        word(HmxOp::Clear, 0, 0, LAST),
        word(HmxOp::Bias, 0, 0, LAST),
        word(HmxOp::Activation, 0, 1, INSIDE),
        word(HmxOp::Weight, 2, 3, LAST),
        word(HmxOp::Convert, 0, 0, LAST),
        word(HmxOp::Store, 0, 1, LAST),
    ])
}

#[test]
fn words_published_elsewhere_fit_the_layouts() {
    for (op, rs, rt, parse, published) in [
        (HmxOp::Clear, 0, 0, LAST, 0xA6E0_C013),
        (HmxOp::Bias, 0, 0, LAST, 0x9200_C3FE),
        (HmxOp::Activation, 0, 1, INSIDE, 0x9200_41E4),
        (HmxOp::Activation, 0, 1, LAST, 0x9200_C1E4),
        (HmxOp::Weight, 2, 3, LAST, 0x9202_E3EF),
        (HmxOp::Weight, 0, 1, LAST, 0x9200_E1EF),
        (HmxOp::StoreAccumulator, 0, 1, LAST, 0xA6E0_E104),
        (HmxOp::Convert, 9, 0, LAST, 0xA6E9_DA10),
        (HmxOp::Store, 6, 7, LAST, 0xA6E6_C718),
    ] {
        assert_eq!(word(op, rs, rt, parse), published, "{op:?}: {:08x}", word(op, rs, rt, parse));
    }
}

#[test]
fn the_device_layer_has_these_words() {
    let text = fs::read_to_string(device_dir().join("hmx_hexagon.h")).unwrap();
    let mut found = BTreeSet::new();
    for words in text.split(".word ").skip(1) {
        let words = &words[..words.find('"').unwrap()];
        found.extend(words.split(", ").map(|w| u32::from_str_radix(w.strip_prefix("0x").unwrap(), 16).unwrap()));
    }
    assert_eq!(found, issued());
}

#[test]
fn a_word_is_read_back_as_its_instruction_with_any_registers() {
    for (op, _) in LAYOUTS {
        for registers in 0..32 * 32 {
            for parse in [INSIDE, LAST] {
                let word = word(op, registers / 32, registers % 32, parse);
                let opcode = Opcode { word, text: "<unknown>".into() };
                assert_eq!((opcode.class(), opcode.ends_packet()), (Class::Hmx(op), parse == LAST), "{word:08x}");
            }
        }
    }
}

#[test]
fn a_linked_library_has_these_words_and_pairs_its_loads() {
    let Some(_) = super::tools() else { return };
    let kernels: Vec<_> = library::all().iter().map(|kernel| verify(kernel).unwrap()).collect();
    let folder = tempfile::tempdir().unwrap();
    let built = build(&kernels, Arch::V79, ToolchainKind::Llvm, &folder.path().join("library")).unwrap();
    let scan: &Scan = &built.scan;
    let words: BTreeSet<u32> =
        scan.special.iter().filter(|f| matches!(f.class, Class::Hmx(_))).map(|f| f.opcode.word).collect();
    assert_eq!(words, issued());
    assert!(scan.lone_loads.is_empty());
    assert_eq!(scan.count(Class::Hmx(HmxOp::Activation)), scan.count(Class::Hmx(HmxOp::Weight)));
    assert_eq!(scan.count(Class::Hmx(HmxOp::Convert)), scan.count(Class::Hmx(HmxOp::Store)));
}
