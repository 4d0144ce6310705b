use kernel_gen::kernel;

kernel! {
    kernel repeated_vector {
        axes { m: token, n: out, k: in }
        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight q4_0_tiles[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;
        operand s: column f32 vector[n] in ddr_resident;
        operand b: column f32 vector[n] in ddr_resident;
        tunable mc in [64];
        tunable nc in [64];
        tunable kc in [64];
        window xa: activation_tiles f16[mc, kc];
        window wq: q4_0_tiles[nc, kc];
        window wb: weight_tiles f16[nc, kc];
        window yc: output_tiles f16[mc, nc];
        schedule {
            for mo in tiles(m, mc) {
                for ko in tiles(k, kc) {
                    pack_rows xa <- x[mo, ko];
                    for no in tiles(n, nc) {
                        load wq <- w[no, ko];
                        dequantise wb <- wq;
                        multiply yc <- xa * wb;
                        unpack_rows y[mo, no] += yc column_scale(s) column_bias(b) column_bias(s) guard(60000);
                    }
                }
            }
        }
        reference |c, i, j| (0..c.k()).map(|k| c.x(i, k) * c.w(j, k)).sum()
    }
}

fn main() {
    repeated_vector();
}
