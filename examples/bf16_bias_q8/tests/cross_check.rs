//! The kernel against its reference.

use bf16_bias_q8::bf16_bias_q8;

#[test]
fn bf16_bias_q8_computes_its_reference() {
    verify::assert_kernel(&bf16_bias_q8());
}
