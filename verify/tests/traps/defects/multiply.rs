//! The multiply unit: packets of tile pairs, accumulator, convert, bias record.

use super::{Defect, FORWARD_F16, FORWARD_Q8, INPUT_GRAD_F16, INPUT_GRAD_Q8, elsewhere, step};

pub const DEFECTS: &[Defect] = &[
    step(
        "HMX is released before the first multiply",
        FORWARD_Q8,
        "multiply yc",
        &[
            ("    pf_hmx_bias(dev, record);\n", "    pf_hmx_bias(dev, record);\n    pf_hmx_end(dev);\n"),
            ("            pf_hmx_clear(dev);\n", ""),
        ],
        "HMX is used outside pf_hmx_begin and pf_hmx_end",
    ),
    elsewhere(
        "HMX is taken for every block of rows",
        INPUT_GRAD_F16,
        &[("        at.m_len = at_most", "        pf_hmx_begin(dev);\n        at.m_len = at_most")],
        "pf_hmx_begin while HMX is already held",
    ),
    elsewhere(
        "HMX is released twice",
        FORWARD_F16,
        &[("    pf_hmx_end(dev);\n}", "    pf_hmx_end(dev);\n    pf_hmx_end(dev);\n}")],
        "pf_hmx_end without pf_hmx_begin",
    ),
    elsewhere(
        "HMX is kept",
        INPUT_GRAD_Q8,
        &[("    pf_hmx_end(dev);\n}", "}")],
        "the kernel returned without releasing HMX",
    ),
    step(
        "33 tiles in one packet",
        FORWARD_Q8,
        "multiply yc",
        &[("at_most(PACKET_TILES, run - tile) * TILE_BYTES", "(run - tile + PACKET_TILES) * TILE_BYTES")],
        "an HMX packet takes 1 to 32 tiles",
    ),
    step(
        "a tile is stored twice",
        FORWARD_F16,
        "multiply yc",
        &[(
            "            pf_hmx_store(dev, out + row * out_stride + col * TILE_BYTES);",
            "            pf_hmx_store(dev, out + row * out_stride + col * TILE_BYTES);\n            pf_hmx_store(dev, out + row * out_stride + col * TILE_BYTES);",
        )],
        "HMX store without a convert since the last store",
    ),
    elsewhere(
        "the accumulator is left open",
        INPUT_GRAD_Q8,
        &[(
            "    pf_hmx_end(dev);\n}",
            "    pf_hmx_issue(dev, (struct pf_packet){{pf_window(dev, plan, 2, 0), 2047}, {pf_window(dev, plan, 0, 0), 2047}});\n    pf_hmx_end(dev);\n}",
        )],
        "pf_hmx_end discards an accumulator that was not stored",
    ),
    step(
        "a tile is converted twice",
        FORWARD_F16,
        "multiply yc",
        &[(
            "            pf_hmx_store(dev, out",
            "            pf_hmx_store(dev, out + row * out_stride + col * TILE_BYTES);\n            pf_hmx_convert(dev, PF_CONVERT_NO_RELU);\n            pf_hmx_store(dev, out",
        )],
        "HMX convert without a multiply since the last one",
    ),
    step(
        "a converted tile is not stored",
        FORWARD_Q8,
        "multiply yc",
        &[("            pf_hmx_store(dev, out + row * out_stride + col * TILE_BYTES);\n", "")],
        "HMX convert over a converted tile that was not stored",
    ),
    elsewhere(
        "the last converted tile is not stored",
        INPUT_GRAD_Q8,
        &[(
            "    pf_hmx_end(dev);\n}",
            "    pf_hmx_issue(dev, (struct pf_packet){{pf_window(dev, plan, 2, 0), 2047}, {pf_window(dev, plan, 0, 0), 2047}});\n    pf_hmx_convert(dev, PF_CONVERT_NO_RELU);\n    pf_hmx_end(dev);\n}",
        )],
        "pf_hmx_end discards a converted tile that was not stored",
    ),
    step(
        "the convert has a zero control word",
        FORWARD_F16,
        "multiply yc",
        &[("pf_hmx_convert(dev, PF_CONVERT_NO_RELU)", "pf_hmx_convert(dev, 0)")],
        "the convert control word applies ReLU: bit 1 is clear",
    ),
    step(
        "the convert writes 32 752 for what overflows",
        INPUT_GRAD_F16,
        "multiply dxc",
        &[("(dev, PF_CONVERT_NO_RELU)", "(dev, PF_CONVERT_NO_RELU | 1u << 6)")],
        "the convert control word asks for feedback, maxnorm, BF16 or another bias set",
    ),
    step(
        "the weight load is missing from the packet",
        FORWARD_F16,
        "multiply yc",
        &[(
            "                packet.weight = (struct pf_load){weight + col * run_stride + tile * TILE_BYTES, last_byte};\n",
            "",
        )],
        "an activation load without its weight load in the same packet",
    ),
    step(
        "the loads are issued one after the other",
        FORWARD_Q8,
        "multiply yc",
        &[(
            "{weight + col * run_stride + tile * TILE_BYTES, last_byte};\n",
            "{weight + col * run_stride + tile * TILE_BYTES, last_byte};\n                packet.activation.rs = NULL;\n",
        )],
        "a weight load without its activation load in the same packet",
    ),
    step(
        "the packet is issued empty",
        INPUT_GRAD_Q8,
        "multiply dxc",
        &[("pf_hmx_issue(dev, packet)", "pf_hmx_issue(dev, (struct pf_packet){0})")],
        "an HMX packet without a load",
    ),
    step(
        "the activation begins at row 2",
        FORWARD_F16,
        "multiply yc",
        &[("(struct pf_load){activation + row", "(struct pf_load){activation + 128 + row")],
        "low bits of an activation's Rs are row and channel offsets",
    ),
    step(
        "the range is the length of the run, not its last byte",
        FORWARD_F16,
        "multiply yc",
        &[("* TILE_BYTES - 1;", "* TILE_BYTES;")],
        "low bits of an activation's Rt mask rows and channels",
    ),
    step(
        "the weight's address has the decompression bit",
        INPUT_GRAD_F16,
        "multiply dxc",
        &[("(struct pf_load){weight + col", "(struct pf_load){weight + 16 + col")],
        "bit 4 of a weight's Rs decompresses weights",
    ),
    step(
        "the weight's address has the negation bit",
        FORWARD_Q8,
        "multiply yc",
        &[("(struct pf_load){weight + col", "(struct pf_load){weight + 32 + col")],
        "bit 5 of a weight's Rs negates the weights",
    ),
    step(
        "the weight's address has the BF16 bit",
        INPUT_GRAD_Q8,
        "multiply dxc",
        &[("(struct pf_load){weight + col", "(struct pf_load){weight + 64 + col")],
        "bit 6 of a weight's Rs reads BF16",
    ),
    step(
        "the weight range is a tile short",
        FORWARD_Q8,
        "multiply yc",
        &[("last_byte};\n                pf_hmx_issue", "last_byte - TILE_BYTES};\n                pf_hmx_issue")],
        "the weight range is shorter than the activation's",
    ),
    elsewhere(
        "the bias is a splat of halfwords",
        FORWARD_F16,
        &[("pf_vsplat_word(0x3C00)", "pf_vsplat_half(0x3C00)")],
        "the HMX bias is a splat of halfwords",
    ),
    elsewhere(
        "the bias scales by two",
        INPUT_GRAD_F16,
        &[("pf_vsplat_word(0x3C00)", "pf_vsplat_word(0x4000)")],
        "the HMX bias record is not the identity",
    ),
    elsewhere(
        "the bias lies on a vector, not on a record",
        FORWARD_Q8,
        &[("pf_hmx_bias(dev, record);", "pf_hmx_bias(dev, record + VECTOR_BYTES);")],
        "the HMX bias record must be aligned to 256 bytes",
    ),
    step(
        "no bias is loaded",
        FORWARD_Q8,
        "multiply yc",
        &[("    pf_hmx_bias(dev, record);\n", "")],
        "HMX convert before a bias record was loaded",
    ),
];
