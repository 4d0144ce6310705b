//! Forward from row-major FP16 with a factor and an addend for each output feature.

use crate::kernel;

kernel! {
    /// Y = (X · Wᵀ) ∘ s + b, W row-major FP16, s and b one f32 for each output feature.
    ///
    /// The bias record of HMX could multiply and add too, but not this: its scale and bias are FP16, its scale is exact for
    /// powers of two alone, the bias would have to carry every row's own 2^e, and it would be added once for every block of
    /// the contraction. In the unpack both are f32, behind the row's 2^-e, and the bias is the first addend of the sum.
    pub kernel forward_f16_column_affine {
        axes { m: token, n: out, k: in }

        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight f16 row_major[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;
        operand s: column f32 vector[n] in ddr_resident;
        operand b: column f32 vector[n] in ddr_resident;

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
                        unpack_rows y[mo, no] += yc unscale(row) column_scale(s) column_bias(b) guard(60000) split(m);
                    }
                }
            }
        }

        reference |c, i, j| (0..c.k()).map(|k| c.x(i, k) * c.w(j, k)).sum::<f64>() * c.s(j) + c.b(j)
    }
}
