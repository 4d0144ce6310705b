//! Input gradient from the Q8_0 tiles that forward uses.

use crate::kernel;

kernel! {
    /// dX = dY · W, W in Q8_0 tiles, computed as (dX)ᵀ = Wᵀ · dYᵀ.
    ///
    /// The same bytes `dequantise` makes for forward, read as an HMX activation tile, are Wᵀ. With dYᵀ in the weight role
    /// one multiply gives (dX)ᵀ: no second dequantiser and no second quantised copy.
    pub kernel input_grad_q8 {
        axes { m: token, n: out, k: in }

        operand dy: activation f32 row_major[m, n] in ddr_stream;
        operand w: weight q8_0_tiles[n, k] in ddr_resident;
        operand dx: output f32 row_major[m, k] in ddr_stream;

        tunable mc in 32..=2048 multiple_of 32;
        tunable nc in 32..=16384 multiple_of 32;
        tunable kc in 32..=512 multiple_of 32;

        window dyb: weight_tiles f16[mc, nc];
        window wq: q8_0_tiles[nc, kc] stages 2;
        window wa: activation_tiles f16[kc, nc];
        window dxc: output_tiles f16[kc, mc];

        schedule {
            for mo in tiles(m, mc) {
                for no in tiles(n, nc) {
                    pack_cols dyb <- dy[mo, no] scale(row) split(m);
                    for ko in tiles(k, kc) pipeline(wq) {
                        load wq <- w[no, ko];
                        dequantise wa <- wq split(n);
                        multiply dxc <- swap(dyb, wa);
                        unpack_cols dx[mo, ko] += dxc unscale(row) guard(60000) split(m);
                    }
                }
            }
        }

        reference |c, i, j| (0..c.n()).map(|n| c.dy(i, n) * c.w(n, j)).sum()
    }
}
