//! VTCM: its windows and stages, alignment, what was never written, taking and giving back.

use super::{Defect, FORWARD_F16, FORWARD_Q8, INPUT_GRAD_F16, INPUT_GRAD_Q8, elsewhere, step};

pub const DEFECTS: &[Defect] = &[
    step(
        "a weight tile is left out",
        FORWARD_Q8,
        "multiply yc",
        &[(
            "strip < tiles_of(at->n_len); strip += workers) {\n        pf_dequantise",
            "strip + 1 < tiles_of(at->n_len); strip += workers) {\n        pf_dequantise",
        )],
        "read of never-written VTCM bytes",
    ),
    step(
        "the multiply reads one tile beyond the run",
        FORWARD_F16,
        "multiply yc",
        &[("const uint32_t run = tiles_of(at->k_len);", "const uint32_t run = tiles_of(at->k_len) + 1;")],
        "access outside every window stage of the plan",
    ),
    step(
        "rows of the window are too far apart",
        FORWARD_F16,
        "load wr",
        &[("dev, to, row_bytes, from", "dev, to, row_bytes * 16, from")],
        "access outside every window stage of the plan",
    ),
    step(
        "the second stage is looked for behind the windows",
        INPUT_GRAD_Q8,
        "dequantise wa",
        &[(
            "const uint8_t *from = pf_window(dev, plan, 1, stage);",
            "const uint8_t *from = pf_window(dev, plan, 1, stage) + stage * 256 * VECTOR_BYTES;",
        )],
        "outside every window stage of the plan",
    ),
    step(
        "a tile is written to the reserved end",
        FORWARD_F16,
        "multiply yc",
        &[("pf_hmx_store(dev, out + row", "pf_hmx_store(dev, dev->vtcm + dev->vtcm_bytes - TILE_BYTES + 0 * row")],
        "access to the reserved end of VTCM",
    ),
    step(
        "a tile is written behind VTCM",
        FORWARD_F16,
        "multiply yc",
        &[("pf_hmx_store(dev, out + row", "pf_hmx_store(dev, dev->vtcm + dev->vtcm_bytes + 0 * row")],
        "access outside VTCM",
    ),
    step(
        "tiles are half a tile off",
        FORWARD_F16,
        "pack_rows xa",
        &[("pf_pack_rows(dev, to + row", "pf_pack_rows(dev, to + 1024 + row")],
        "a tile must be aligned to 2048 bytes",
    ),
    step(
        "the weight tile is a vector off",
        FORWARD_Q8,
        "multiply yc",
        &[("weight + col * run_stride", "weight + 128 + col * run_stride")],
        "a tile must be aligned to 2048 bytes",
    ),
    step(
        "rows begin in the middle of a vector",
        FORWARD_F16,
        "pack_rows xa",
        &[("(uint64_t)at->k * 4);\n        pf_pack_rows", "(uint64_t)at->k * 4 + 4);\n        pf_pack_rows")],
        "a vector access must be aligned to 128 bytes",
    ),
    step(
        "a window that is not there",
        FORWARD_Q8,
        "multiply yc",
        &[("uint8_t *out = pf_window(dev, plan, 3, 0);", "uint8_t *out = pf_window(dev, plan, 4, 0);")],
        "no such window in the plan",
    ),
    step(
        "a stage that is not there",
        FORWARD_Q8,
        "dequantise wb",
        &[("pf_window(dev, plan, 1, stage);\n    uint8_t *to", "pf_window(dev, plan, 1, stage + 2);\n    uint8_t *to")],
        "no such stage in the window",
    ),
    elsewhere(
        "half of the bias record is not written",
        INPUT_GRAD_Q8,
        &[("    pf_vstore(dev, record + VECTOR_BYTES, pf_vzero());\n", "")],
        "read of never-written VTCM bytes",
    ),
    elsewhere(
        "VTCM is used after its release",
        FORWARD_F16,
        &[(
            "        {K}_run(dev, plan, request);\n        pf_vtcm_release(dev);\n",
            "        pf_vtcm_release(dev);\n        {K}_run(dev, plan, request);\n",
        )],
        "VTCM is used outside pf_vtcm_acquire and pf_vtcm_release",
    ),
    elsewhere(
        "VTCM is not acquired",
        FORWARD_Q8,
        &[("status = pf_vtcm_acquire(dev);", "status = PF_OK;")],
        "VTCM is used outside pf_vtcm_acquire and pf_vtcm_release",
    ),
    elsewhere(
        "VTCM is acquired twice",
        INPUT_GRAD_F16,
        &[("status = pf_vtcm_acquire(dev);", "status = pf_vtcm_acquire(dev) | pf_vtcm_acquire(dev);")],
        "pf_vtcm_acquire while VTCM is already held",
    ),
    elsewhere(
        "VTCM is released twice",
        INPUT_GRAD_Q8,
        &[("        pf_vtcm_release(dev);\n", "        pf_vtcm_release(dev);\n        pf_vtcm_release(dev);\n")],
        "pf_vtcm_release without pf_vtcm_acquire",
    ),
    elsewhere(
        "VTCM is kept",
        FORWARD_F16,
        &[("        pf_vtcm_release(dev);\n", "")],
        "the kernel returned without releasing VTCM",
    ),
];
