//! Forward from ggml's own Q8_0 blocks.

use crate::kernel;

kernel! {
    /// Y = X · Wᵀ, W in Q8_0 blocks as a GGUF file holds them.
    ///
    /// No copy of the weight in another order exists, on disk or in memory: the file can be mapped and used. The price is in the
    /// dequantiser, which reads 34-byte blocks at any address and transposes them; from tiles it only multiplies.
    pub kernel forward_q8_blocks {
        axes { m: token, n: out, k: in }

        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight q8_0_blocks[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;

        tunable mc in 32..=2048 multiple_of 32;
        tunable nc in 32..=512 multiple_of 32;
        tunable kc in 32..=16384 multiple_of 32;

        window xa: activation_tiles f16[mc, kc];
        window wq: q8_0_blocks[nc, kc] stages 2;
        window wb: weight_tiles f16[nc, kc];
        window yc: output_tiles f16[mc, nc];

        schedule {
            for mo in tiles(m, mc) {
                for ko in tiles(k, kc) {
                    pack_rows xa <- x[mo, ko] scale(row) split(m);
                    for no in tiles(n, nc) pipeline(wq) {
                        load wq <- w[no, ko];
                        dequantise wb <- wq split(n);
                        multiply yc <- xa * wb;
                        unpack_rows y[mo, no] += yc unscale(row) guard(60000) split(m);
                    }
                }
            }
        }

        reference |c, i, j| (0..c.k()).map(|k| c.x(i, k) * c.w(j, k)).sum()
    }
}
