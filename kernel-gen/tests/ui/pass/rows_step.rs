//! A step that reads FP16 rows.

kernel_gen::kernel! {
    /// Two rows interleaved, without their signs.
    step absolute_rows: f16_rows -> f16_tiles pairs(rows) {
        body r"
            pf_vec magnitude = pf_vsplat_word(0x7FFF7FFFu);
            for (uint32_t row = 0; row < 32; row += 2) {
                pf_vec even = pf_vload_half(dev, from + row * row_stride);
                pf_vec odd = pf_vload_half(dev, from + (row + 1u) * row_stride);
                pf_vstore(dev, to + row * 64u, pf_vand(pf_vshuff(odd, even, -2).lo, magnitude));
            }
        ";
        reference |tile, p, q| tile.patch(p, q).abs()
    }

    /// dX = dY · |W|: the contraction runs over the rows of W, which the step pairs.
    pub kernel plain {
        axes { m: token, n: out, k: in }

        operand x: activation f32 row_major[m, n] in ddr_stream;
        operand w: weight f16 row_major[n, k] in ddr_resident;
        operand y: output f32 row_major[m, k] in ddr_stream;

        tunable mc in 32..=1024;
        tunable kc in [32, 64, 128];
        tunable nc in 32..=4096 multiple_of 64;

        window xa: activation_tiles f16[mc, nc];
        window wq: row_major f16[nc, kc] stages 2;
        window wb: weight_tiles f16[kc, nc];
        window yc: output_tiles f16[mc, kc];

        schedule {
            for mo in tiles(m, mc) {
                for no in tiles(n, nc) {
                    pack_rows xa <- x[mo, no] scale(row);
                    for ko in tiles(k, kc) pipeline(wq) {
                        load wq <- w[no, ko];
                        apply absolute_rows wb <- wq;
                        multiply yc <- xa * wb;
                        unpack_rows y[mo, ko] += yc unscale(row) guard(60000);
                    }
                }
            }
        }

        reference |c, i, j| (0..c.n()).map(|n| c.x(i, n) * c.w(n, j).abs()).sum()
    }
}

fn main() {
    let _: kernel_gen::Kernel = plain();
}
