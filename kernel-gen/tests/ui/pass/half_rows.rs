//! Token rows that are FP16 already: both operands arrive by DMA, each pipelined in a loop of its own.

kernel_gen::kernel! {
    /// Y = X · Wᵀ.
    kernel half_rows {
        axes { m: token, n: out, k: in }

        operand x: activation f16 row_major[m, k] in ddr_stream;
        operand w: weight f16 row_major[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;

        tunable mc in 32..=1024;
        tunable nc in [32, 64, 128];
        tunable kc in 32..=4096 multiple_of 64;

        window xr: row_major f16[mc, kc] stages 2;
        window xa: activation_tiles f16[mc, kc];
        window wr: row_major f16[nc, kc] stages 4;
        window wb: weight_tiles f16[nc, kc];
        window yc: output_tiles f16[mc, nc];

        schedule {
            for mo in tiles(m, mc) {
                for ko in tiles(k, kc) pipeline(xr) {
                    load xr <- x[mo, ko];
                    interleave_pairs xa <- xr;
                    for no in tiles(n, nc) pipeline(wr) {
                        load wr <- w[no, ko];
                        scatter_words wb <- wr;
                        multiply yc <- xa * wb;
                        unpack_rows y[mo, no] += yc guard(60000);
                    }
                }
            }
        }

        reference |c, i, j| (0..c.k()).map(|k| c.x(i, k) * c.w(j, k)).sum()
    }
}

fn main() {
    let _: kernel_gen::Kernel = half_rows();
}
