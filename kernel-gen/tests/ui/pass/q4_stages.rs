//! Q4_0 tiles through three stages, tile sizes from lists and with granules of their own.

kernel_gen::kernel! {
    /// Y = X · Wᵀ.
    pub kernel from_q4 {
        axes { m: token, n: out, k: in }

        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight q4_0_tiles[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;

        tunable mc in [512, 256, 32];
        tunable nc in 64..=256 multiple_of 64;
        tunable kc in 128..=8192 multiple_of 128;

        window xa: activation_tiles f16[mc, kc];
        window wq: q4_0_tiles[nc, kc] stages 3;
        window wb: weight_tiles f16[nc, kc];
        window yc: output_tiles f16[mc, nc];

        schedule {
            for mo in tiles(m, mc) {
                for ko in tiles(k, kc) {
                    pack_rows xa <- x[mo, ko] scale(row);
                    for no in tiles(n, nc) pipeline(wq) {
                        load wq <- w[no, ko];
                        dequantise wb <- wq;
                        multiply yc <- xa * wb;
                        unpack_rows y[mo, no] += yc unscale(row) guard(60000);
                    }
                }
            }
        }

        reference |c, i, j| (0..c.k()).map(|k| c.x(i, k) * c.w(j, k)).sum()
    }
}

fn main() {
    let _: kernel_gen::Kernel = from_q4();
}
