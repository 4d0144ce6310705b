kernel_gen::kernel! {
    layout e5m2_tiles { tile_bytes: 1024, vtcm_stride: 1152 }

    /// An FP8 number in E5M2 is the upper byte of the same number in FP16.
    step widen_e5m2: e5m2_tiles -> f16_tiles pairs(cols) {
        body r"
            for (uint32_t i = 0; i < 8; i++) {
                pf_vec_pair halves = pf_vshuff(pf_vload(dev, from + i * PF_VECTOR_BYTES), pf_vzero(), -1);
                pf_vstore(dev, to + 2u * i * PF_VECTOR_BYTES, halves.lo);
                pf_vstore(dev, to + (2u * i + 1u) * PF_VECTOR_BYTES, halves.hi);
            }
        ";
        reference |tile, p, q| f64::from(tile.byte((p >> 1) * 64 + 2 * q + (p & 1)))
    }

    layout other_tiles { tile_bytes: 64 }

    /// Y = X · Wᵀ.
    pub kernel unused_definitions {
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
    let _: kernel_gen::Kernel = unused_definitions();
}
