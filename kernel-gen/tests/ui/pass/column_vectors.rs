//! A factor, an addend, or both for every column, behind a product and behind a transposed one.

kernel_gen::kernel! {
    /// Y = (X · Wᵀ) ∘ s.
    kernel factor {
        axes { m: token, n: out, k: in }

        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight q8_0_tiles[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;
        operand s: column f32 vector[n] in ddr_resident;

        tunable mc in 32..=1024;
        tunable nc in [32, 64, 128];
        tunable kc in 32..=4096 multiple_of 64;

        window xa: activation_tiles f16[mc, kc];
        window wq: q8_0_tiles[nc, kc] stages 2;
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
                        unpack_rows y[mo, no] += yc unscale(row) column_scale(s) guard(60000);
                    }
                }
            }
        }

        reference |c, i, j| (0..c.k()).map(|k| c.x(i, k) * c.w(j, k)).sum::<f64>() * c.s(j)
    }

    /// Y = (X · Wᵀ) ∘ s + b, by operand swap.
    kernel transposed_affine {
        axes { m: token, n: out, k: in }

        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight f16 row_major[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;
        operand s: column f32 vector[n] in ddr_resident;
        operand b: column f32 vector[n] in ddr_resident;

        tunable mc in 32..=1024;
        tunable nc in [32, 64, 128];
        tunable kc in 32..=4096 multiple_of 64;

        window xb: weight_tiles f16[mc, kc];
        window wr: row_major f16[nc, kc] stages 2;
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
                        unpack_cols y[mo, no] += yc unscale(row) column_scale(s) column_bias(b) guard(60000);
                    }
                }
            }
        }

        reference |c, i, j| (0..c.k()).map(|k| c.x(i, k) * c.w(j, k)).sum::<f64>() * c.s(j) + c.b(j)
    }
}

fn main() {
    let _: kernel_gen::Kernel = factor();
    let _: kernel_gen::Kernel = transposed_affine();
}
