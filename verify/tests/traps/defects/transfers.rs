//! Transfers: DMA descriptors and tickets, scattered words, and the DDR they reach.

use super::{Defect, FORWARD_F16, FORWARD_Q8, INPUT_GRAD_F16, INPUT_GRAD_Q8, elsewhere, step};

pub const DEFECTS: &[Defect] = &[
    step(
        "a load is not waited for",
        FORWARD_F16,
        "scatter_words wb",
        &[("pf_dma_wait(dev, wr_tickets[no % 2]);", "")],
        "read of bytes whose DMA or scatter was not waited for",
    ),
    step(
        "the ticket of the block before is waited for",
        FORWARD_Q8,
        "dequantise wb",
        &[(
            "pf_dma_wait(dev, wq_tickets[no % 2]);",
            "pf_dma_wait(dev, wq_tickets[(no + 1) % 2] ? wq_tickets[no % 2] - 1 : 0);",
        )],
        "read of bytes whose DMA or scatter was not waited for",
    ),
    step(
        "a stage is overwritten while its load is in flight",
        INPUT_GRAD_Q8,
        "load wq",
        &[("wq_issued < ko + 2", "wq_issued < ko + 3")],
        "write to bytes whose DMA or scatter was not waited for",
    ),
    elsewhere(
        "the last load is never waited for",
        FORWARD_F16,
        &[(
            "    pf_hmx_end(dev);\n}",
            "    {K}_load_wr(dev, plan, request, &(struct {K}_block){.n_len = 32, .k_len = 32}, 0);\n    pf_hmx_end(dev);\n}",
        )],
        "VTCM is released with DMA descriptors in flight",
    ),
    elsewhere(
        "words are scattered after the last release",
        FORWARD_F16,
        &[(
            "    pf_hmx_end(dev);\n}",
            "    pf_scatter_words(dev, pf_window(dev, plan, 2, 0), TILE_BYTES, pf_window(dev, plan, 1, 0), 128, 1);\n    pf_hmx_end(dev);\n}",
        )],
        "VTCM is released with scattered words on their way",
    ),
    elsewhere(
        "a ticket is waited for before it is given out",
        FORWARD_Q8,
        &[("pf_dma_wait(dev, wq_tickets[no % 2]);", "pf_dma_wait(dev, wq_tickets[no % 2] + 1000);")],
        "wait for a DMA ticket that was never given out",
    ),
    step(
        "a row of tiles is moved as one 16 MB line",
        FORWARD_Q8,
        "load wq",
        &[(
            "tile_bytes, tile_bytes,\n                tiles_of(at->k_len));",
            "tile_bytes, 1u << 24,\n                tiles_of(at->k_len));",
        )],
        "DMA width does not fit its 24-bit field",
    ),
    step(
        "a source stride of 16 MB",
        FORWARD_F16,
        "load wr",
        &[("from, w->row_stride, tiles_of", "from, 1u << 24, tiles_of")],
        "DMA source stride does not fit its 24-bit field",
    ),
    step(
        "a destination stride of 16 MB",
        FORWARD_F16,
        "load wr",
        &[("dev, to, row_bytes, from", "dev, to, 1u << 24, from")],
        "DMA destination stride does not fit its 24-bit field",
    ),
    step(
        "65536 rows in one descriptor",
        FORWARD_F16,
        "load wr",
        &[("tiles_of(at->n_len) * TILE_EDGE);", "tiles_of(at->n_len) << 16);")],
        "DMA row count does not fit its 16-bit field",
    ),
    step(
        "one descriptor per row and byte",
        FORWARD_F16,
        "load wr",
        &[(
            "    return pf_dma_rows(",
            "    for (uint32_t i = 0; i < 5000; ++i) {\n        pf_dma_rows(dev, to + i % 4096, row_bytes, from, w->row_stride, i < 4096, 1);\n    }\n    for (uint32_t i = 0; i < 5000; ++i) {\n        pf_dma_rows(dev, pf_window(dev, plan, 0, 0) + i, 1, from, 1, 1, 1);\n    }\n    return pf_dma_rows(",
        )],
        "too many DMA descriptors in flight",
    ),
    step(
        "the source begins one row late",
        INPUT_GRAD_F16,
        "load wr",
        &[("(uint64_t)at->n * w->row_stride", "(uint64_t)(at->n + 1) * w->row_stride")],
        "access to DDR outside every operand of the request",
    ),
    step(
        "a row too many is packed",
        FORWARD_F16,
        "pack_rows xa",
        &[("exponents + at->m + row);", "exponents + at->m + row + 64);")],
        "access to DDR outside every operand of the request",
    ),
];
