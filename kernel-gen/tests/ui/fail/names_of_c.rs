//! Names that emitted C has a use for, or the compilers that read it.

kernel_gen::kernel! {
    /// Y = X · Wᵀ.
    pub kernel int32_t {
        axes { m: token, n: out, k: in }

        operand i: activation f32 row_major[m, k] in ddr_stream;
        operand plan: weight q8_0_tiles[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;

        tunable mc in 32..=1024;
        tunable linux in [32, 64, 128];
        tunable kc in 32..=4096 multiple_of 64;

        window größe: activation_tiles f16[mc, kc];
        window NULL: q8_0_tiles[linux, kc] stages 2;
        window pf_w: weight_tiles f16[linux, kc];
        window yc: output_tiles f16[mc, linux];

        schedule {
            for volatile in tiles(m, mc) {
                for ko in tiles(k, kc) {
                    pack_rows größe <- i[volatile, ko] scale(row);
                    for no in tiles(n, linux) pipeline(NULL) {
                        load NULL <- plan[no, ko];
                        dequantise pf_w <- NULL;
                        multiply yc <- größe * pf_w;
                        unpack_rows y[volatile, no] += yc unscale(row) guard(60000);
                    }
                }
            }
        }

        reference |c, row, j| (0..c.k()).map(|k| c.i(row, k) * c.plan(j, k)).sum()
    }
}

fn main() {
    let _: kernel_gen::Kernel = int32_t();
}
