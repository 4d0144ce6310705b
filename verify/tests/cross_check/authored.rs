//! Kernels the library does not have: layouts and steps of their author's, blocks in the other role.

use kernel_gen::kernel;

use super::check;

kernel! {
    layout e5m2_tiles { tile_bytes: 1024 }

    /// Three bits of fraction in sign and magnitude, one FP16 scale for the tile: 1024 bytes of elements in rows, then the
    /// scale.
    layout sign_magnitude_tiles { tile_bytes: 1026, vtcm_stride: 1280 }

    /// An FP8 number in E5M2 is the upper byte of the same number in FP16.
    step widen_e5m2: e5m2_tiles -> f16_tiles pairs(cols) {
        body r"
            for (uint32_t i = 0; i < 8; i++) {
                pf_vec_pair halves = pf_vshuff(pf_vload(dev, from + i * PF_VECTOR_BYTES), pf_vzero(), -1);
                pf_vstore(dev, to + 2u * i * PF_VECTOR_BYTES, halves.lo);
                pf_vstore(dev, to + (2u * i + 1u) * PF_VECTOR_BYTES, halves.hi);
            }
        ";
        reference |tile, p, q| {
            let byte = tile.byte((p >> 1) * 64 + 2 * q + (p & 1));
            let (exponent, fraction) = (i32::from(byte >> 2 & 31), f64::from(byte & 3) / 4.0);
            let magnitude = match exponent {
                0 => fraction * 2_f64.powi(-14),
                31 if fraction == 0.0 => f64::INFINITY,
                31 => f64::NAN,
                _ => (1.0 + fraction) * 2_f64.powi(exponent - 15),
            };
            if byte < 128 { magnitude } else { -magnitude }
        }
    }

    /// Pairs of rows, as a matrix of int8 has them: element (p, q) at byte 32p + q, times the scale.
    step scale_rows: sign_magnitude_tiles -> f16_tiles pairs(rows) {
        body r"
            pf_vec scale = pf_vsplat_first_h(pf_vload_first(dev, from + 1024, 2));
            scale = pf_vshuff(scale, scale, 64).lo;
            for (uint32_t i = 0; i < 8; i++) {
                /* Rows 4i to 4i + 3, 32 bytes each. */
                pf_vec_pair rows = pf_vhf_from_b(pf_vload(dev, from + i * PF_VECTOR_BYTES));
                pf_vec low = pf_vmul_hf(rows.lo, scale), high = pf_vmul_hf(rows.hi, scale);
                pf_vstore(dev, to + 2u * i * PF_VECTOR_BYTES, pf_vshuff_h(low));
                pf_vstore(dev, to + (2u * i + 1u) * PF_VECTOR_BYTES, pf_vshuff_h(high));
            }
        ";
        reference |tile, p, q| tile.signed(32 * p + q) * tile.half(1024)
    }

    /// What is negative becomes 0, minus infinity too: the sign bit spread over both bytes of its halfword clears it.
    step rectify: f16_tiles -> f16_tiles {
        body r"
            pf_vec sign = pf_vsplat_word(0x80008000u), ones = pf_vsplat_word(0xFFFFFFFFu);
            for (uint32_t i = 0; i < 16; i++) {
                pf_vec v = pf_vload(dev, from + i * PF_VECTOR_BYTES);
                pf_vec negative = pf_vand(v, sign);
                pf_vec low = pf_vlsr_w(negative, 15), high = pf_vlsr_w(negative, 7);
                pf_vec cleared = pf_vsub_b(pf_vsub_b(pf_vzero(), low), high);
                pf_vstore(dev, to + i * PF_VECTOR_BYTES, pf_vand(v, pf_vsub_b(ones, cleared)));
            }
        ";
        reference |tile, p, q| tile.element(p, q).max(0.0)
    }

    /// Without a row scale, so that inputs past FP16 are infinite, of which half are dropped; some weights are 0.
    kernel forward_rectified {
        axes { m: token, n: out, k: in }
        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight e5m2_tiles[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;
        tunable mc in 32..=512;
        tunable nc in 32..=256;
        tunable kc in 32..=8192;
        window xa: activation_tiles f16[mc, kc];
        window xr: activation_tiles f16[mc, kc];
        window wq: e5m2_tiles[nc, kc];
        window wb: weight_tiles f16[nc, kc];
        window yc: output_tiles f16[mc, nc];
        schedule {
            for mo in tiles(m, mc) {
                for ko in tiles(k, kc) {
                    pack_rows xa <- x[mo, ko];
                    apply rectify xr <- xa;
                    for no in tiles(n, nc) {
                        load wq <- w[no, ko];
                        apply widen_e5m2 wb <- wq;
                        multiply yc <- xr * wb;
                        unpack_rows y[mo, no] += yc guard(60000);
                    }
                }
            }
        }
        reference |c, i, j| (0..c.k()).map(|k| c.x(i, k).max(0.0) * c.w(j, k)).sum()
    }

    pub kernel forward_e5m2 {
        axes { m: token, n: out, k: in }
        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight e5m2_tiles[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;
        tunable mc in 32..=512;
        tunable nc in [32, 96, 256];
        tunable kc in 32..=8192;
        window xa: activation_tiles f16[mc, kc];
        window wq: e5m2_tiles[nc, kc] stages 3;
        window wb: weight_tiles f16[nc, kc];
        window yc: output_tiles f16[mc, nc];
        schedule {
            for mo in tiles(m, mc) {
                for ko in tiles(k, kc) {
                    pack_rows xa <- x[mo, ko] scale(row);
                    for no in tiles(n, nc) pipeline(wq) {
                        load wq <- w[no, ko];
                        apply widen_e5m2 wb <- wq;
                        multiply yc <- xa * wb;
                        unpack_rows y[mo, no] += yc unscale(row) guard(60000);
                    }
                }
            }
        }
        reference |c, i, j| (0..c.k()).map(|k| c.x(i, k) * c.w(j, k)).sum()
    }

    /// dX = dY · W: the pairs are rows of W, which is the contraction, so the tiles are weight tiles without a swap.
    pub kernel input_grad_sign_magnitude {
        axes { m: token, n: out, k: in }
        operand dy: activation f32 row_major[m, n] in ddr_stream;
        operand w: weight sign_magnitude_tiles[n, k] in ddr_resident;
        operand dx: output f32 row_major[m, k] in ddr_stream;
        operand s: column f32 vector[k] in ddr_resident;
        tunable mc in 32..=512;
        tunable nc in 32..=8192;
        tunable kc in 32..=256 multiple_of 64;
        window dya: activation_tiles f16[mc, nc];
        window wq: sign_magnitude_tiles[nc, kc] stages 2;
        window wb: weight_tiles f16[kc, nc];
        window dxc: output_tiles f16[mc, kc];
        schedule {
            for mo in tiles(m, mc) {
                for no in tiles(n, nc) {
                    pack_rows dya <- dy[mo, no] scale(row);
                    for ko in tiles(k, kc) pipeline(wq) {
                        load wq <- w[no, ko];
                        apply scale_rows wb <- wq;
                        multiply dxc <- dya * wb;
                        unpack_rows dx[mo, ko] += dxc unscale(row) column_scale(s) guard(60000);
                    }
                }
            }
        }
        reference |c, i, j| (0..c.n()).map(|n| c.dy(i, n) * c.w(n, j)).sum::<f64>() * c.s(j)
    }

    /// dX = dY · W from the blocks of a file, by operand swap; a bias alone, and one block of the contraction at a time.
    kernel input_grad_q8_blocks {
        axes { m: token, n: out, k: in }
        operand dy: activation f32 row_major[m, n] in ddr_stream;
        operand w: weight q8_0_blocks[n, k] in ddr_resident;
        operand dx: output f32 row_major[m, k] in ddr_stream;
        operand b: column f32 vector[k] in ddr_resident;
        tunable mc in 32..=2048;
        tunable nc in 32..=16384;
        tunable kc in 32..=512;
        window dyb: weight_tiles f16[mc, nc];
        window wq: q8_0_blocks[nc, kc];
        window wa: activation_tiles f16[kc, nc];
        window dxc: output_tiles f16[kc, mc];
        schedule {
            for ko in tiles(k, kc) {
                for mo in tiles(m, mc) {
                    for no in tiles(n, nc) {
                        pack_cols dyb <- dy[mo, no] scale(row);
                        load wq <- w[no, ko];
                        dequantise wa <- wq;
                        multiply dxc <- swap(dyb, wa);
                        unpack_cols dx[mo, ko] += dxc unscale(row) column_bias(b) guard(60000);
                    }
                }
            }
        }
        reference |c, i, j| (0..c.n()).map(|n| c.dy(i, n) * c.w(n, j)).sum::<f64>() + c.b(j)
    }
}

#[test]
fn an_authors_tiles_are_laid_out_from_its_step() {
    check(&forward_e5m2());
}

#[test]
fn tiles_that_pair_along_rows_need_no_swap() {
    check(&input_grad_sign_magnitude());
}

#[test]
fn blocks_serve_the_input_gradient_too() {
    check(&input_grad_q8_blocks());
}

#[test]
fn an_infinite_input_that_a_step_drops_leaves_a_bound() {
    check(&forward_rectified());
}
