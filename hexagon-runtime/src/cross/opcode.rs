//! One disassembled instruction: what kind it is, read off its text, or off its word where the disassembler has no text.

/// Kinds of instruction a build counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Scalar core.
    Scalar,
    /// HVX on integers and bits, loads, stores and permutes included.
    HvxInteger,
    /// HVX in qfloat, with the conversions out of it.
    QFloat,
    /// HVX conversions between integers and IEEE floats (`v0.hf = v1.h`).
    FloatConversion,
    /// HVX float comparisons and exponents.
    FloatComparison,
    /// HVX arithmetic with IEEE results, minimum, maximum and conversion included; V79 no longer has it.
    IeeeFloat,
    /// User DMA.
    UserDma,
    /// HMX.
    Hmx(HmxOp),
    /// A word that means nothing to the disassembler or to this table.
    Unknown,
}

/// The HMX instructions the device layer issues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HmxOp {
    /// `mxclracc.hf`
    Clear,
    /// `bias = mxmem2(Rs)`
    Bias,
    /// `activation.hf = mxmem(Rs, Rt)`
    Activation,
    /// `weight.hf = mxmem(Rs, Rt)`
    Weight,
    /// `mxmem(Rs, Rt):after.hf = acc`
    StoreAccumulator,
    /// `cvt.hf = acc(Rs)`
    Convert,
    /// `mxmem(Rs, Rt) = cvt`
    Store,
}

/// Fixed bits of every HMX word: value, then mask. Register and parse bits are left out.
const HMX: [(HmxOp, u32, u32); 7] = [
    (HmxOp::Clear, 0xA6E0_0013, 0xFFFF_3FFF),
    (HmxOp::Bias, 0x9200_03FE, 0xFFE0_3FFF),
    (HmxOp::Activation, 0x9200_00E4, 0xFFE0_20FF),
    (HmxOp::Weight, 0x9200_20EF, 0xFFE0_20FF),
    (HmxOp::StoreAccumulator, 0xA6E0_2004, 0xFFE0_20FF),
    (HmxOp::Convert, 0xA6E0_1A10, 0xFFE0_3FFF),
    (HmxOp::Store, 0xA6E0_0018, 0xFFE0_20FF),
];

/// As Qualcomm's disassembler writes them.
const HMX_TEXT: [(&str, HmxOp); 7] = [
    ("mxclracc.hf", HmxOp::Clear),
    ("bias = mxmem2", HmxOp::Bias),
    ("activation.hf = mxmem", HmxOp::Activation),
    ("weight.hf = mxmem", HmxOp::Weight),
    (":after.hf = acc", HmxOp::StoreAccumulator),
    ("cvt.hf = acc", HmxOp::Convert),
    (" = cvt", HmxOp::Store),
];

const DMA: [&str; 10] =
    ["dmstart", "dmlink", "dmpoll", "dmwait", "dmpause", "dmresume", "dmsyncht", "dmtlbsynch", "dmcfgrd", "dmcfgwr"];
const FLOATS: [&str; 6] = [".sf", ".hf", ".bf", ".f8", ".qf16", ".qf32"];

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opcode {
    /// Its word.
    pub word: u32,
    /// Its text without braces; `<unknown>` where there is none.
    pub text: String,
}

impl Opcode {
    /// Whether the word ends a packet: both parse bits are set.
    pub fn ends_packet(&self) -> bool {
        self.word >> 14 & 3 == 3
    }

    /// What kind it is.
    pub fn class(&self) -> Class {
        let text = self.text.as_str();
        if text.contains("<unknown>") {
            let known = HMX.iter().find(|(_, value, mask)| self.word & mask == *value);
            return known.map_or(Class::Unknown, |(op, ..)| Class::Hmx(*op));
        }
        if let Some((_, op)) = HMX_TEXT.iter().find(|(words, _)| text.contains(words)) {
            return Class::Hmx(*op);
        }
        if text.contains("mxmem") || text.contains("mxclracc") || text.contains("mxswapacc") || text.contains("= acc") {
            return Class::Unknown;
        }
        if DMA.iter().any(|name| text.contains(name)) {
            return Class::UserDma;
        }
        vector_class(text)
    }
}

fn vector_class(text: &str) -> Class {
    // A symbol a jump names may look like anything.
    let text = text.split('<').next().unwrap_or(text);
    let operation = operation(text);
    let float = FLOATS.iter().any(|suffix| has_suffix(text, suffix));
    if !float && !operation.starts_with("vfmv") {
        // Bits beside the number that a qfloat register carries.
        if operation.contains("qfext") {
            return Class::QFloat;
        }
        return if is_vector(text) { Class::HvxInteger } else { Class::Scalar };
    }
    if has_suffix(text, ".qf16") || has_suffix(text, ".qf32") {
        return Class::QFloat;
    }
    match operation {
        "" => Class::FloatConversion,
        _ if operation.starts_with("vcmp") || operation.starts_with("vilog2") => Class::FloatComparison,
        _ => Class::IeeeFloat,
    }
}

/// The name in front of the first bracket behind the equals sign; empty where a register is merely written as another type.
fn operation(text: &str) -> &str {
    let right = text.split_once('=').map_or(text, |(_, right)| right);
    match right.split_once('(') {
        Some((name, _)) => name.trim_start_matches(['=', '+', '&', '|', '^', ' ']).trim(),
        None => "",
    }
}

/// Whether an operand ends in `suffix`.
fn has_suffix(text: &str, suffix: &str) -> bool {
    text.match_indices(suffix).any(|(at, found)| {
        !text[at + found.len()..].starts_with(|c: char| c.is_ascii_alphanumeric())
            && text[..at].ends_with(|c: char| c.is_ascii_digit())
    })
}

/// Whether a vector register, a vector predicate or vector memory is named.
fn is_vector(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.any(|word| {
        let register =
            word.strip_prefix(['v', 'q']).is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
        register || word == "vmem" || word == "vmemu" || word == "vtmp" || word == "vhist"
    })
}

#[cfg(test)]
mod tests {
    use super::{Class, HmxOp, Opcode};

    fn class(text: &str) -> Class {
        Opcode { word: 0, text: text.into() }.class()
    }

    #[test]
    fn by_text() {
        assert_eq!(class("v0.sf = vadd(v1.sf,v2.sf)"), Class::IeeeFloat);
        assert_eq!(class("v1:0.sf += vmpy(v2.hf,v3.hf)"), Class::IeeeFloat);
        assert_eq!(class("v0.w = vfmv(v1.w)"), Class::IeeeFloat);
        assert_eq!(class("v0.qf32 = vadd(v19.qf32,v2.sf)"), Class::QFloat);
        assert_eq!(class("v0.sf = v0.qf32"), Class::QFloat);
        assert_eq!(class("v5.hf = v6.h"), Class::FloatConversion);
        assert_eq!(class("q0 = vcmp.gt(v1.sf,v2.sf)"), Class::FloatComparison);
        assert_eq!(class("r3 = dmpoll"), Class::UserDma);
        assert_eq!(class("{ activation.hf = mxmem(r0,r1):deep"), Class::Hmx(HmxOp::Activation));
        assert_eq!(class("v1:0.w = vmpy(v2.h,v3.h)"), Class::HvxInteger);
        assert_eq!(class("vmem(r0+#0) = v1"), Class::HvxInteger);
        assert_eq!(class("r0 = sfmpy(r1,r2)"), Class::Scalar);
        assert_eq!(class("call 0x100 <step.sf>"), Class::Scalar);
    }
}
