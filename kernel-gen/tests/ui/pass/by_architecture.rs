//! Stages, candidates and a part of the schedule differ by architecture.

kernel_gen::kernel! {
    /// Y = X · Wᵀ.
    pub kernel plain {
        axes { m: token, n: out, k: in }

        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight q8_0_tiles[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;

        tunable mc in 32..=1024;
        when v81 {
            tunable nc in [32, 64, 128, 256];
        } else {
            tunable nc in [32, 64, 128];
        }
        tunable kc in 32..=4096 multiple_of 64;

        window xa: activation_tiles f16[mc, kc];
        when v79 {
            window wq: q8_0_tiles[nc, kc] stages 2;
        } else when v81 {
            window wq: q8_0_tiles[nc, kc] stages 3;
        }
        window wb: weight_tiles f16[nc, kc];
        window yc: output_tiles f16[mc, nc];

        schedule {
            for mo in tiles(m, mc) {
                for ko in tiles(k, kc) {
                    when v79 {
                        pack_rows xa <- x[mo, ko] scale(row);
                    }
                    when v81 {
                        pack_rows xa <- x[mo, ko] scale(row);
                    }
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
    assert_eq!(kernel.on(kernel_gen::Arch::V79).windows[1].stages, 2);
    assert_eq!(kernel.on(kernel_gen::Arch::V81).windows[1].stages, 3);
    kernel_gen::verify(&kernel).unwrap();
}
