//! A model whose weights need more NPU sessions than one.

mod npu_run;
mod tiny_model;

use npu_run::NpuRun;

#[test]
fn a_run_over_two_sessions_gives_the_same_bits_and_says_what_each_did() {
    let run = NpuRun::new();
    let whole = run.train(&[]);
    assert!(whole.stdout.contains("NPU sessions  1 of up to 3.0 GB of weights each"), "{}", whole.stdout);
    // A layer has 32 640 bytes.
    let split = run.train(&["--session-bytes", "40kB"]);
    split.assert_bits_of(&whole);
    assert!(split.stdout.contains("NPU sessions  2 of up to 40.0 kB"), "{}", split.stdout);
    for (number, layer) in [(1, 0), (2, 1)] {
        let prefix = format!("  session {number} ");
        let line = split.stdout.lines().find(|line| line.starts_with(&prefix)).unwrap();
        let range = format!("model.layers.{layer}.self_attn.q_proj .. model.layers.{layer}.mlp.down_proj");
        assert!(line.contains("7 projections") && line.ends_with(&range) && !line.contains(" 0 requests"), "{line}");
    }
}
