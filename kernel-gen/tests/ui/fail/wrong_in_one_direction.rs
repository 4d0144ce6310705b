//! A mistake in one direction says which.

kernel_gen::kernel! {
    /// Token rows times a frozen weight in Q8_0 tiles, in both directions from the same bytes.
    pub kernel q8 for forward, input_grad {
        axes { m: token, f: free, r: contracted }

        operand x: activation f32 row_major[m, r] in ddr_stream;
        operand w: weight q8_0_tiles[out, in] in ddr_resident;
        operand y: output f32 row_major[m, f] in ddr_stream;

        tunable mc in 32..=2048;
        tunable fc in 32..=512;
        tunable rc in 32..=16384;

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
                        }
                        when input_grad {
                            multiply yt <- swap(xt, wt);
                            unpack_rows y[mo, fo] += yt unscale(row) guard(60000);
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
}

fn main() {
    for kernel in [forward_q8(), input_grad_q8()] {
        kernel_gen::verify(&kernel).unwrap();
    }
}
