//! A kernel for the Hexagon NPU. Change the schedule, then run `cargo test`.

use kernel_gen::kernel;

kernel! {
    /// Y = X · Wᵀ, W row-major FP16.
    pub kernel my_kernel {
        // One token axis, first; `out` and `in` are rows and columns of the frozen weight.
        axes { m: token, n: out, k: in }

        // Matrices in DDR.
        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight f16 row_major[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;

        // Tile sizes: fields of the plan, chosen per shape.
        tunable mc in 32..=1024 multiple_of 32;
        tunable nc in [32, 64, 128, 256];
        tunable kc in 32..=8192 multiple_of 32;

        // Buffers in VTCM.
        window xa: activation_tiles f16[mc, kc];
        window wr: row_major f16[nc, kc] stages 2;
        window wb: weight_tiles f16[nc, kc];
        window yc: output_tiles f16[mc, nc];

        schedule {
            for mo in tiles(m, mc) {
                for ko in tiles(k, kc) {
                    pack_rows xa <- x[mo, ko] scale(row);
                    for no in tiles(n, nc) pipeline(wr) {
                        load wr <- w[no, ko];
                        scatter_words wb <- wr;
                        multiply yc <- xa * wb;
                        unpack_rows y[mo, no] += yc unscale(row) guard(60000);
                    }
                }
            }
        }

        // Output element (i, j) in f64: what the kernel is checked against.
        reference |c, i, j| (0..c.k()).map(|k| c.x(i, k) * c.w(j, k)).sum()
    }
}
