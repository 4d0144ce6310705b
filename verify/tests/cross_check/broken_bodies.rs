//! Bodies that crash, never end, end the process or make what is not a number. Each must end as a case that is saved and says what
//! it is; the test process goes on.

use std::time::Duration;

use kernel_gen::{emit_library, kernel, verify as check_kernel};
use verify::cross_check::{Failure, Wrong};
use verify::{CrossCheck, CrossCheckError};

/// The line of the body's first statement.
const BODY_LINE: u32 = line!() + 6;
kernel! {
    layout upper_bytes { tile_bytes: 1024 }

    step widen_bytes: upper_bytes -> f16_tiles pairs(cols) {
        body r"
            pf_vec low = pf_vzero();
            for (uint32_t i = 0; i < 8; i++) {
                pf_vec_pair halves = pf_vshuff(pf_vload(dev, from + i * PF_VECTOR_BYTES), low, -1);
                pf_vstore(dev, to + 2u * i * PF_VECTOR_BYTES, halves.lo);
                pf_vstore(dev, to + (2u * i + 1u) * PF_VECTOR_BYTES, halves.hi);
            }
        ";
        reference |tile, p, q| half::f16::from_bits(u16::from(tile.byte((p >> 1) * 64 + 2 * q + (p & 1))) << 8).to_f64()
    }

    kernel forward_bytes {
        axes { m: token, n: out, k: in }
        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight upper_bytes[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;
        tunable mc in 32..=512;
        tunable nc in 32..=256;
        tunable kc in 32..=8192;
        window xa: activation_tiles f16[mc, kc];
        window wq: upper_bytes[nc, kc] stages 2;
        window wb: weight_tiles f16[nc, kc];
        window yc: output_tiles f16[mc, nc];
        schedule {
            for mo in tiles(m, mc) {
                for ko in tiles(k, kc) {
                    pack_rows xa <- x[mo, ko] scale(row);
                    for no in tiles(n, nc) pipeline(wq) {
                        load wq <- w[no, ko];
                        apply widen_bytes wb <- wq split(n);
                        multiply yc <- xa * wb;
                        unpack_rows y[mo, no] += yc unscale(row) guard(60000);
                    }
                }
            }
        }
        reference |c, i, j| (0..c.k()).map(|k| c.x(i, k) * c.w(j, k)).sum()
    }
}

/// The cross-check with `statement` in front of the body's first.
fn with(statement: &str) -> Result<CrossCheck, CrossCheckError> {
    let verified = check_kernel(&forward_bytes()).expect("sound");
    let first = "pf_vec low = pf_vzero();";
    let c = emit_library(std::slice::from_ref(&verified));
    assert!(c.contains(first));
    CrossCheck::with_c(verified, &c.replacen(first, &format!("{statement} {first}"), 1))
}

/// What a run of it finds, and finds again in the saved case.
fn found(statement: &str) -> Failure {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let check = with(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
    let mut check = check.cases(20).save_to(folder.path()).time_limit(Duration::from_secs(1));
    match check.run() {
        Err(CrossCheckError::Wrong(failure)) => {
            let path = failure.saved.as_ref().expect("saved").as_ref().expect("a file");
            assert!(failure.to_string().contains("kernel `forward_bytes`"), "{failure}");
            let Err(CrossCheckError::Wrong(again)) = check.replay(path) else { panic!("{statement}: replay passes") };
            assert_eq!(again.wrong, failure.wrong, "{statement}");
            *failure
        }
        Err(other) => panic!("{statement}: {other}"),
        Ok(cases) => panic!("{statement} passed {cases} cases"),
    }
}

#[test]
fn the_step_that_crashes_is_named() {
    for (statement, says) in [
        ("*(volatile uint32_t *)8 = 1;", "SIGSEGV"),
        ("volatile uint32_t zero = 0; zero = 7u / zero;", "SIGFPE"),
        ("volatile uint8_t room[1u << 24]; room[from[0] << 12] = 1; room[0] = 1;", "SIGSEGV"),
        ("extern void abort(void); abort();", "abort"),
    ] {
        let failure = found(statement);
        let text = failure.wrong.to_string();
        assert!(matches!(failure.wrong, Wrong::Device(_)), "{text}");
        for part in [says, "broken_bodies.rs:", "step `apply widen_bytes wb` at m=0, k=0, n=0"] {
            assert!(text.contains(part), "{statement}: no `{part}` in {text}");
        }
        assert_eq!(failure.trial.extents, [1, 1, 1], "it is shrunk");
    }
}

#[test]
fn a_kernel_that_ends_its_process_did_not_pass() {
    let text = found("extern void exit(int); exit(0);").wrong.to_string();
    assert_eq!(text, "on the checked model the C ended its process with exit code 0: a kernel returns to its caller");
    let only_fast = "if (sizeof(pf_vec) == PF_VECTOR_BYTES) { *(volatile uint32_t *)8 = 1; }";
    let text = found(only_fast).wrong.to_string();
    assert_eq!(text, "on the fast model the C crashed (SIGSEGV): an access to memory that is not there");
}

#[test]
fn a_kernel_that_does_not_end_is_stopped() {
    for (statement, place) in [
        ("for (;;) { }", "step `apply widen_bytes wb`"),
        ("while (sizeof(pf_vec) == PF_VECTOR_BYTES) { }", "on the fast model"),
    ] {
        let failure = found(statement);
        let text = failure.wrong.to_string();
        assert!(matches!(failure.wrong, Wrong::Hung(_)), "{text}");
        assert!(text.contains("does not end") && text.contains(place), "{text}");
        assert!(failure.to_string().contains("as drawn: every try at a smaller case"), "{failure}");
    }
}

#[test]
fn a_body_that_makes_nan_is_told_from_an_overflow() {
    let nan = "for (uint32_t i = 0; i < 16; i++) pf_vstore(dev, to + i * 128u, pf_vsplat_half(0x7E00)); return;";
    let text = found(nan).wrong.to_string();
    assert!(text.contains("the kernel computes NaN in column 0, where the reference says"), "{text}");
}

#[test]
fn what_gcc_refuses_is_named_where_it_is_written() {
    let refused = |statement| match with(statement) {
        Err(CrossCheckError::Compile(error)) => error.to_string(),
        Err(other) => panic!("{statement}: {other}"),
        Ok(_) => panic!("{statement}: compiles"),
    };
    for (statement, says) in [
        ("pf_vnothing(dev, to);", "pf_vnothing"),
        ("extern void nowhere(void); nowhere();", "undefined reference to `nowhere'"),
        ("uint32_t two = 1 +;", "expected expression"),
    ] {
        let text = refused(statement);
        assert!(text.contains(says), "{statement}: {text}");
        if !says.starts_with("undefined") {
            assert!(text.contains(&format!("cross_check/broken_bodies.rs:{BODY_LINE}:")), "{statement}: {text}");
            assert!(!text.contains("/tmp/"), "a file that is gone: {text}");
        }
    }
    // Lines behind the body are those of the emitted text, and quoted.
    let verified = check_kernel(&forward_bytes()).expect("sound");
    let c = emit_library(std::slice::from_ref(&verified)).replacen("pf_own_end(dev);", "pf_own_end(dev) +;", 1);
    let line = 1 + c[..c.find("pf_own_end(dev) +;").expect("an own step")].matches('\n').count();
    let text = CrossCheck::with_c(verified, &c).err().expect("refused").to_string();
    assert!(text.contains(&format!("kernels.h:{line}:")) && text.contains("pf_own_end(dev) +;"), "{text}");
}
