//! The weight as the activation operand of HMX, from FP16 rows, through the most stages there are.

kernel_gen::kernel! {
    /// Y = X · Wᵀ, computed as (W · Xᵀ)ᵀ.
    kernel swapped {
        axes { m: token, n: out, k: in }

        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight f16 row_major[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;

        tunable mc in 32..=1024;
        tunable nc in [32, 64, 128];
        tunable kc in 32..=4096 multiple_of 64;

        window xb: weight_tiles f16[mc, kc];
        window wr: row_major f16[nc, kc] stages 8;
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
}

fn main() {
    let _: kernel_gen::Kernel = swapped();
}
