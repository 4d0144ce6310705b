//! Kernels that differ by architecture or direction, with requirements and 16-bit token rows, and mistakes in one branch.

use kernel_gen::{Kernel, emit_library, kernel, verify as check_kernel};
use verify::{CrossCheck, CrossCheckError};

kernel! {
    /// Y = X · Wᵀ: on V79 from row-major FP16 with BF16 rows, on V81 from Q8_0 tiles with FP16 rows and other tile sizes.
    kernel conditional {
        axes { m: token, n: out, k: in }

        when v79 {
            operand x: activation bf16 row_major[m, k] in ddr_stream;
            operand w: weight f16 row_major[n, k] in ddr_resident;
        } else {
            operand x: activation f16 row_major[m, k] in ddr_stream;
            operand w: weight q8_0_tiles[n, k] in ddr_resident;
        }
        operand y: output f32 row_major[m, n] in ddr_stream;

        when v79 {
            tunable mc in 32..=512;
        } else {
            tunable mc in [64, 128];
        }
        tunable nc in 32..=256;
        tunable kc in 32..=8192;
        when v81 {
            require kc >= nc;
        }
        require mc * kc <= vtcm_bytes / 8 && (nc.is_power_of_two() || n < 64);

        window xa: activation_tiles f16[mc, kc];
        when v79 {
            window ws: row_major f16[nc, kc] stages 2;
        } else {
            window ws: q8_0_tiles[nc, kc] stages 3;
        }
        window wb: weight_tiles f16[nc, kc];
        window yc: output_tiles f16[mc, nc];

        schedule {
            for mo in tiles(m, mc) {
                for ko in tiles(k, kc) {
                    pack_rows xa <- x[mo, ko] scale(row);
                    for no in tiles(n, nc) pipeline(ws) {
                        load ws <- w[no, ko];
                        when v79 {
                            scatter_words wb <- ws;
                        } else {
                            dequantise wb <- ws;
                        }
                        multiply yc <- xa * wb;
                        unpack_rows y[mo, no] += yc unscale(row) guard(60000);
                    }
                }
            }
        }

        reference |c, i, j| (0..c.k()).map(|k| c.x(i, k) * c.w(j, k)).sum()
    }

    /// Token rows in BF16 times W in Q8_0 tiles, in both directions.
    kernel bf16_pair for forward, input_grad {
        axes { m: token, f: free, r: contracted }

        operand x: activation bf16 row_major[m, r] in ddr_stream;
        operand w: weight q8_0_tiles[out, in] in ddr_resident;
        operand y: output f32 row_major[m, f] in ddr_stream;

        tunable mc in 32..=512;
        tunable fc in 32..=256;
        tunable rc in 32..=8192;

        window wq: q8_0_tiles[out, in] stages 2;
        when forward {
            window xt: activation_tiles f16[mc, rc];
            window wt: weight_tiles f16[fc, rc];
            window yt: output_tiles f16[mc, fc];
        } else {
            window xt: weight_tiles f16[mc, rc];
            window wt: activation_tiles f16[fc, rc];
            window yt: output_tiles f16[fc, mc];
        }

        schedule {
            for mo in tiles(m, mc) {
                for ro in tiles(r, rc) {
                    when forward {
                        pack_rows xt <- x[mo, ro] scale(row);
                    } else {
                        pack_cols xt <- x[mo, ro] scale(row);
                    }
                    for fo in tiles(f, fc) pipeline(wq) {
                        load wq <- w[out, in];
                        dequantise wt <- wq;
                        when forward {
                            multiply yt <- xt * wt;
                            unpack_rows y[mo, fo] += yt unscale(row) guard(60000);
                        } else {
                            multiply yt <- swap(xt, wt);
                            unpack_cols y[mo, fo] += yt unscale(row) guard(60000);
                        }
                    }
                }
            }
        }

        when forward {
            reference |c, i, j| (0..c.r()).map(|r| c.x(i, r) * c.w(j, r)).sum()
        } else {
            reference |c, i, j| (0..c.r()).map(|r| c.x(i, r) * c.w(r, j)).sum()
        }
    }
}

fn check(kernel: &Kernel) {
    if let Err(error) = CrossCheck::new(kernel).expect("it compiles").cases(300).run() {
        panic!("{error}");
    }
}

#[test]
fn a_kernel_computes_its_reference_on_every_architecture() {
    check(&conditional());
}

#[test]
fn both_directions_compute_their_references() {
    check(&forward_bf16_pair());
    check(&input_grad_bf16_pair());
}

/// What the cross-check says about `kernel` when `from`, behind `place`, is `to`.
fn altered(kernel: &Kernel, place: &str, from: &str, to: &str) -> String {
    let verified = check_kernel(kernel).expect("rules hold");
    let c = emit_library(std::slice::from_ref(&verified));
    let (head, tail) = c.split_at(c.find(place).expect("the place is there"));
    assert!(tail.contains(from));
    let c = format!("{head}{}", tail.replacen(from, to, 1));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut check = CrossCheck::with_c(verified, &c).expect("it compiles").cases(300).save_to(folder.path());
    match check.run().expect_err("the mistake is found") {
        CrossCheckError::Wrong(failure) => failure.to_string(),
        other => panic!("{other}"),
    }
}

#[test]
fn a_mistake_on_one_architecture_is_found_there() {
    let place = "static void conditional_on_v81_multiply_yc";
    let message = altered(&conditional(), place, "tiles_of(at->k_len);", "tiles_of(at->k_len) - (at->k_len > 32);");
    assert!(message.contains("V81, extents"), "{message}");
}

#[test]
fn rows_of_another_element_are_found() {
    let place = "static void forward_bf16_pair_pack_rows_xt";
    altered(&forward_bf16_pair(), place, "pf_pack_rows_bf16", "pf_pack_rows_f16");
}
