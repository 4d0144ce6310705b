kernel_gen::kernel! {
    layout e5m2_tiles { tile_bytes: 1024 }

    step no_pairs: e5m2_tiles -> f16_tiles { body "pf_vstore(dev, to, pf_vzero());"; reference |tile, p, q| 0.0 }
    step no_reference: e5m2_tiles -> f16_tiles pairs(cols) { body "pf_vstore(dev, to, pf_vzero());"; }
    step open_body: e5m2_tiles -> f16_tiles pairs(cols) { body "pf_vstore(dev, to, pf_vzero();"; reference |tile, p, q| 0.0 }
    step closing_body: f16_tiles -> f16_tiles { body "}"; reference |tile, p, q| 0.0 }
    step empty_body: f16_tiles -> f16_tiles { body ""; reference |tile, p, q| 0.0 }
    step stateful: f16_tiles -> f16_tiles {
        body r"
            static uint32_t calls;
            pf_vstore(dev, to, pf_vsplat_word(calls++));
        ";
        reference |tile, p, q| 0.0
    }
    step plain_c: f16_tiles -> f16_tiles {
        body r"
            /* Brackets in comments and constants are no brackets: { ( */
            uint16_t *half = (uint16_t *)to;
            half[3] = '}';
            memcpy(to + 128, from, 128);
        ";
        reference |tile, p, q| 0.0
    }
    step rows_out: f16_tiles -> row_major { body ""; reference |tile, p, q| 0.0 }
    step two_arguments: f16_tiles -> f16_tiles { body "pf_vstore(dev, to, pf_vzero());"; reference |p, q| 0.0 }

    /// Y = X · Wᵀ.
    pub kernel own_steps {
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
                        apply no_such_step wb <- wq;
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
    let _: kernel_gen::Kernel = own_steps();
}
