//! Rows of blocks, in both roles: as weight tiles forward, as activation tiles by operand swap.

kernel_gen::kernel! {
    /// Y = X · Wᵀ, three blocks of W in flight.
    pub kernel forward {
        axes { m: token, n: out, k: in }

        operand x: activation f32 row_major[m, k] in ddr_stream;
        operand w: weight q8_0_blocks[n, k] in ddr_resident;
        operand y: output f32 row_major[m, n] in ddr_stream;

        tunable mc in 32..=1024;
        tunable nc in [32, 64, 128];
        tunable kc in 32..=4096 multiple_of 64;

        window xa: activation_tiles f16[mc, kc];
        window wq: q8_0_blocks[nc, kc] stages 3;
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

    /// dX = dY · W.
    pub kernel input_grad {
        axes { m: token, n: out, k: in }

        operand dy: activation f32 row_major[m, n] in ddr_stream;
        operand w: weight q8_0_blocks[n, k] in ddr_resident;
        operand dx: output f32 row_major[m, k] in ddr_stream;

        tunable mc in 32..=1024;
        tunable nc in 32..=4096;
        tunable kc in [32, 64, 128];

        window dyb: weight_tiles f16[mc, nc];
        window wq: q8_0_blocks[nc, kc] stages 2;
        window wa: activation_tiles f16[kc, nc];
        window dxc: output_tiles f16[kc, mc];

        schedule {
            for mo in tiles(m, mc) {
                for no in tiles(n, nc) {
                    pack_cols dyb <- dy[mo, no] scale(row);
                    for ko in tiles(k, kc) pipeline(wq) {
                        load wq <- w[no, ko];
                        dequantise wa <- wq;
                        multiply dxc <- swap(dyb, wa);
                        unpack_cols dx[mo, ko] += dxc unscale(row) guard(60000);
                    }
                }
            }
        }

        reference |c, i, j| (0..c.n()).map(|n| c.dy(i, n) * c.w(n, j)).sum()
    }
}

fn main() {
    let _: kernel_gen::Kernel = forward();
    let _: kernel_gen::Kernel = input_grad();
}
