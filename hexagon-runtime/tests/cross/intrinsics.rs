//! The scan against the compiler's own list: every HVX intrinsic that needs -mhvx-ieee-fp, and every one that does not.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use hexagon_runtime::cross::{Class, Optimize, Scan, compile, link};
use kernel_gen::Arch;

/// Minimum and maximum with IEEE operands are no arithmetic to clang, and are refused all the same: they are among the
/// encodings that V79 lost or may have lost, and the device layer has no use for them.
const REFUSED_BESIDES: [&str; 4] =
    ["Q6_Vhf_vmax_VhfVhf", "Q6_Vsf_vmax_VsfVsf", "Q6_Vhf_vmin_VhfVhf", "Q6_Vsf_vmin_VsfVsf"];

struct Intrinsic {
    name: String,
    ieee: bool,
    result: String,
    /// Types, in order.
    arguments: Vec<String>,
}

/// Intrinsics of the header that take registers only.
fn intrinsics(header: &str) -> Vec<Intrinsic> {
    let mut all = Vec::new();
    let mut before = "";
    for part in header.split("C Intrinsic Prototype: ") {
        // The condition an intrinsic is under stands last before it, if it has one.
        let condition = before.rsplit_once("\n#").map_or("", |(_, line)| line.lines().next().unwrap_or(""));
        let ieee = condition.starts_with("if") && condition.contains("__HVX_IEEE_FP__");
        let first = before.is_empty();
        before = part;
        if first {
            continue;
        }
        let prototype = part.split("Instruction Type").next().unwrap();
        let prototype = prototype.split_whitespace().collect::<Vec<_>>().join(" ");
        let (head, arguments) = prototype.split_once('(').unwrap();
        let arguments = arguments.rsplit_once(')').unwrap().0;
        let (result, name) = head.rsplit_once(' ').unwrap();
        let arguments: Vec<&str> = arguments.split(',').map(str::trim).filter(|a| !a.is_empty()).collect();
        if arguments.iter().any(|argument| argument.contains(" Iu") || argument.contains(" Is")) {
            continue;
        }
        let kind = |argument: &&str| argument.rsplit_once(' ').unwrap_or_else(|| panic!("{prototype}")).0.to_owned();
        let arguments = arguments.iter().map(kind).collect();
        all.push(Intrinsic { name: name.to_owned(), ieee, result: result.to_owned(), arguments });
    }
    all
}

#[test]
fn the_scan_refuses_what_needs_the_ieee_flag_and_nothing_else() {
    let Some(tools) = super::tools() else { return };
    let clang = tools.clang();
    let resources = Command::new(clang).arg("-print-resource-dir").output().unwrap();
    let folder = String::from_utf8(resources.stdout).unwrap();
    let header = fs::read_to_string(Path::new(folder.trim()).join("include/hvx_hexagon_protos.h")).unwrap();
    let all = intrinsics(&header);
    assert!(all.len() > 450 && all.iter().filter(|i| i.ieee).count() > 45, "{}", all.len());

    let mut unit = "#include <hexagon_types.h>\n#include <hvx_hexagon_protos.h>\n".to_owned();
    unit.push_str("typedef int Word32;\ntypedef long long Word64;\n");
    for Intrinsic { name, result, arguments, .. } in &all {
        let parameters: Vec<String> = arguments.iter().enumerate().map(|(i, kind)| format!("{kind} a{i}")).collect();
        let values: Vec<String> = (0..arguments.len()).map(|i| format!("a{i}")).collect();
        let back = if result == "void" { "" } else { "return " };
        let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
        unit.push_str(&format!("{result} f_{name}({parameters}) {{ {back}{name}({}); }}\n", values.join(", ")));
    }
    let work = tempfile::tempdir().unwrap();
    fs::write(work.path().join("all.c"), unit).unwrap();
    // V81 has all of them.
    let object = compile(&tools, Arch::V81, work.path(), "all.c", Optimize::Little, &["-mhvx-ieee-fp"]).unwrap();
    let library = link(&tools, Arch::V81, work.path(), &[object]).unwrap();
    let scan = Scan::of(&tools, Arch::V81, &library).unwrap();

    let of = |class: Class| -> BTreeSet<&str> {
        scan.special.iter().filter(|f| f.class == class).filter_map(|f| f.function.strip_prefix("f_")).collect()
    };
    let expected: BTreeSet<&str> =
        all.iter().filter(|i| i.ieee).map(|i| i.name.as_str()).chain(REFUSED_BESIDES).collect();
    assert_eq!(of(Class::IeeeFloat), expected);
    assert_eq!(of(Class::Unknown), BTreeSet::new());
    // By name, what works on floats: the scan puts each into a class that qemu is not given.
    let float = |name: &str| ["hf", "sf", "qf16", "qf32", "bf", "f8", "qfext"].iter().any(|part| name.contains(part));
    let classed: BTreeSet<&str> = scan.special.iter().filter_map(|f| f.function.strip_prefix("f_")).collect();
    let floats: BTreeSet<&str> = all.iter().map(|i| i.name.as_str()).filter(|name| float(name)).collect();
    let missed: Vec<&&str> = floats.difference(&classed).collect();
    assert!(missed.is_empty(), "{missed:?}");
}
