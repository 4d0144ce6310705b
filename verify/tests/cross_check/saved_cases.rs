//! Case files and layouts of one's own.

use kernel_gen::ddr::{DdrImage, DdrLayout, RowMajorF16};
use kernel_gen::ir::{Element, Operand};
use kernel_gen::library;
use verify::{CrossCheck, CrossCheckError, replay};

#[test]
fn a_file_that_is_no_case_says_so() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("case.json");
    let message = |text: &str| {
        std::fs::write(&file, text).expect("written");
        replay(&library::forward_q8(), &file).expect_err("refused").to_string()
    };
    assert!(message("{}").contains("not a case of this version"));
    let case = r#"{"kernel":"another","trial":{"arch":79,"extents":[1,1,1],"spare_rows":0,"first_strip":0,"tiles":{"Given":
        [32,32,32]},"families":["Uniform"],"magnitude":0,"weight_magnitude":0,"overflow":"Infinity","seed":0},"wrong":""}"#;
    assert!(message(case).contains("a case of kernel `another`"));
    std::fs::write(&file, case.replace("another", "forward_q8")).expect("written");
    replay(&library::forward_q8(), &file).expect("right");
    std::fs::remove_file(&file).expect("removed");
    let missing = replay(&library::forward_q8(), &file).expect_err("refused");
    assert!(missing.to_string().contains("case.json"), "{missing}");
}

/// FP16 rows whose effective values are said to be twice what they are: the check must see the difference.
struct Doubled;

impl DdrLayout for Doubled {
    fn holds(&self, operand: &Operand) -> bool {
        operand.element == Element::F16
    }

    fn image(&self, values: &[f32], rows: usize, cols: usize) -> DdrImage {
        let mut image = RowMajorF16.image(values, rows, cols);
        image.effective.iter_mut().for_each(|x| *x *= 2.0);
        image
    }
}

#[test]
fn a_layout_of_ones_own_is_used() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let check = CrossCheck::new(&library::forward_f16()).expect("it compiles").layout(Doubled).save_to(folder.path());
    assert!(matches!(check.cases(30).run(), Err(CrossCheckError::Wrong(_))));
}
