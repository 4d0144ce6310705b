//! Arithmetic that has no value for any candidate.

kernel_gen::kernel! {
    /// Y = X · Wᵀ.
    kernel below_0 {
        axes { m: token, n: out, k: in }

        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight q8_0_tiles[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;

        tunable mc in 32..=1024;
        tunable nc in [32, 64, 128];
        tunable kc in 32..=4096 multiple_of 64;

        require nc - 1024 > 0;

        window xa: activation_tiles f16[mc, kc];
        window wq: q8_0_tiles[nc, kc] stages 2;
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

    /// Y = X · Wᵀ.
    kernel by_0 {
        axes { m: token, n: out, k: in }

        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight q8_0_tiles[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;

        tunable mc in 32..=1024;
        tunable nc in [32, 64, 128];
        tunable kc in 32..=4096 multiple_of 64;

        require mc / (nc / 1024) > 0 && nc % 96 == 0;

        window xa: activation_tiles f16[mc, kc];
        window wq: q8_0_tiles[nc, kc] stages 2;
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

fn main() {}
