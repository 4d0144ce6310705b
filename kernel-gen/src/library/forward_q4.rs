//! Forward from Q4_0 tiles.

use crate::kernel;

kernel! {
    /// Y = X · Wᵀ, W in Q4_0 tiles.
    ///
    /// A dequantised tile holds `W[n][k]` with k as the pair index: the HMX weight tile of this product.
    pub kernel forward_q4 {
        axes { m: token, n: out, k: in }

        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight q4_0_tiles[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;

        tunable mc in 32..=2048 multiple_of 32;
        tunable nc in 32..=512 multiple_of 32;
        tunable kc in 32..=16384 multiple_of 32;

        window xa: activation_tiles f16[mc, kc];
        window wq: q4_0_tiles[nc, kc] stages 2;
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
