//! A step of an author's between two sets of FP16 tiles, after the words were scattered; attributes and a generated function.

kernel_gen::kernel! {
    step absolute: f16_tiles -> f16_tiles {
        body r"
            pf_vec magnitude = pf_vsplat_word(0x7FFF7FFFu);
            for (uint32_t i = 0; i < 16; i++)
                pf_vstore(dev, to + i * PF_VECTOR_BYTES, pf_vand(pf_vload(dev, from + i * PF_VECTOR_BYTES), magnitude));
        ";
        reference |tile, p, q| tile.element(p, q).abs()
    }

    #[allow(clippy::needless_pass_by_value)]
    /// Y = X · |W|ᵀ.
    pub(crate) kernel magnitudes {
        axes { m: token, n: out, k: in }

        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight f16 row_major[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;

        tunable mc in 32..=1024;
        tunable nc in [32, 64, 128];
        tunable kc in 32..=4096 multiple_of 64;

        window xa: activation_tiles f16[mc, kc];
        window wr: row_major f16[nc, kc];
        window ws: weight_tiles f16[nc, kc];
        window wb: weight_tiles f16[nc, kc];
        window yc: output_tiles f16[mc, nc];

        schedule {
            for mo in tiles(m, mc) {
                for ko in tiles(k, kc) {
                    pack_rows xa <- x[mo, ko] scale(row);
                    for no in tiles(n, nc) {
                        load wr <- w[no, ko];
                        scatter_words ws <- wr;
                        apply absolute wb <- ws;
                        multiply yc <- xa * wb;
                        unpack_rows y[mo, no] += yc unscale(row) guard(60000);
                    }
                }
            }
        }

        reference |c, i, j| (0..c.k()).map(|k| c.x(i, k) * c.w(j, k).abs()).sum()
    }
}

fn main() {
    let _: kernel_gen::Kernel = magnitudes();
}
