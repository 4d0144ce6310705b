//! Conditions on tile sizes, one of them on one architecture.

kernel_gen::kernel! {
    /// Y = X · Wᵀ.
    pub kernel plain {
        axes { m: token, n: out, k: in }

        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight q8_0_tiles[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;

        tunable mc in 32..=1024;
        tunable nc in [32, 64, 128];
        tunable kc in 32..=4096 multiple_of 64;

        window xa: activation_tiles f16[mc, kc];
        window wq: q8_0_tiles[nc, kc] stages 2;

        require nc.is_power_of_two() && kc.is_multiple_of(nc);
        require (mc + nc) * kc * 2 <= vtcm_bytes / 2 || k < 64;
        require window_bytes(wq) + window_bytes(xa) <= vtcm_bytes - 65536;
        when v81 {
            require mc.max(nc) >= 64.min(n.div_ceil(32) * 32) && !(kc % 96 != 0);
        }
        window wb: weight_tiles f16[nc, kc];
        window yc: output_tiles f16[mc, nc];

        schedule {
            for mo in tiles(m, mc) {
                for ko in tiles(k, kc) {
                    pack_rows xa <- x[mo, ko] scale(row);
                    for no in tiles(n, nc) pipeline(wq) {
                        load wq <- w[no, ko];
                        dequantise wb <- wq;
                        multiply yc <- xa * wb;
                        unpack_rows y[mo, no] += yc unscale(row) guard(60000);
                    }
                }
            }
        }

        reference |c, i, j| (0..c.k()).map(|k| c.x(i, k) * c.w(j, k)).sum()
    }
}

fn main() {
    let kernel = plain();
    let texts = kernel.requirements.iter().map(|r| r.text.as_str()).collect::<Vec<_>>();
    assert_eq!(texts[..2], ["nc.is_power_of_two()", "kc.is_multiple_of(nc)"]);
    assert_eq!(texts[3], "window_bytes(wq) + window_bytes(xa) <= vtcm_bytes - 65536");
    kernel_gen::verify(&kernel).unwrap();
}
