//! References that ask for what is not there, or give what is no number: each ends as a saved case that says which.

use hexagon_runtime::Overflow;
use kernel_gen::ir::{Reference, StepReference};
use kernel_gen::{Kernel, kernel, library};
use verify::cross_check::{Failure, Tiles, Trial, Wrong};
use verify::family::RowFamily;
use verify::{CrossCheck, CrossCheckError};

use super::authored::forward_e5m2;

kernel! {
    /// The indices of the weight are exchanged.
    kernel forward_exchanged {
        axes { m: token, n: out, k: in }
        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight f16 row_major[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;
        tunable mc in 32..=1024;
        tunable nc in 32..=256;
        tunable kc in 32..=8192;
        window xa: activation_tiles f16[mc, kc];
        window wr: row_major f16[nc, kc];
        window wb: weight_tiles f16[nc, kc];
        window yc: output_tiles f16[mc, nc];
        schedule {
            for mo in tiles(m, mc) {
                for ko in tiles(k, kc) {
                    pack_rows xa <- x[mo, ko] scale(row);
                    for no in tiles(n, nc) {
                        load wr <- w[no, ko];
                        scatter_words wb <- wr;
                        multiply yc <- xa * wb;
                        unpack_rows y[mo, no] += yc unscale(row) guard(60000);
                    }
                }
            }
        }
        reference |c, i, j| (0..c.k()).map(|k| c.x(i, k) * c.w(k, j)).sum()
    }
}
const EXCHANGED_LINE: u32 = line!() - 3;

fn found(kernel: &Kernel) -> Failure {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut check = CrossCheck::new(kernel).expect("it compiles").cases(20).save_to(folder.path());
    let Err(CrossCheckError::Wrong(failure)) = check.run() else { panic!("{} passes", kernel.name) };
    let path = failure.saved.as_ref().expect("saved").as_ref().expect("a file");
    let Err(CrossCheckError::Wrong(again)) = check.replay(path) else { panic!("{}: replay passes", kernel.name) };
    assert_eq!(again.wrong.to_string(), failure.wrong.to_string());
    for part in [kernel.name.as_str(), "case: V79", "again: verify::replay"] {
        assert!(failure.to_string().contains(part), "{failure}");
    }
    *failure
}

#[test]
fn exchanged_indices_are_named() {
    let failure = found(&forward_exchanged());
    let text = failure.wrong.to_string();
    assert!(matches!(failure.wrong, Wrong::Reference(_)), "{text}");
    let place = format!("broken_references.rs:{EXCHANGED_LINE}:");
    for part in ["the reference of the kernel panicked", "is outside operand `w[n, k]`", "which is", &place] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    // Shrunk until one index just leaves its extent.
    assert_eq!(failure.trial.extents[0], 1, "{failure}");
}

#[test]
fn a_reference_that_is_no_number_is_not_an_overflow() {
    let mut kernel = library::forward_f16();
    kernel.reference = Reference::new(|_, _, _| f64::NAN);
    let failure = found(&kernel);
    assert!(matches!(failure.wrong, Wrong::NotFinite { row: 0, column: 0, .. }), "{failure}");
    assert!(failure.to_string().contains("the reference of the kernel gives NaN for row 0, column 0"), "{failure}");
}

/// One case, without the check of the steps by themselves: what a saved case says.
fn tried(kernel: &Kernel) -> String {
    let trial = Trial {
        arch: 79,
        extents: vec![1, 1, 1],
        spare_rows: 0,
        first_strip: 0,
        tiles: Tiles::Given(vec![32, 32, 32]),
        families: vec![RowFamily::SmallIntegers],
        magnitude: 0,
        weight_magnitude: 0,
        overflow: Overflow::default(),
        seed: 0,
    };
    match CrossCheck::new(kernel).expect("it compiles").run_trial(&trial) {
        Err(CrossCheckError::Wrong(failure)) => failure.wrong.to_string(),
        other => panic!("{}: {other:?}", kernel.name),
    }
}

#[test]
fn a_byte_behind_the_tile_is_named() {
    let mut kernel = forward_e5m2();
    kernel.steps[0].reference = StepReference::new(|tile, _, _| f64::from(tile.byte(5000)));
    let text = tried(&kernel);
    for part in ["operand `w`", "the input tile has 1024 bytes", "byte 5000", "broken_references.rs:"] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}

#[test]
fn a_step_that_makes_no_number_is_named() {
    let mut kernel = forward_e5m2();
    kernel.steps[0].reference = StepReference::new(|_, _, _| f64::NAN);
    let text = tried(&kernel);
    assert!(text.contains("of operand `w` is NaN, by the reference of step `widen_e5m2`"), "{text}");
}

#[test]
fn a_reference_that_is_one_percent_off_ends_where_it_is_easy_to_read() {
    let mut kernel = library::forward_f16();
    // Operands 0 and 1 are x[m, k] and w[n, k]; axis 2 is k.
    kernel.reference = Reference::new(|c, i, j| {
        let product = |k| c.element(0, i, k) * c.element(1, j, k);
        1.01 * (0..c.extent(2)).map(product).sum::<f64>()
    });
    let failure = found(&kernel);
    assert_eq!(failure.trial.extents, [1, 1, 1], "{failure}");
    assert_eq!(failure.trial.families, [RowFamily::SmallIntegers], "{failure}");
    assert!(matches!(failure.wrong, Wrong::Output { .. }), "{failure}");
}

#[test]
fn a_reference_that_stops_beyond_the_usual_extents_is_found() {
    let mut kernel = library::forward_f16();
    kernel.reference = Reference::new(|c, i, j| {
        let product = |k| c.element(0, i, k) * c.element(1, j, k);
        (0..c.extent(2).min(300)).map(product).sum()
    });
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut check = CrossCheck::new(&kernel).expect("it compiles").cases(400).save_to(folder.path());
    let Err(CrossCheckError::Wrong(failure)) = check.run() else { panic!("it passes") };
    assert!(failure.trial.extents[2] > 300, "{failure}");
}
