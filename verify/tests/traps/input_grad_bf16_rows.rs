//! A kernel with BF16 token rows and a step of its own on FP16 rows, for the defects of reads of half a vector.

kernel_gen::kernel! {
    /// Two rows interleaved.
    step interleave_two: f16_rows -> f16_tiles pairs(rows) {
        body r"
            for (uint32_t row = 0; row < 32; row += 2) {
                pf_vec even = pf_vload_half(dev, from + row * row_stride);
                pf_vec odd = pf_vload_half(dev, from + (row + 1u) * row_stride);
                pf_vstore(dev, to + row * 64u, pf_vshuff(odd, even, -2).lo);
            }
        ";
        reference |tile, p, q| tile.patch(p, q)
    }

    /// dX = dY · W, dY in BF16, W row-major FP16.
    pub kernel input_grad_bf16_rows {
        axes { m: token, n: out, k: in }

        operand dy: activation bf16 row_major[m, n] in ddr_stream;
        operand w: weight f16 row_major[n, k] in ddr_resident;
        operand dx: output f32 row_major[m, k] in ddr_stream;

        tunable mc in 32..=512;
        tunable nc in 32..=4096;
        tunable kc in 32..=256;

        window dya: activation_tiles f16[mc, nc];
        window wr: row_major f16[nc, kc] stages 2;
        window wb: weight_tiles f16[kc, nc];
        window dxc: output_tiles f16[mc, kc];

        schedule {
            for mo in tiles(m, mc) {
                for no in tiles(n, nc) {
                    pack_rows dya <- dy[mo, no] scale(row) split(m);
                    for ko in tiles(k, kc) pipeline(wr) {
                        load wr <- w[no, ko];
                        apply interleave_two wb <- wr split(n);
                        multiply dxc <- dya * wb;
                        unpack_rows dx[mo, ko] += dxc unscale(row) guard(60000) split(m);
                    }
                }
            }
        }

        reference |c, i, j| (0..c.n()).map(|n| c.dy(i, n) * c.w(n, j)).sum()
    }
}
