//! A kernel with a step of its own in qfloat arithmetic, for the defects the library's own steps cannot have.

kernel_gen::kernel! {
    /// q · d of a Q8_0 tile: the products are qfloat until they are converted.
    step dequantise_by_qfloat: q8_0_tiles -> f16_tiles pairs(cols) {
        body r"
            pf_vec scales = pf_vload_first(dev, from + 1024, 64);
            scales = pf_vshuff(scales, scales, -2).lo;
            for (uint32_t i = 0; i < 8; i++) {
                pf_vec_pair quants = pf_vhf_from_b(pf_vload(dev, from + i * PF_VECTOR_BYTES));
                pf_qf32_pair low = pf_qmul_hf(quants.lo, scales), high = pf_qmul_hf(quants.hi, scales);
                pf_vstore(dev, to + 2u * i * PF_VECTOR_BYTES, pf_hf_from_q(low));
                pf_vstore(dev, to + (2u * i + 1u) * PF_VECTOR_BYTES, pf_hf_from_q(high));
            }
        ";
        reference |tile, p, q| tile.signed((p >> 1) * 64 + 2 * q + (p & 1)) * tile.half(1024 + 2 * q)
    }

    /// Y = X · Wᵀ, W in Q8_0 tiles.
    pub kernel forward_q8_by_qfloat {
        axes { m: token, n: out, k: in }

        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight q8_0_tiles[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;

        tunable mc in 32..=512;
        tunable nc in 32..=256;
        tunable kc in 32..=4096;

        window xa: activation_tiles f16[mc, kc];
        window wq: q8_0_tiles[nc, kc] stages 2;
        window wb: weight_tiles f16[nc, kc];
        window yc: output_tiles f16[mc, nc];

        schedule {
            for mo in tiles(m, mc) {
                for ko in tiles(k, kc) {
                    pack_rows xa <- x[mo, ko] scale(row) split(m);
                    for no in tiles(n, nc) pipeline(wq) {
                        load wq <- w[no, ko];
                        apply dequantise_by_qfloat wb <- wq split(n);
                        multiply yc <- xa * wb;
                        unpack_rows y[mo, no] += yc unscale(row) guard(60000) split(m);
                    }
                }
            }
        }

        reference |c, i, j| (0..c.k()).map(|k| c.x(i, k) * c.w(j, k)).sum()
    }
}
