//! GGUF tensor names and their canonical names.

/// Canonical name of a tensor, or `None` when no architecture has such a tensor.
pub(super) fn canonical(name: &str) -> Option<String> {
    match name {
        "token_embd.weight" => return Some("model.embed_tokens.weight".into()),
        "output_norm.weight" => return Some("model.norm.weight".into()),
        "output.weight" => return Some("lm_head.weight".into()),
        _ => {}
    }
    let (layer, part) = name.strip_prefix("blk.")?.split_once('.')?;
    let layer = Some(layer).filter(|text| is_plain_number(text))?;
    let (part, kind) = part.rsplit_once('.').filter(|(_, kind)| ["weight", "bias"].contains(kind))?;
    let part = match part {
        "attn_norm" => "input_layernorm",
        "attn_q" => "self_attn.q_proj",
        "attn_k" => "self_attn.k_proj",
        "attn_v" => "self_attn.v_proj",
        "attn_q_norm" => "self_attn.q_norm",
        "attn_k_norm" => "self_attn.k_norm",
        "attn_output" => "self_attn.o_proj",
        "ffn_norm" => "post_attention_layernorm",
        "ffn_gate" => "mlp.gate_proj",
        "ffn_up" => "mlp.up_proj",
        "ffn_down" => "mlp.down_proj",
        _ => return None,
    };
    Some(format!("model.layers.{layer}.{part}.{kind}"))
}

/// Digits without sign or leading zeros, so that each layer has one spelling.
fn is_plain_number(text: &str) -> bool {
    text.parse::<u32>().is_ok_and(|number| number.to_string() == text)
}

/// True for the rows that llama files store in interleaved-rope order.
pub(super) fn is_rotary(canonical: &str) -> bool {
    canonical.ends_with(".self_attn.q_proj.weight") || canonical.ends_with(".self_attn.k_proj.weight")
}

/// Where row `row` of the file belongs.
///
/// Llama files interleave the two halves of a head (rotary pair `i` lies in rows
/// `2i` and `2i + 1`); the canonical order has them `head_dim/2` apart.
pub(super) fn half_split_row(row: usize, head_dim: usize) -> usize {
    let (head, within) = (row / head_dim, row % head_dim);
    head * head_dim + within % 2 * (head_dim / 2) + within / 2
}
