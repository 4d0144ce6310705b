//! Kernels the library does not have, from the same pieces: each surprised nobody but the planner.

use kernel_gen::{Kernel, kernel};

kernel! {
    layout e5m2_tiles { tile_bytes: 1024 }

    /// An FP8 number in E5M2 is the upper byte of the same number in FP16.
    step widen_e5m2: e5m2_tiles -> f16_tiles pairs(cols) {
        body r"
            for (uint32_t i = 0; i < 8; i++) {
                pf_vec upper = pf_vload(dev, from + i * PF_VECTOR_BYTES);
                pf_vec_pair halves = pf_vshuff(upper, pf_vzero(), -1);
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

    /// Magnitudes: the sign bits cleared.
    step absolute: f16_tiles -> f16_tiles {
        body r"
            pf_vec magnitude = pf_vsplat_word(0x7FFF7FFFu);
            for (uint32_t i = 0; i < 16; i++)
                pf_vstore(dev, to + i * PF_VECTOR_BYTES,
                          pf_vand(pf_vload(dev, from + i * PF_VECTOR_BYTES), magnitude));
        ";
        reference |tile, p, q| tile.element(p, q).abs()
    }

    /// Rows to tiles, two rows interleaved, without their signs.
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

    /// dX = dY · |W|, W row-major FP16.
    kernel input_grad_f16_absolute {
        axes { m: token, n: out, k: in }

        operand dy: activation f32 row_major[m, n] in ddr_stream;
        operand w: weight f16 row_major[n, k] in ddr_resident;
        operand dx: output f32 row_major[m, k] in ddr_stream;

        tunable mc in 32..=512;
        tunable nc in 32..=8192;
        tunable kc in 32..=256;

        window dya: activation_tiles f16[mc, nc];
        window wr: row_major f16[nc, kc] stages 2;
        window wb: weight_tiles f16[kc, nc];
        window dxc: output_tiles f16[mc, kc];

        schedule {
            for mo in tiles(m, mc) {
                for no in tiles(n, nc) {
                    pack_rows dya <- dy[mo, no] scale(row);
                    for ko in tiles(k, kc) pipeline(wr) {
                        load wr <- w[no, ko];
                        apply absolute_rows wb <- wr split(n);
                        multiply dxc <- dya * wb;
                        unpack_rows dx[mo, ko] += dxc unscale(row) guard(60000);
                    }
                }
            }
        }

        reference |c, i, j| (0..c.n()).map(|n| c.dy(i, n) * c.w(n, j).abs()).sum()
    }

    /// Y = |X| · Wᵀ, W in E5M2 tiles.
    kernel forward_e5m2_absolute {
        axes { m: token, n: out, k: in }

        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight e5m2_tiles[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;

        tunable mc in 32..=512;
        tunable nc in 32..=256;
        tunable kc in 32..=8192;

        window xs: activation_tiles f16[mc, kc];
        window xa: activation_tiles f16[mc, kc];
        window wq: e5m2_tiles[nc, kc] stages 2;
        window wb: weight_tiles f16[nc, kc];
        window yc: output_tiles f16[mc, nc];

        schedule {
            for mo in tiles(m, mc) {
                for ko in tiles(k, kc) {
                    pack_rows xs <- x[mo, ko] scale(row);
                    apply absolute xa <- xs;
                    for no in tiles(n, nc) pipeline(wq) {
                        load wq <- w[no, ko];
                        apply widen_e5m2 wb <- wq;
                        multiply yc <- xa * wb;
                        unpack_rows y[mo, no] += yc unscale(row) guard(60000);
                    }
                }
            }
        }

        reference |c, i, j| (0..c.k()).map(|k| c.x(i, k).abs() * c.w(j, k)).sum()
    }

    /// dX = dY · W, W in E5M2 tiles, by operand swap: the same step in the activation role.
    kernel input_grad_e5m2 {
        axes { m: token, n: out, k: in }

        operand dy: activation f32 row_major[m, n] in ddr_stream;
        operand w: weight e5m2_tiles[n, k] in ddr_resident;
        operand dx: output f32 row_major[m, k] in ddr_stream;

        tunable mc in 32..=512;
        tunable nc in 32..=8192;
        tunable kc in 32..=256;

        window dyb: weight_tiles f16[mc, nc];
        window wq: e5m2_tiles[nc, kc] stages 2;
        window wa: activation_tiles f16[kc, nc];
        window dxc: output_tiles f16[kc, mc];

        schedule {
            for mo in tiles(m, mc) {
                for no in tiles(n, nc) {
                    pack_cols dyb <- dy[mo, no] scale(row);
                    for ko in tiles(k, kc) pipeline(wq) {
                        load wq <- w[no, ko];
                        apply widen_e5m2 wa <- wq;
                        multiply dxc <- swap(dyb, wa);
                        unpack_cols dx[mo, ko] += dxc unscale(row) guard(60000);
                    }
                }
            }
        }

        reference |c, i, j| (0..c.n()).map(|n| c.dy(i, n) * c.w(n, j)).sum()
    }

    /// Y = X · Wᵀ by operand swap, from row-major FP16, three blocks of W in flight.
    kernel forward_f16_swapped {
        axes { m: token, n: out, k: in }

        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight f16 row_major[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;

        tunable mc in 32..=512;
        tunable nc in 32..=256;
        tunable kc in 32..=8192;

        window xb: weight_tiles f16[mc, kc];
        window wr: row_major f16[nc, kc] stages 3;
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
                        unpack_cols y[mo, no] += yc unscale(row) guard(60000);
                    }
                }
            }
        }

        reference |c, i, j| (0..c.k()).map(|k| c.x(i, k) * c.w(j, k)).sum()
    }

    /// Y = X · Wᵀ from Q8_0 tiles, weights outermost, nothing pipelined, rows unscaled.
    kernel forward_q8_weights_outside {
        axes { m: token, n: out, k: in }

        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight q8_0_tiles[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;

        tunable mc in 32..=512;
        tunable nc in 32..=256;
        tunable kc in 32..=8192;

        window wq: q8_0_tiles[nc, kc];
        window wb: weight_tiles f16[nc, kc];
        window xa: activation_tiles f16[mc, kc];
        window yc: output_tiles f16[mc, nc];

        schedule {
            for no in tiles(n, nc) {
                for ko in tiles(k, kc) {
                    load wq <- w[no, ko];
                    dequantise wb <- wq;
                    for mo in tiles(m, mc) {
                        pack_rows xa <- x[mo, ko];
                        multiply yc <- xa * wb;
                        unpack_rows y[mo, no] += yc guard(60000);
                    }
                }
            }
        }

        reference |c, i, j| (0..c.k()).map(|k| c.x(i, k) * c.w(j, k)).sum()
    }
}

kernel! {
    /// Y = X · Wᵀ from Q8_0 tiles: on V79 one block of W in flight, on V81 weights outermost.
    kernel forward_q8_by_arch {
        axes { m: token, n: out, k: in }

        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight q8_0_tiles[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;

        tunable mc in 32..=512;
        tunable nc in 32..=256;
        tunable kc in 32..=8192;

        window xa: activation_tiles f16[mc, kc];
        when v79 {
            window wq: q8_0_tiles[nc, kc] stages 2;
        } else {
            window wq: q8_0_tiles[nc, kc];
        }
        window wb: weight_tiles f16[nc, kc];
        window yc: output_tiles f16[mc, nc];

        schedule {
            when v79 {
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
            } else {
                for no in tiles(n, nc) {
                    for ko in tiles(k, kc) {
                        load wq <- w[no, ko];
                        dequantise wb <- wq;
                        for mo in tiles(m, mc) {
                            pack_rows xa <- x[mo, ko] scale(row);
                            multiply yc <- xa * wb;
                            unpack_rows y[mo, no] += yc unscale(row) guard(60000);
                        }
                    }
                }
            }
        }

        reference |c, i, j| (0..c.k()).map(|k| c.x(i, k) * c.w(j, k)).sum()
    }

    /// Token rows times W in Q8_0 tiles: forward in BF16; the input gradient by operand swap, in FP16 on V79 and in BF16 on V81.
    kernel halves for forward, input_grad {
        axes { m: token, f: free, r: contracted }

        when forward {
            operand x: activation bf16 row_major[m, r] in ddr_stream;
        } else when v79 {
            operand x: activation f16 row_major[m, r] in ddr_stream;
        } else {
            operand x: activation bf16 row_major[m, r] in ddr_stream;
        }
        operand w: weight q8_0_tiles[out, in] in ddr_resident;
        operand y: output f32 row_major[m, f] in ddr_stream;

        tunable mc in 32..=512;
        tunable fc in 32..=256;
        tunable rc in 32..=8192;

        window wq: q8_0_tiles[out, in] stages 2;
        when forward {
            window xt: activation_tiles f16[mc, rc];
            window wt: weight_tiles f16[fc, rc];
            window yt: output_tiles f16[mc, fc];
        } else {
            window xt: weight_tiles f16[mc, rc];
            window wt: activation_tiles f16[fc, rc];
            window yt: output_tiles f16[fc, mc];
        }

        schedule {
            for mo in tiles(m, mc) {
                for ro in tiles(r, rc) {
                    when forward {
                        pack_rows xt <- x[mo, ro] scale(row);
                    } else {
                        pack_cols xt <- x[mo, ro] scale(row);
                    }
                    for fo in tiles(f, fc) pipeline(wq) {
                        load wq <- w[out, in];
                        dequantise wt <- wq;
                        when forward {
                            multiply yt <- xt * wt;
                            unpack_rows y[mo, fo] += yt unscale(row) guard(60000);
                        } else {
                            multiply yt <- swap(xt, wt);
                            unpack_cols y[mo, fo] += yt unscale(row) guard(60000);
                        }
                    }
                }
            }
        }

        when forward {
            reference |c, i, j| (0..c.r()).map(|r| c.x(i, r) * c.w(j, r)).sum()
        } else {
            reference |c, i, j| (0..c.r()).map(|r| c.x(i, r) * c.w(r, j)).sum()
        }
    }

    /// Token rows times W in row-major FP16, in both directions: contraction along the row of W, or over its rows.
    kernel f16_pair for forward, input_grad {
        axes { m: token, f: free, r: contracted }

        operand x: activation f32 row_major[m, r] in ddr_stream;
        operand w: weight f16 row_major[out, in] in ddr_resident;
        operand y: output f32 row_major[m, f] in ddr_stream;

        tunable mc in 32..=512;
        tunable fc in 32..=256;
        tunable rc in 32..=8192;

        window xa: activation_tiles f16[mc, rc];
        window wr: row_major f16[out, in] stages 2;
        window wb: weight_tiles f16[fc, rc];
        window yc: output_tiles f16[mc, fc];

        schedule {
            for mo in tiles(m, mc) {
                for ro in tiles(r, rc) {
                    pack_rows xa <- x[mo, ro] scale(row);
                    for fo in tiles(f, fc) pipeline(wr) {
                        load wr <- w[out, in];
                        when forward {
                            scatter_words wb <- wr split(out);
                        } else {
                            interleave_pairs wb <- wr split(out);
                        }
                        multiply yc <- xa * wb;
                        unpack_rows y[mo, fo] += yc unscale(row) guard(60000);
                    }
                }
            }
        }

        when forward {
            reference |c, i, j| (0..c.r()).map(|r| c.x(i, r) * c.w(j, r)).sum()
        } else {
            reference |c, i, j| (0..c.r()).map(|r| c.x(i, r) * c.w(r, j)).sum()
        }
    }
}

pub fn all() -> Vec<Kernel> {
    vec![
        forward_e5m2_absolute(),
        input_grad_f16_absolute(),
        input_grad_e5m2(),
        forward_f16_swapped(),
        forward_q8_weights_outside(),
        forward_q8_by_arch(),
        forward_halves(),
        input_grad_halves(),
        forward_f16_pair(),
        input_grad_f16_pair(),
    ]
}
