//! Workers: races between two of them, and what only the thread of the kernel may do.

use super::{Defect, FORWARD_F16, FORWARD_Q8, INPUT_GRAD_F16, INPUT_GRAD_Q8, elsewhere, step};

pub const DEFECTS: &[Defect] = &[
    step(
        "scattered words are not released",
        FORWARD_F16,
        "scatter_words wb",
        &[("    pf_scatter_release(dev);\n", "")],
        "a worker ends with scattered words not released",
    ),
    step(
        "every worker packs the first strip",
        FORWARD_F16,
        "pack_rows xa",
        &[("uint32_t row = worker * TILE_EDGE;", "uint32_t row = 0;")],
        "race between two workers: worker 1 writes what worker 0 writes",
    ),
    step(
        "every worker dequantises every strip",
        FORWARD_Q8,
        "dequantise wb",
        &[("uint32_t strip = worker;", "uint32_t strip = 0;")],
        "race between two workers: worker 1 writes what worker 0 writes",
    ),
    step(
        "the strips of all workers go to one scratch tile",
        INPUT_GRAD_Q8,
        "pack_cols dyb",
        &[("pf_pack_cols(dev, to + row / TILE_EDGE * strip_stride", "pf_pack_cols(dev, to")],
        "race between two workers: worker 1 writes what worker 0 writes",
    ),
    step(
        "a worker reads the strip of another",
        FORWARD_F16,
        "pack_rows xa",
        &[("exponents + at->m + row);\n    }\n", "exponents + at->m + row);\n    }\n    (void)pf_vload(dev, to);\n")],
        "race between two workers: worker 1 reads what worker 0 writes",
    ),
    step(
        "a worker writes what another has read",
        INPUT_GRAD_F16,
        "interleave_pairs wb",
        &[(
            "    for (uint32_t strip = worker; strip",
            "    if (worker) {\n        pf_vstore(dev, (uint8_t *)from, pf_vzero());\n    }\n    for (uint32_t strip = worker; strip",
        )],
        "race between two workers: worker 1 writes what worker 0 reads",
    ),
    step(
        "every worker unpacks the first rows",
        FORWARD_Q8,
        "unpack_rows y",
        &[(
            "row = worker * TILE_EDGE; row < at->m_len; row += workers * TILE_EDGE) {\n        const uint32_t rows = at_most(TILE_EDGE, at->m_len - row);\n        float *to",
            "row = 0; row < at->m_len; row += workers * TILE_EDGE) {\n        const uint32_t rows = at_most(TILE_EDGE, at->m_len - row);\n        float *to",
        )],
        "race between two workers: worker 1 writes what worker 0 writes",
    ),
    step(
        "all workers flag the same rows",
        FORWARD_F16,
        "unpack_rows y",
        &[("flags + at->m + row, accumulate", "flags + at->m, accumulate")],
        "race between two workers: worker 1 writes what worker 0 writes",
    ),
    step(
        "a worker starts workers",
        FORWARD_F16,
        "pack_rows xa",
        &[(
            "    for (uint32_t row = worker * TILE_EDGE;",
            "    pf_parallel(dev, {K}_pack_rows_xa_share, argument);\n    for (uint32_t row = worker * TILE_EDGE;",
        )],
        "a worker starts workers of its own",
    ),
    elsewhere(
        "words are scattered and workers started",
        FORWARD_F16,
        &[(
            "                {K}_unpack_rows_y(dev",
            "                pf_scatter_words(dev, pf_window(dev, plan, 2, 0), TILE_BYTES, pf_window(dev, plan, 1, no % 2), 128, 1);\n                {K}_unpack_rows_y(dev",
        )],
        "workers start before scattered words are released",
    ),
    step(
        "a worker uses HMX",
        FORWARD_Q8,
        "dequantise wb",
        &[("    for (uint32_t strip = worker;", "    pf_hmx_clear(dev);\n    for (uint32_t strip = worker;")],
        "HMX is used by a worker",
    ),
    step(
        "a worker waits for DMA",
        FORWARD_Q8,
        "dequantise wb",
        &[("    for (uint32_t strip = worker;", "    pf_dma_wait(dev, 1);\n    for (uint32_t strip = worker;")],
        "DMA is used by a worker",
    ),
];
