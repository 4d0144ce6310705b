//! The table of defects. `{K}` in an edit is the name of the kernel's copy.

/// One defect in otherwise right C.
pub struct Defect {
    /// What is wrong.
    pub what: &'static str,
    /// The kernel it is put into.
    pub kernel: &'static str,
    /// Right text and what it becomes.
    pub edits: &'static [(&'static str, &'static str)],
    /// Words of the rule.
    pub says: &'static str,
    /// Step the trap must name.
    pub step: &'static str,
    /// Whether the trap comes from a step, which it must name; the others come from the entry or the loops.
    pub in_a_step: bool,
}

/// Rules no C of a kernel can break: the host's own memory.
pub const UNREACHABLE: [&str; 2] =
    ["the model has no memory for another scattered word", "the model has no memory for another accessed vector"];

const fn step(
    what: &'static str,
    kernel: &'static str,
    step: &'static str,
    edits: &'static [(&'static str, &'static str)],
    says: &'static str,
) -> Defect {
    Defect { what, kernel, edits, says, step, in_a_step: true }
}

const fn elsewhere(
    what: &'static str,
    kernel: &'static str,
    edits: &'static [(&'static str, &'static str)],
    says: &'static str,
) -> Defect {
    Defect { what, kernel, edits, says, step: "", in_a_step: false }
}

const F: &str = "forward_f16";
const G: &str = "input_grad_f16";
const Q: &str = "forward_q8";
const S: &str = "input_grad_q8";
const B: &str = "forward_q8_blocks";
const A: &str = "forward_q8_by_qfloat";
const H: &str = "input_grad_bf16_rows";

