//! Steps of an author's own: their tiles, and memory they may not touch.

use super::{BF16_ROWS, BY_QFLOAT, Defect, step};

pub const DEFECTS: &[Defect] = &[
    step(
        "an own step stores into the tile beside its own",
        BY_QFLOAT,
        "apply dequantise_by_qfloat wb",
        &[("pf_vstore(dev, to + 2u * i", "pf_vstore(dev, to + PF_TILE_BYTES + 2u * i")],
        "the body of the step writes outside the tile it makes",
    ),
    step(
        "an own step stores over its input",
        BY_QFLOAT,
        "apply dequantise_by_qfloat wb",
        &[("pf_vstore(dev, to + 2u * i", "pf_vstore(dev, (uint8_t *)from + 2u * i")],
        "the body of the step writes outside the tile it makes",
    ),
    step(
        "an own step reads the tile behind its input",
        BY_QFLOAT,
        "apply dequantise_by_qfloat wb",
        &[("pf_vload(dev, from + i", "pf_vload(dev, from + 1152u + i")],
        "the body of the step reads outside the tile it is given",
    ),
    step(
        "an own step reads the patch beside its own",
        BF16_ROWS,
        "apply interleave_two wb",
        &[("pf_vload_half(dev, from + row", "pf_vload_half(dev, from + 64u + row")],
        "the body of the step reads outside the tile it is given",
    ),
    step(
        "an own step reads DDR",
        BY_QFLOAT,
        "apply dequantise_by_qfloat wb",
        &[(
            "pf_vec scales = pf_vload_first(dev, from + 1024, 64);",
            "pf_vec scales = pf_vload_ddr(dev, (const void *)(uintptr_t)dev->request->operands[1].address, 64);",
        )],
        "the body of the step touches DDR",
    ),
    step(
        "an own step stores into another window by plain C",
        BY_QFLOAT,
        "apply dequantise_by_qfloat wb",
        &[("pf_vec scales = ", "dev->vtcm[64] ^= 1;\n    pf_vec scales = ")],
        "the body of the step wrote to VTCM by plain C",
    ),
    step(
        "an own step stores into its own tile by plain C",
        BY_QFLOAT,
        "apply dequantise_by_qfloat wb",
        &[(
            "pf_vstore(dev, to + 2u * i * PF_VECTOR_BYTES, pf_hf_from_q(low));",
            "pf_vstore(dev, to + 2u * i * PF_VECTOR_BYTES, pf_hf_from_q(low));\n        to[2u * i * PF_VECTOR_BYTES] ^= 1;",
        )],
        "the body of the step wrote to VTCM by plain C",
    ),
];
