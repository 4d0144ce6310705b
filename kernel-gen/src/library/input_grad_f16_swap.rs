//! Input gradient from row-major FP16 by operand swap.

use crate::kernel;

kernel! {
    /// dX = dY · W, W row-major FP16, computed as (dX)ᵀ = Wᵀ · dYᵀ.
    ///
    /// The words `forward_f16` scatters into a weight tile are, read as an activation tile, Wᵀ. The alternative to
    /// `input_grad_f16`: a scatter instead of an interleave, and token rows as columns of the result.
    pub kernel input_grad_f16_swap {
        axes { m: token, n: out, k: in }

        operand dy: activation f32 row_major[m, n] in ddr_stream;
        operand w: weight f16 row_major[n, k] in ddr_resident;
        operand dx: output f32 row_major[m, k] in ddr_stream;

        tunable mc in 32..=2048 multiple_of 32;
        tunable nc in 32..=16384 multiple_of 32;
        tunable kc in 32..=512 multiple_of 32;

        window dyb: weight_tiles f16[mc, nc];
        window wr: row_major f16[nc, kc] stages 2;
        window wa: activation_tiles f16[kc, nc];
        window dxc: output_tiles f16[kc, mc];

        schedule {
            for mo in tiles(m, mc) {
                for no in tiles(n, nc) {
                    pack_cols dyb <- dy[mo, no] scale(row) split(m);
                    for ko in tiles(k, kc) pipeline(wr) {
                        load wr <- w[no, ko];
                        scatter_words wa <- wr split(n);
                        multiply dxc <- swap(dyb, wa);
                        unpack_cols dx[mo, ko] += dxc unscale(row) guard(60000) split(m);
                    }
                }
            }
        }

        reference |c, i, j| (0..c.n()).map(|n| c.dy(i, n) * c.w(n, j)).sum()
    }
}