pub const DEFECTS: &[Defect] = &[
    step(
        "a weight tile is left out",
        Q,
        "multiply yc",
        &[(
            "strip < tiles_of(at->n_len); strip += workers) {\n        pf_dequantise",
            "strip + 1 < tiles_of(at->n_len); strip += workers) {\n        pf_dequantise",
        )],
        "read of never-written VTCM bytes",
    ),
    step(
        "the multiply reads one tile beyond the run",
        F,
        "multiply yc",
        &[("const uint32_t run = tiles_of(at->k_len);", "const uint32_t run = tiles_of(at->k_len) + 1;")],
        "access outside every window stage of the plan",
    ),
    step(
        "a load is not waited for",
        F,
        "scatter_words wb",
        &[("pf_dma_wait(dev, wr_tickets[no % 2]);", "")],
        "read of bytes whose DMA or scatter was not waited for",
    ),
    step(
        "the ticket of the block before is waited for",
        Q,
        "dequantise wb",
        &[(
            "pf_dma_wait(dev, wq_tickets[no % 2]);",
            "pf_dma_wait(dev, wq_tickets[(no + 1) % 2] ? wq_tickets[no % 2] - 1 : 0);",
        )],
        "read of bytes whose DMA or scatter was not waited for",
    ),
    step(
        "scattered words are not released",
        F,
        "scatter_words wb",
        &[("    pf_scatter_release(dev);\n", "")],
        "a worker ends with scattered words not released",
    ),
    step(
        "a stage is overwritten while its load is in flight",
        S,
        "load wq",
        &[("wq_issued < ko + 2", "wq_issued < ko + 3")],
        "write to bytes whose DMA or scatter was not waited for",
    ),
    elsewhere(
        "the last load is never waited for",
        F,
        &[(
            "    pf_hmx_end(dev);\n}",
            "    {K}_load_wr(dev, plan, request, &(struct {K}_block){.n_len = 32, .k_len = 32}, 0);\n    pf_hmx_end(dev);\n}",
        )],
        "VTCM is released with DMA descriptors in flight",
    ),
    elsewhere(
        "words are scattered after the last release",
        F,
        &[(
            "    pf_hmx_end(dev);\n}",
            "    pf_scatter_words(dev, pf_window(dev, plan, 2, 0), TILE_BYTES, pf_window(dev, plan, 1, 0), 128, 1);\n    pf_hmx_end(dev);\n}",
        )],
        "VTCM is released with scattered words on their way",
    ),
    elsewhere(
        "a ticket is waited for before it is given out",
        Q,
        &[("pf_dma_wait(dev, wq_tickets[no % 2]);", "pf_dma_wait(dev, wq_tickets[no % 2] + 1000);")],
        "wait for a DMA ticket that was never given out",
    ),
    step(
        "a row of tiles is moved as one 16 MB line",
        Q,
        "load wq",
        &[(
            "tile_bytes, tile_bytes,\n                tiles_of(at->k_len));",
            "tile_bytes, 1u << 24,\n                tiles_of(at->k_len));",
        )],
        "DMA width does not fit its 24-bit field",
    ),
    step(
        "a source stride of 16 MB",
        F,
        "load wr",
        &[("from, w->row_stride, tiles_of", "from, 1u << 24, tiles_of")],
        "DMA source stride does not fit its 24-bit field",
    ),
    step(
        "a destination stride of 16 MB",
        F,
        "load wr",
        &[("dev, to, row_bytes, from", "dev, to, 1u << 24, from")],
        "DMA destination stride does not fit its 24-bit field",
    ),
    step(
        "65536 rows in one descriptor",
        F,
        "load wr",
        &[("tiles_of(at->n_len) * TILE_EDGE);", "tiles_of(at->n_len) << 16);")],
        "DMA row count does not fit its 16-bit field",
    ),
    step(
        "one descriptor per row and byte",
        F,
        "load wr",
        &[(
            "    return pf_dma_rows(",
            "    for (uint32_t i = 0; i < 5000; ++i) {\n        pf_dma_rows(dev, to + i % 4096, row_bytes, from, w->row_stride, i < 4096, 1);\n    }\n    for (uint32_t i = 0; i < 5000; ++i) {\n        pf_dma_rows(dev, pf_window(dev, plan, 0, 0) + i, 1, from, 1, 1, 1);\n    }\n    return pf_dma_rows(",
        )],
        "too many DMA descriptors in flight",
    ),
    step(
        "the source begins one row late",
        G,
        "load wr",
        &[("(uint64_t)at->n * w->row_stride", "(uint64_t)(at->n + 1) * w->row_stride")],
        "access to DDR outside every operand of the request",
    ),
    step(
        "a row too many is packed",
        F,
        "pack_rows xa",
        &[("exponents + at->m + row);", "exponents + at->m + row + 64);")],
        "access to DDR outside every operand of the request",
    ),
    step(
        "rows of the window are too far apart",
        F,
        "load wr",
        &[("dev, to, row_bytes, from", "dev, to, row_bytes * 16, from")],
        "access outside every window stage of the plan",
    ),
    step(
        "the second stage is looked for behind the windows",
        S,
        "dequantise wa",
        &[(
            "const uint8_t *from = pf_window(dev, plan, 1, stage);",
            "const uint8_t *from = pf_window(dev, plan, 1, stage) + stage * 256 * VECTOR_BYTES;",
        )],
        "outside every window stage of the plan",
    ),
    step(
        "a tile is written to the reserved end",
        F,
        "multiply yc",
        &[("pf_hmx_store(dev, out + row", "pf_hmx_store(dev, dev->vtcm + dev->vtcm_bytes - TILE_BYTES + 0 * row")],
        "access to the reserved end of VTCM",
    ),
    step(
        "a tile is written behind VTCM",
        F,
        "multiply yc",
        &[("pf_hmx_store(dev, out + row", "pf_hmx_store(dev, dev->vtcm + dev->vtcm_bytes + 0 * row")],
        "access outside VTCM",
    ),
    step(
        "tiles are half a tile off",
        F,
        "pack_rows xa",
        &[("pf_pack_rows(dev, to + row", "pf_pack_rows(dev, to + 1024 + row")],
        "a tile must be aligned to 2048 bytes",
    ),
    step(
        "the weight tile is a vector off",
        Q,
        "multiply yc",
        &[("weight + col * run_stride", "weight + 128 + col * run_stride")],
        "a tile must be aligned to 2048 bytes",
    ),
    step(
        "rows begin in the middle of a vector",
        F,
        "pack_rows xa",
        &[("(uint64_t)at->k * 4);\n        pf_pack_rows", "(uint64_t)at->k * 4 + 4);\n        pf_pack_rows")],
        "a vector access must be aligned to 128 bytes",
    ),
    step(
        "a window that is not there",
        Q,
        "multiply yc",
        &[("uint8_t *out = pf_window(dev, plan, 3, 0);", "uint8_t *out = pf_window(dev, plan, 4, 0);")],
        "no such window in the plan",
    ),
    step(
        "a stage that is not there",
        Q,
        "dequantise wb",
        &[("pf_window(dev, plan, 1, stage);\n    uint8_t *to", "pf_window(dev, plan, 1, stage + 2);\n    uint8_t *to")],
        "no such stage in the window",
    ),
    step(
        "rows of blocks are read from their second block on",
        B,
        "dequantise wb",
        &[("from + row * row_bytes", "from + block_bytes + row * row_bytes")],
        "a row of blocks must be aligned to 128 bytes",
    ),
    step(
        "BF16 rows are read from their second element on",
        H,
        "pack_rows dya",
        &[("(uint64_t)at->n * 2", "(uint64_t)(at->n + 1) * 2")],
        "16-bit rows must be taken from a multiple of 32 columns on",
    ),
    step(
        "half a vector is read from the second element of a row",
        H,
        "apply interleave_two wb",
        &[("pf_vload_half(dev, from + row * row_stride)", "pf_vload_half(dev, from + 2u + row * row_stride)")],
        "half a vector must be aligned to 64 bytes",
    ),
    step(
        "a strip of 33 rows",
        F,
        "pack_rows xa",
        &[("x->row_stride, rows, at->k_len", "x->row_stride, rows + 1, at->k_len")],
        "a strip has 1 to 32 rows",
    ),
    step(
        "a strip without columns",
        S,
        "pack_cols dyb",
        &[("dy->row_stride, rows, at->n_len", "dy->row_stride, rows, at->n_len * 0")],
        "a strip has at least one column",
    ),
    step(
        "an exponent of 127",
        F,
        "unpack_rows y",
        &[(
            "const int32_t *exponents = (const int32_t *)(uintptr_t)request->row_exponents;\n    uint8_t *flags",
            "static const int32_t outside[128] = {[0 ... 127] = 127};\n    struct pf_request patched = *request;\n    patched.operands[3] = (struct pf_operand){.address = (uintptr_t)outside, .bytes = sizeof outside};\n    dev->request = &patched;\n    const int32_t *exponents = outside;\n    uint8_t *flags",
        )],
        "a row exponent must lie in [-126, 126]",
    ),
    step(
        "no flags for rows that overflow",
        Q,
        "unpack_rows y",
        &[("flags + at->m + row, accumulate", "NULL, accumulate")],
        "unpack needs row flags",
    ),
    step(
        "an overflowed result is multiplied again",
        F,
        "multiply yc",
        &[(
            "            pf_hmx_store(dev, out + row * out_stride + col * TILE_BYTES);",
            "            pf_hmx_store(dev, out + row * out_stride + col * TILE_BYTES);\n            pf_hmx_issue(dev, (struct pf_packet){{out + row * out_stride + col * TILE_BYTES, 2047}, {weight, 2047}});",
        )],
        "an overflowed HMX result is used without the retry check",
    ),
    step(
        "HMX is released before the first multiply",
        Q,
        "multiply yc",
        &[
            ("    pf_hmx_bias(dev, record);\n", "    pf_hmx_bias(dev, record);\n    pf_hmx_end(dev);\n"),
            ("            pf_hmx_clear(dev);\n", ""),
        ],
        "HMX is used outside pf_hmx_begin and pf_hmx_end",
    ),
    elsewhere(
        "HMX is taken for every block of rows",
        G,
        &[("        at.m_len = at_most", "        pf_hmx_begin(dev);\n        at.m_len = at_most")],
        "pf_hmx_begin while HMX is already held",
    ),
    elsewhere(
        "HMX is released twice",
        F,
        &[("    pf_hmx_end(dev);\n}", "    pf_hmx_end(dev);\n    pf_hmx_end(dev);\n}")],
        "pf_hmx_end without pf_hmx_begin",
    ),
    elsewhere("HMX is kept", S, &[("    pf_hmx_end(dev);\n}", "}")], "the kernel returned without releasing HMX"),
    step(
        "33 tiles in one packet",
        Q,
        "multiply yc",
        &[("at_most(PACKET_TILES, run - tile) * TILE_BYTES", "(run - tile + PACKET_TILES) * TILE_BYTES")],
        "an HMX packet takes 1 to 32 tiles",
    ),
    step(
        "a tile is stored twice",
        F,
        "multiply yc",
        &[(
            "            pf_hmx_store(dev, out + row * out_stride + col * TILE_BYTES);",
            "            pf_hmx_store(dev, out + row * out_stride + col * TILE_BYTES);\n            pf_hmx_store(dev, out + row * out_stride + col * TILE_BYTES);",
        )],
        "HMX store without a convert since the last store",
    ),
    elsewhere(
        "the accumulator is left open",
        S,
        &[(
            "    pf_hmx_end(dev);\n}",
            "    pf_hmx_issue(dev, (struct pf_packet){{pf_window(dev, plan, 2, 0), 2047}, {pf_window(dev, plan, 0, 0), 2047}});\n    pf_hmx_end(dev);\n}",
        )],
        "pf_hmx_end discards an accumulator that was not stored",
    ),
    step(
        "a tile is converted twice",
        F,
        "multiply yc",
        &[(
            "            pf_hmx_store(dev, out",
            "            pf_hmx_store(dev, out + row * out_stride + col * TILE_BYTES);\n            pf_hmx_convert(dev, PF_CONVERT_NO_RELU);\n            pf_hmx_store(dev, out",
        )],
        "HMX convert without a multiply since the last one",
    ),
    step(
        "a converted tile is not stored",
        Q,
        "multiply yc",
        &[("            pf_hmx_store(dev, out + row * out_stride + col * TILE_BYTES);\n", "")],
        "HMX convert over a converted tile that was not stored",
    ),
    elsewhere(
        "the last converted tile is not stored",
        S,
        &[(
            "    pf_hmx_end(dev);\n}",
            "    pf_hmx_issue(dev, (struct pf_packet){{pf_window(dev, plan, 2, 0), 2047}, {pf_window(dev, plan, 0, 0), 2047}});\n    pf_hmx_convert(dev, PF_CONVERT_NO_RELU);\n    pf_hmx_end(dev);\n}",
        )],
        "pf_hmx_end discards a converted tile that was not stored",
    ),
    step(
        "the convert has a zero control word",
        F,
        "multiply yc",
        &[("pf_hmx_convert(dev, PF_CONVERT_NO_RELU)", "pf_hmx_convert(dev, 0)")],
        "the convert control word applies ReLU: bit 1 is clear",
    ),
    step(
        "the convert writes 32 752 for what overflows",
        G,
        "multiply dxc",
        &[("(dev, PF_CONVERT_NO_RELU)", "(dev, PF_CONVERT_NO_RELU | 1u << 6)")],
        "the convert control word asks for feedback, maxnorm, BF16 or another bias set",
    ),
    step(
        "the weight load is missing from the packet",
        F,
        "multiply yc",
        &[(
            "                packet.weight = (struct pf_load){weight + col * run_stride + tile * TILE_BYTES, last_byte};\n",
            "",
        )],
        "an activation load without its weight load in the same packet",
    ),
    step(
        "the loads are issued one after the other",
        Q,
        "multiply yc",
        &[(
            "{weight + col * run_stride + tile * TILE_BYTES, last_byte};\n",
            "{weight + col * run_stride + tile * TILE_BYTES, last_byte};\n                packet.activation.rs = NULL;\n",
        )],
        "a weight load without its activation load in the same packet",
    ),
    step(
        "the packet is issued empty",
        S,
        "multiply dxc",
        &[("pf_hmx_issue(dev, packet)", "pf_hmx_issue(dev, (struct pf_packet){0})")],
        "an HMX packet without a load",
    ),
    step(
        "the activation begins at row 2",
        F,
        "multiply yc",
        &[("(struct pf_load){activation + row", "(struct pf_load){activation + 128 + row")],
        "low bits of an activation's Rs are row and channel offsets",
    ),
    step(
        "the range is the length of the run, not its last byte",
        F,
        "multiply yc",
        &[("* TILE_BYTES - 1;", "* TILE_BYTES;")],
        "low bits of an activation's Rt mask rows and channels",
    ),
    step(
        "the weight's address has the decompression bit",
        G,
        "multiply dxc",
        &[("(struct pf_load){weight + col", "(struct pf_load){weight + 16 + col")],
        "bit 4 of a weight's Rs decompresses weights",
    ),
    step(
        "the weight's address has the negation bit",
        Q,
        "multiply yc",
        &[("(struct pf_load){weight + col", "(struct pf_load){weight + 32 + col")],
        "bit 5 of a weight's Rs negates the weights",
    ),
    step(
        "the weight's address has the BF16 bit",
        S,
        "multiply dxc",
        &[("(struct pf_load){weight + col", "(struct pf_load){weight + 64 + col")],
        "bit 6 of a weight's Rs reads BF16",
    ),
    step(
        "the weight range is a tile short",
        Q,
        "multiply yc",
        &[("last_byte};\n                pf_hmx_issue", "last_byte - TILE_BYTES};\n                pf_hmx_issue")],
        "the weight range is shorter than the activation's",
    ),
    elsewhere(
        "the bias is a splat of halfwords",
        F,
        &[("pf_vsplat_word(0x3C00)", "pf_vsplat_half(0x3C00)")],
        "the HMX bias is a splat of halfwords",
    ),
    elsewhere(
        "the bias scales by two",
        G,
        &[("pf_vsplat_word(0x3C00)", "pf_vsplat_word(0x4000)")],
        "the HMX bias record is not the identity",
    ),
    elsewhere(
        "half of the bias record is not written",
        S,
        &[("    pf_vstore(dev, record + VECTOR_BYTES, pf_vzero());\n", "")],
        "read of never-written VTCM bytes",
    ),
    elsewhere(
        "the bias lies on a vector, not on a record",
        Q,
        &[("pf_hmx_bias(dev, record);", "pf_hmx_bias(dev, record + VECTOR_BYTES);")],
        "the HMX bias record must be aligned to 256 bytes",
    ),
    step(
        "no bias is loaded",
        Q,
        "multiply yc",
        &[("    pf_hmx_bias(dev, record);\n", "")],
        "HMX convert before a bias record was loaded",
    ),
    elsewhere(
        "VTCM is used after its release",
        F,
        &[(
            "        {K}_run(dev, plan, request);\n        pf_vtcm_release(dev);\n",
            "        pf_vtcm_release(dev);\n        {K}_run(dev, plan, request);\n",
        )],
        "VTCM is used outside pf_vtcm_acquire and pf_vtcm_release",
    ),
    elsewhere(
        "VTCM is not acquired",
        Q,
        &[("status = pf_vtcm_acquire(dev);", "status = PF_OK;")],
        "VTCM is used outside pf_vtcm_acquire and pf_vtcm_release",
    ),
    elsewhere(
        "VTCM is acquired twice",
        G,
        &[("status = pf_vtcm_acquire(dev);", "status = pf_vtcm_acquire(dev) | pf_vtcm_acquire(dev);")],
        "pf_vtcm_acquire while VTCM is already held",
    ),
    elsewhere(
        "VTCM is released twice",
        S,
        &[("        pf_vtcm_release(dev);\n", "        pf_vtcm_release(dev);\n        pf_vtcm_release(dev);\n")],
        "pf_vtcm_release without pf_vtcm_acquire",
    ),
    elsewhere(
        "VTCM is kept",
        F,
        &[("        pf_vtcm_release(dev);\n", "")],
        "the kernel returned without releasing VTCM",
    ),
    step(
        "every worker packs the first strip",
        F,
        "pack_rows xa",
        &[("uint32_t row = worker * TILE_EDGE;", "uint32_t row = 0;")],
        "race between two workers: worker 1 writes what worker 0 writes",
    ),
    step(
        "every worker dequantises every strip",
        Q,
        "dequantise wb",
        &[("uint32_t strip = worker;", "uint32_t strip = 0;")],
        "race between two workers: worker 1 writes what worker 0 writes",
    ),
    step(
        "the strips of all workers go to one scratch tile",
        S,
        "pack_cols dyb",
        &[("pf_pack_cols(dev, to + row / TILE_EDGE * strip_stride", "pf_pack_cols(dev, to")],
        "race between two workers: worker 1 writes what worker 0 writes",
    ),
    step(
        "a worker reads the strip of another",
        F,
        "pack_rows xa",
        &[("exponents + at->m + row);\n    }\n", "exponents + at->m + row);\n    }\n    (void)pf_vload(dev, to);\n")],
        "race between two workers: worker 1 reads what worker 0 writes",
    ),
    step(
        "a worker writes what another has read",
        G,
        "interleave_pairs wb",
        &[(
            "    for (uint32_t strip = worker; strip",
            "    if (worker) {\n        pf_vstore(dev, (uint8_t *)from, pf_vzero());\n    }\n    for (uint32_t strip = worker; strip",
        )],
        "race between two workers: worker 1 writes what worker 0 reads",
    ),
    step(
        "every worker unpacks the first rows",
        Q,
        "unpack_rows y",
        &[(
            "row = worker * TILE_EDGE; row < at->m_len; row += workers * TILE_EDGE) {\n        const uint32_t rows = at_most(TILE_EDGE, at->m_len - row);\n        float *to",
            "row = 0; row < at->m_len; row += workers * TILE_EDGE) {\n        const uint32_t rows = at_most(TILE_EDGE, at->m_len - row);\n        float *to",
        )],
        "race between two workers: worker 1 writes what worker 0 writes",
    ),
    step(
        "all workers flag the same rows",
        F,
        "unpack_rows y",
        &[("flags + at->m + row, accumulate", "flags + at->m, accumulate")],
        "race between two workers: worker 1 writes what worker 0 writes",
    ),
    step(
        "a worker starts workers",
        F,
        "pack_rows xa",
        &[(
            "    for (uint32_t row = worker * TILE_EDGE;",
            "    pf_parallel(dev, {K}_pack_rows_xa_share, argument);\n    for (uint32_t row = worker * TILE_EDGE;",
        )],
        "a worker starts workers of its own",
    ),
    elsewhere(
        "words are scattered and workers started",
        F,
        &[(
            "                {K}_unpack_rows_y(dev",
            "                pf_scatter_words(dev, pf_window(dev, plan, 2, 0), TILE_BYTES, pf_window(dev, plan, 1, no % 2), 128, 1);\n                {K}_unpack_rows_y(dev",
        )],
        "workers start before scattered words are released",
    ),
    step(
        "a worker uses HMX",
        Q,
        "dequantise wb",
        &[("    for (uint32_t strip = worker;", "    pf_hmx_clear(dev);\n    for (uint32_t strip = worker;")],
        "HMX is used by a worker",
    ),
    step(
        "a worker waits for DMA",
        Q,
        "dequantise wb",
        &[("    for (uint32_t strip = worker;", "    pf_dma_wait(dev, 1);\n    for (uint32_t strip = worker;")],
        "DMA is used by a worker",
    ),
    step(
        "a product is stored before it is converted from qfloat",
        A,
        "apply dequantise_by_qfloat wb",
        &[("pf_hf_from_q(low)", "low.lo.bits")],
        "a qfloat vector is stored without conversion",
    ),
    step(
        "the magnitude of a qfloat product is stored",
        A,
        "apply dequantise_by_qfloat wb",
        &[("pf_hf_from_q(high)", "pf_vand(high.hi.bits, pf_vsplat_half(0x7FFF))")],
        "a qfloat vector is stored without conversion",
    ),
    step(
        "an own step stores into the tile beside its own",
        A,
        "apply dequantise_by_qfloat wb",
        &[("pf_vstore(dev, to + 2u * i", "pf_vstore(dev, to + PF_TILE_BYTES + 2u * i")],
        "the body of the step writes outside the tile it makes",
    ),
    step(
        "an own step stores over its input",
        A,
        "apply dequantise_by_qfloat wb",
        &[("pf_vstore(dev, to + 2u * i", "pf_vstore(dev, (uint8_t *)from + 2u * i")],
        "the body of the step writes outside the tile it makes",
    ),
    step(
        "an own step reads the tile behind its input",
        A,
        "apply dequantise_by_qfloat wb",
        &[("pf_vload(dev, from + i", "pf_vload(dev, from + 1152u + i")],
        "the body of the step reads outside the tile it is given",
    ),
    step(
        "an own step reads the patch beside its own",
        H,
        "apply interleave_two wb",
        &[("pf_vload_half(dev, from + row", "pf_vload_half(dev, from + 64u + row")],
        "the body of the step reads outside the tile it is given",
    ),
    step(
        "an own step reads DDR",
        A,
        "apply dequantise_by_qfloat wb",
        &[(
            "pf_vec scales = pf_vload_first(dev, from + 1024, 64);",
            "pf_vec scales = pf_vload_ddr(dev, (const void *)(uintptr_t)dev->request->operands[1].address, 64);",
        )],
        "the body of the step touches DDR",
    ),
    step(
        "an own step stores into another window by plain C",
        A,
        "apply dequantise_by_qfloat wb",
        &[("pf_vec scales = ", "dev->vtcm[64] ^= 1;\n    pf_vec scales = ")],
        "the body of the step wrote to VTCM by plain C",
    ),
    step(
        "an own step stores into its own tile by plain C",
        A,
        "apply dequantise_by_qfloat wb",
        &[(
            "pf_vstore(dev, to + 2u * i * PF_VECTOR_BYTES, pf_hf_from_q(low));",
            "pf_vstore(dev, to + 2u * i * PF_VECTOR_BYTES, pf_hf_from_q(low));\n        to[2u * i * PF_VECTOR_BYTES] ^= 1;",
        )],
        "the body of the step wrote to VTCM by plain C",
    ),
];
