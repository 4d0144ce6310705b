//! Misspelt words of requirements, definitions and whole items.

kernel_gen::kernel! {
    layoutt five_tiles { tile_bytes: 704 }
    layout six_tiles { tile_byte: 832 }
    step widen: six_tile -> f16_tiles pairs(col) { body "pf_vstore(dev, to, pf_vzero());"; reference |tile, p, q| 0.0 }

    /// Y = X · Wᵀ.
    kernel near_requirements {
        axes { m: token, n: out, k: in }

        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight q8_0_tiles[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;

        tunable mc in 32..=1024;
        tunable nc in [32, 64, 128];
        tunable kc in 32..=4096 multiple_of 64;

        require mcc <= 4096;
        require mc <= vtcm_byte;
        require window_byte(xa) <= 4096;
        require nc.is_power_of_to();
        require window_bytes(xaa) <= 65536;

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
                        unpack_rows y[mo, no] += yc unscale(row) guard(60000);
                    }
                }
            }
        }

        reference |c, i, j| (0..c.k()).map(|k| c.x(i, k) * c.w(j, k)).sum()
    }

    /// Y = X · Wᵀ.
    kernel near_roles_of_axes {
        axes { m: token, n: outt, k: inn }

        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight q8_0_tiles[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;

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
                        unpack_rows y[mo, no] += yc unscale(row) guard(60000);
                    }
                }
            }
        }

        reference |c, i, j| (0..c.k()).map(|k| c.x(i, k) * c.w(j, k)).sum()
    }

    /// Y = X · Wᵀ.
    kernel other_items {
        axes { m: token, n: out, k: in }

        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight q8_0_tiles[n, k] in ddr_resident;
        buffer y: output f32 row_major[m, n] in ddr_stream;

        block mc in 32..=1024;
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
                        unpack_rows y[mo, no] += yc unscale(row) guard(60000);
                    }
                }
            }
        }

        reference |c, i, j| (0..c.k()).map(|k| c.x(i, k) * c.w(j, k)).sum()
    }

    /// Y = X · Wᵀ.
    kernel near_loops {
        axes { m: token, n: out, k: in }

        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight q8_0_tiles[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;

        tunable mc in 32..=1024;
        tunable nc in [32, 64, 128];
        tunable kc in 32..=4096 multiple_of 64;

        window xa: activation_tiles f16[mc, kc];
        window wq: q8_0_tiles[nc, kc] stages 2;
        window wb: weight_tiles f16[nc, kc];
        window yc: output_tiles f16[mc, nc];

        schedule {
            for mo in tile(m, mc) {
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

fn main() {}
