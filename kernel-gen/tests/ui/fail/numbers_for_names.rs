//! Numbers where names of tunables belong, and arguments that are missing.

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
        window wb: weight_tiles f16[64, kc];
        window yc: output_tiles f16[mc, nc];

        schedule {
            for a in tiles(n) {
            }
            for b in tiles(n, 64) pipeline(wq) {
            }
            for c in tiles(n, nc) pipeline {
            }
            for mo in tiles(m, mc) {
                for ko in tiles(k, kc) {
                    pack_rows xa <- x[mo, ko] scale();
                    for no in tiles(n, nc) pipeline(wq) {
                        load wq <- w[no, ko];
                        dequantise wb <- wq;
                        multiply yc <- xa * wb;
                        unpack_rows y[mo, no] += yc unscale(row) guard(60000.0);
                    }
                }
            }
        }

        reference |c, i, j| (0..c.k()).map(|k| c.x(i, k) * c.w(j, k)).sum()
    }
}

fn main() {
    let _: kernel_gen::Kernel = plain();
}
