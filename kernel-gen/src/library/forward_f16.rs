//! Forward from row-major FP16.

use crate::kernel;

kernel! {
    /// Y = X · Wᵀ, W row-major FP16.
    ///
    /// Rows of W arrive by DMA; each 32-bit word of a row (two values of k) is scattered to its place in the weight tile.
    pub kernel forward_f16 {
        axes { m: token, n: out, k: in }

        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight f16 row_major[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;

        tunable mc in 32..=2048 multiple_of 32;
        tunable nc in 32..=512 multiple_of 32;
        tunable kc in 32..=16384 multiple_of 32;

        window xa: activation_tiles f16[mc, kc];
        window wr: row_major f16[nc, kc] stages 2;
        window wb: weight_tiles f16[nc, kc];
        window yc: output_tiles f16[mc, nc];

        schedule {
            for mo in tiles(m, mc) {
                for ko in tiles(k, kc) {
                    pack_rows xa <- x[mo, ko] scale(row) split(m);
                    for no in tiles(n, nc) pipeline(wr) {
                        load wr <- w[no, ko];
                        scatter_words wb <- wr split(n);
                        multiply yc <- xa * wb;
                        unpack_rows y[mo, no] += yc unscale(row) guard(60000) split(m);
                    }
                }
            }
        }

        reference |c, i, j| (0..c.k()).map(|k| c.x(i, k) * c.w(j, k)).sum()
    }
}
