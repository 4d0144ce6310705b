//! Every class a scan knows, put into a C file by hand: what must not be there is found and refused.

use std::fs;

use hexagon_runtime::cross::{Class, CrossError, HmxOp, Optimize, Scan, Target, compile, link};
use kernel_gen::Arch;

const HEADERS: &str = "#include <hexagon_types.h>\n#include <hexagon_protos.h>\n#include <hvx_hexagon_protos.h>\n";

/// Functions, one of each class; `f32` and the like are IEEE forms, which only -mhvx-ieee-fp lets through.
const SEEDS: [(Class, &str, &str); 11] = [
    (Class::IeeeFloat, "add_sf", "void add_sf(HVX_Vector *v) { v[0] = Q6_Vsf_vadd_VsfVsf(v[0], v[1]); }"),
    (Class::IeeeFloat, "multiply_hf", "void multiply_hf(HVX_Vector *v) { v[0] = Q6_Vhf_vmpy_VhfVhf(v[0], v[1]); }"),
    (
        Class::IeeeFloat,
        "accumulate",
        "void accumulate(HVX_VectorPair *w, HVX_Vector *v) { *w = Q6_Wsf_vmpyacc_WsfVhfVhf(*w, v[0], v[1]); }",
    ),
    (Class::IeeeFloat, "convert", "void convert(HVX_Vector *v) { v[0] = Q6_Vhf_vcvt_VsfVsf(v[0], v[1]); }"),
    (Class::QFloat, "qfloat", "void qfloat(HVX_Vector *v) { v[0] = Q6_Vqf32_vmpy_VsfVsf(v[0], v[1]); }"),
    (Class::FloatConversion, "halves", "void halves(HVX_Vector *v) { v[0] = Q6_Vhf_equals_Vh(v[0]); }"),
    (
        Class::FloatComparison,
        "compare",
        "void compare(HVX_Vector *v) { v[0] = Q6_V_vmux_QVV(Q6_Q_vcmp_gt_VsfVsf(v[0], v[1]), v[0], v[1]); }",
    ),
    (Class::UserDma, "dma", "void dma(void *d) { Q6_dmstart_A(d); (void)Q6_R_dmwait(); }"),
    (
        Class::Hmx(HmxOp::Convert),
        "hmx",
        "void hmx(unsigned r) { register unsigned r5 __asm__(\"r5\") = r; __asm__ volatile(\".word 0xA6E5DA10\" ::\"r\"(r5)); }",
    ),
    (Class::Unknown, "unknown", "void unknown(void) { __asm__ volatile(\".word 0xA6E0C0FF\"); }"),
    // An activation load alone in its packet: HMX would multiply nothing.
    (Class::Hmx(HmxOp::Activation), "lone", "void lone(void) { __asm__ volatile(\".word 0x9200C1E4\"); }"),
];

fn scan(text: &str, flags: &[&str]) -> Option<Result<Scan, CrossError>> {
    let tools = super::tools()?;
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("seed.c"), format!("{HEADERS}{text}\n")).unwrap();
    let scanned = compile(&tools, Arch::V79, folder.path(), "seed.c", Optimize::Little, flags)
        .and_then(|object| link(&tools, Arch::V79, folder.path(), &[object]))
        .and_then(|library| Scan::of(&tools, Arch::V79, &library));
    Some(scanned)
}

#[test]
fn each_class_is_found_in_its_function_and_refused_where_it_must_not_be() {
    for (class, function, text) in SEEDS {
        let Some(scan) = scan(text, &["-mhvx-ieee-fp"]) else { return };
        let scan = scan.unwrap();
        let found = scan.special.iter().find(|found| found.class == class);
        let found = found.unwrap_or_else(|| panic!("{function}: {:?}", scan.special));
        assert_eq!(found.function, function);
        for target in [Target::Phone, Target::Qemu] {
            let refused = scan.allow(target);
            let forbidden =
                target == Target::Qemu || matches!(class, Class::IeeeFloat | Class::Unknown) || function == "lone";
            assert_eq!(refused.is_err(), forbidden, "{function} for {target:?}");
            if let Err(error) = refused {
                let text = error.to_string();
                assert!(text.contains(function) && text.contains(&format!("{:08x}", found.opcode.word)), "{text}");
            }
        }
    }
}

#[test]
fn integer_vectors_and_scalar_floats_pass_everywhere() {
    let text = "void integer(HVX_Vector *v, float *f) { v[0] = Q6_Vw_vadd_VwVw(v[0], v[1]); f[0] = f[0] * f[1]; }";
    let Some(scan) = scan(text, &["-mhvx-ieee-fp"]) else { return };
    let scan = scan.unwrap();
    assert!(scan.count(Class::HvxInteger) >= 3 && scan.count(Class::Scalar) >= 3, "{:?}", scan.counts);
    scan.allow(Target::Phone).unwrap();
    scan.allow(Target::Qemu).unwrap();
}

#[test]
fn without_the_flag_ieee_intrinsics_do_not_compile() {
    let Some(refused) = scan(SEEDS[0].2, &[]) else { return };
    let text = refused.unwrap_err().to_string();
    assert!(text.contains("Q6_Vsf_vadd_VsfVsf"), "{text}");
}

#[test]
fn two_loads_in_one_packet_are_a_pair_and_two_packets_are_not() {
    let issue = |words: &str| format!("void issue(void) {{ __asm__ volatile(\".word {words}\"); }}");
    let Some(pair) = scan(&issue("0x920041E4, 0x9202E3EF"), &[]) else { return };
    pair.unwrap().allow(Target::Phone).unwrap();
    // The same loads, the first ending its packet.
    let split = scan(&issue("0x9200C1E4, 0x9202E3EF"), &[]).unwrap().unwrap();
    assert_eq!(split.lone_loads.len(), 2);
    assert!(split.allow(Target::Phone).is_err());
}

#[test]
fn zeros_are_padding_behind_a_function_and_unknown_inside_one() {
    let head = "00000100 <first>:\n     100:\t00 c0 00 7f\t7f00c000 { \tnop }\n";
    let zero = "     104:\t00 00 00 00\t00000000 <unknown>\n";
    let behind = format!("{head}{zero}\n00000110 <second>:\n     110:\t00 c0 00 7f\t7f00c000 {{ \tnop }}\n");
    let scan = Scan::read(&behind);
    assert_eq!((scan.count(Class::Scalar), scan.count(Class::Unknown)), (2, 0));
    let inside = format!("{head}{zero}     108:\t00 c0 00 7f\t7f00c000 {{ \tnop }}\n");
    let scan = Scan::read(&inside);
    assert_eq!((scan.count(Class::Scalar), scan.count(Class::Unknown)), (2, 1));
    assert!(scan.allow(Target::Phone).is_err());
}
