//! Forward product of BF16 token rows with Q8_0 weights and a bias, with a window plan for each architecture.

use kernel_gen::kernel;

kernel! {
    /// Y = X · Wᵀ + b, X in BF16, W in Q8_0 tiles, b one f32 for each output feature.
    pub kernel bf16_bias_q8 {
        axes { m: token, n: out, k: in }

        operand x: activation bf16 row_major[m, k] in ddr_stream;
        operand w: weight q8_0_tiles[n, k] in ddr_resident;
        operand b: column f32 vector[n] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;

        tunable mc in 32..=2048 multiple_of 32;
        tunable nc in [64];
        tunable kc in 32..=16384 multiple_of 32;

        window xa: activation_tiles f16[mc, kc];
        window wb: weight_tiles f16[nc, kc];
        window yc: output_tiles f16[mc, nc];

        when v81 {
            window wq: q8_0_tiles[nc, kc] stages 3;
        } else {
            window wq: q8_0_tiles[nc, kc] stages 2;
        }
        // Windows take at most half of VTCM.
        require window_bytes(xa) + window_bytes(wq) + window_bytes(wb) + window_bytes(yc) <= vtcm_bytes / 2;

        schedule {
            for mo in tiles(m, mc) {
                for ko in tiles(k, kc) {
                    pack_rows xa <- x[mo, ko] scale(row) split(m);
                    for no in tiles(n, nc) pipeline(wq) {
                        load wq <- w[no, ko];
                        dequantise wb <- wq split(n);
                        multiply yc <- xa * wb;
                        unpack_rows y[mo, no] += yc unscale(row) column_bias(b) guard(60000) split(m);
                    }
                }
            }
        }

        reference |c, i, j| (0..c.k()).map(|k| c.x(i, k) * c.w(j, k)).sum::<f64>() + c.b(j)
    }
}
