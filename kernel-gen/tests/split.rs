//! What `split` changes: the emitted C, the explanation and the predicted time, and nothing that is counted.

use kernel_gen::{
    Arch, Kernel, Plan, Verified,
    cost::{Machine, cost, predict},
    emit_c,
    explain::explain,
    ir::Statement,
    library, verify,
};

fn without_split(mut kernel: Kernel) -> Verified {
    fn clear(body: &mut [Statement]) {
        for statement in body {
            match statement {
                Statement::Loop(l) => clear(&mut l.body),
                Statement::Step(step) => step.split = None,
            }
        }
    }
    clear(&mut kernel.schedule);
    verify(&kernel).unwrap()
}

#[test]
fn split_steps_are_as_long_as_the_longest_share() {
    let kernel = verify(&library::forward_q8()).unwrap();
    let alone = without_split(library::forward_q8());
    let (axes, tiles) = ([512, 2560, 2560], [512, 256, 2560]);
    let plan = Plan::with_tunables(&kernel, Arch::V79, &axes, 8 << 20, &tiles).unwrap();
    let machine = Machine::of(Arch::V79);
    assert_eq!(machine.workers(), 6);
    let [split, whole] = [&kernel, &alone].map(|k| cost(k, &plan, 0..512));
    assert_eq!(split.total, whole.total);
    assert_eq!(split.vector_packets, whole.vector_packets);
    assert_eq!(whole.busiest_packets, whole.vector_packets);
    for (step, runs) in split.steps.iter().zip([1, 10, 10, 10, 10]) {
        assert_eq!(step.runs, runs);
        // Of 16 strips of tokens a worker gets 3 at most, of 8 strips of weights 2.
        let (most, of) = if step.keyword == "dequantise" { (2, 8) } else { (3, 16) };
        assert_eq!(step.busiest_packets * of, step.vector_packets * most, "{}", step.label);
    }
    let [split, whole] = [&split, &whole].map(|c| predict(c, &machine).hvx_seconds);
    assert!(split < whole / 3.9, "{split} s against {whole} s");
}

#[test]
fn the_split_is_shown_and_emitted() {
    let kernel = verify(&library::forward_f16()).unwrap();
    let plan = Plan::with_tunables(&kernel, Arch::V81, &[64, 64, 64], 8 << 20, &[64, 64, 64]).unwrap();
    let text = explain(&kernel, &plan, 0..64).to_string();
    for line in [
        "pack_rows xa <- x[m, k] scale(row) split(m)",
        "scatter_words wb <- wr split(n)",
        "unpack_rows y[m, n] += yc unscale(row) guard(60000) split(m)",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert_eq!(emit_c(&kernel, Arch::V81).matches("pf_parallel(dev, ").count(), 3);
    let alone = emit_c(&without_split(library::forward_f16()), Arch::V81);
    assert!(!alone.contains("pf_parallel") && !alone.contains("workers"), "{alone}");
}
