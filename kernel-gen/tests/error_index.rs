//! The error index of the author's guide names cases that exist, and there are enough of them.

use std::fs;
use std::path::Path;

const GUIDE: &str = include_str!("../../docs/kernel-author-guide.md");
const VERIFIER: &str = include_str!("snapshots/verifier__messages_of_the_verifier.snap");
const PLANNER: &str = include_str!("snapshots/planner__messages_say_what_to_do.snap");
const REQUIREMENTS: &str = include_str!("snapshots/planner__messages_of_requirements.snap");
const RUNS: [&str; 3] = [
    include_str!("../../verify/tests/cross_check/broken_bodies.rs"),
    include_str!("../../verify/tests/cross_check/broken_references.rs"),
    include_str!("../../verify/tests/cross_check/steps.rs"),
];
const DEVICE: &str = include_str!("../../verify/tests/plans_by_hand.rs");

/// The tables of defects.
fn traps() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../verify/tests/traps/defects");
    let files = fs::read_dir(path).expect("a folder of defects").map(|entry| entry.unwrap().path());
    files.map(|file| fs::read_to_string(file).unwrap()).collect()
}

fn ui(folder: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui").join(folder);
    let names = fs::read_dir(path).expect("a folder of cases").map(|entry| entry.unwrap().file_name());
    names.map(|name| name.into_string().unwrap()).filter(|name| name.ends_with(".rs")).collect()
}

#[test]
fn every_case_of_the_index_exists() {
    let start = GUIDE.find("### Error index").expect("the index");
    let index = &GUIDE[start..start + GUIDE[start..].find("\n## ").expect("a section behind it")];
    let (failing, traps) = (ui("fail"), traps());
    let mut cases = 0;
    for row in index.lines().filter(|line| line.starts_with("| ")) {
        let list = row.split('|').nth(3).expect("three columns");
        for case in list.split('`').skip(1).step_by(2) {
            cases += 1;
            let exists = match case.split_once([':', '/']) {
                Some(("fail", file)) => failing.iter().any(|name| name == file),
                Some(("verifier", name)) => VERIFIER.lines().any(|line| line.strip_prefix("===") == Some(name)),
                Some(("plan", words)) => [PLANNER, REQUIREMENTS].iter().any(|text| text.contains(words.trim())),
                Some(("trap", words)) => traps.iter().any(|text| text.contains(words.trim())),
                Some(("run", words)) => RUNS.iter().any(|text| text.contains(words.trim())),
                Some(("device", words)) => DEVICE.contains(words.trim()),
                _ => false,
            };
            assert!(exists, "the index names `{case}`, which is nowhere");
        }
    }
    assert!(cases > 50, "only {cases} cases read: has the table changed its form?");
}

#[test]
fn there_are_enough_cases() {
    let (failing, passing) = (ui("fail").len(), ui("pass").len());
    let altered = VERIFIER.lines().filter(|line| line.starts_with("=== ")).count();
    println!("{failing} failing and {passing} passing kernels of the macro, {altered} kernels the verifier refuses");
    assert!(failing >= 20 && altered >= 20 && passing >= 10, "{failing}, {altered}, {passing}");
}
