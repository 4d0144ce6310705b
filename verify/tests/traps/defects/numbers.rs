//! Strips of rows and their numbers: exponents, retry flags, element and block positions, qfloat.

use super::{BF16_ROWS, BY_QFLOAT, Defect, FORWARD_F16, FORWARD_Q8, FORWARD_Q8_BLOCKS, INPUT_GRAD_Q8, step};

pub const DEFECTS: &[Defect] = &[
    step(
        "rows of blocks are read from their second block on",
        FORWARD_Q8_BLOCKS,
        "dequantise wb",
        &[("from + row * row_bytes", "from + block_bytes + row * row_bytes")],
        "a row of blocks must be aligned to 128 bytes",
    ),
    step(
        "BF16 rows are read from their second element on",
        BF16_ROWS,
        "pack_rows dya",
        &[("(uint64_t)at->n * 2", "(uint64_t)(at->n + 1) * 2")],
        "16-bit rows must be taken from a multiple of 32 columns on",
    ),
    step(
        "half a vector is read from the second element of a row",
        BF16_ROWS,
        "apply interleave_two wb",
        &[("pf_vload_half(dev, from + row * row_stride)", "pf_vload_half(dev, from + 2u + row * row_stride)")],
        "half a vector must be aligned to 64 bytes",
    ),
    step(
        "a strip of 33 rows",
        FORWARD_F16,
        "pack_rows xa",
        &[("x->row_stride, rows, at->k_len", "x->row_stride, rows + 1, at->k_len")],
        "a strip has 1 to 32 rows",
    ),
    step(
        "a strip without columns",
        INPUT_GRAD_Q8,
        "pack_cols dyb",
        &[("dy->row_stride, rows, at->n_len", "dy->row_stride, rows, at->n_len * 0")],
        "a strip has at least one column",
    ),
    step(
        "an exponent of 127",
        FORWARD_F16,
        "unpack_rows y",
        &[(
            "const int32_t *exponents = (const int32_t *)(uintptr_t)request->row_exponents;\n    uint8_t *flags",
            "static const int32_t outside[128] = {[0 ... 127] = 127};\n    struct pf_request patched = *request;\n    patched.operands[3] = (struct pf_operand){.address = (uintptr_t)outside, .bytes = sizeof outside};\n    dev->request = &patched;\n    const int32_t *exponents = outside;\n    uint8_t *flags",
        )],
        "a row exponent must lie in [-126, 126]",
    ),
    step(
        "no flags for rows that overflow",
        FORWARD_Q8,
        "unpack_rows y",
        &[("flags + at->m + row, accumulate", "NULL, accumulate")],
        "unpack needs row flags",
    ),
    step(
        "an overflowed result is multiplied again",
        FORWARD_F16,
        "multiply yc",
        &[(
            "            pf_hmx_store(dev, out + row * out_stride + col * TILE_BYTES);",
            "            pf_hmx_store(dev, out + row * out_stride + col * TILE_BYTES);\n            pf_hmx_issue(dev, (struct pf_packet){{out + row * out_stride + col * TILE_BYTES, 2047}, {weight, 2047}});",
        )],
        "an overflowed HMX result is used without the retry check",
    ),
    step(
        "a product is stored before it is converted from qfloat",
        BY_QFLOAT,
        "apply dequantise_by_qfloat wb",
        &[("pf_hf_from_q(low)", "low.lo.bits")],
        "a qfloat vector is stored without conversion",
    ),
    step(
        "the magnitude of a qfloat product is stored",
        BY_QFLOAT,
        "apply dequantise_by_qfloat wb",
        &[("pf_hf_from_q(high)", "pf_vand(high.hi.bits, pf_vsplat_half(0x7FFF))")],
        "a qfloat vector is stored without conversion",
    ),
];
