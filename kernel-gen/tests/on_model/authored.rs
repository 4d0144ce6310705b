//! Kernels the library does not have, from the same pieces: each surprised nobody but the planner.

use kernel_gen::{Kernel, kernel};

kernel! {
    /// Y = X · Wᵀ by operand swap, from row-major FP16, three blocks of W in flight.
    kernel forward_f16_swapped {
        axes { m: token, n: out, k: in }

        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight f16 row_major[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;

        tunable mc in 32..=512;
        tunable nc in 32..=256;
        tunable kc in 32..=8192;

        window xb: weight_tiles f16[mc, kc];
        window wr: row_major f16[nc, kc] stages 3;
        window wa: activation_tiles f16[nc, kc];
        window yc: output_tiles f16[nc, mc];

        schedule {
            for mo in tiles(m, mc) {
                for ko in tiles(k, kc) {
                    pack_cols xb <- x[mo, ko] scale(row);
                    for no in tiles(n, nc) pipeline(wr) {
                        load wr <- w[no, ko];
                        interleave_pairs wa <- wr;
                        multiply yc <- swap(xb, wa);
                        unpack_cols y[mo, no] += yc unscale(row) guard(60000);
                    }
                }
            }
        }

        reference |c, i, j| (0..c.k()).map(|k| c.x(i, k) * c.w(j, k)).sum()
    }

    /// Y = X · Wᵀ from Q8_0 tiles, weights outermost, nothing pipelined, rows unscaled.
    kernel forward_q8_weights_outside {
        axes { m: token, n: out, k: in }

        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight q8_0_tiles[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;

        tunable mc in 32..=512;
        tunable nc in 32..=256;
        tunable kc in 32..=8192;

        window wq: q8_0_tiles[nc, kc];
        window wb: weight_tiles f16[nc, kc];
        window xa: activation_tiles f16[mc, kc];
        window yc: output_tiles f16[mc, nc];

        schedule {
            for no in tiles(n, nc) {
                for ko in tiles(k, kc) {
                    load wq <- w[no, ko];
                    dequantise wb <- wq;
                    for mo in tiles(m, mc) {
                        pack_rows xa <- x[mo, ko];
                        multiply yc <- xa * wb;
                        unpack_rows y[mo, no] += yc guard(60000);
                    }
                }
            }
        }

        reference |c, i, j| (0..c.k()).map(|k| c.x(i, k) * c.w(j, k)).sum()
    }
}

pub fn all() -> Vec<Kernel> {
    vec![forward_f16_swapped(), forward_q8_weights_outside()]
}
