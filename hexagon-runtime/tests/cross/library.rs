//! The library itself, for both architectures.

use std::path::Path;

use hexagon_runtime::cross::{
    self, Build, Class, CrossError, Optimize, Project, Scan, Target, ToolchainKind, UNITS, build, compile, link,
    vendor_symbols,
};
use kernel_gen::{Arch, Verified, library, verify};

fn kernels() -> Vec<Verified> {
    library::all().iter().chain(&library::extra()).map(|kernel| verify(kernel).unwrap()).collect()
}

fn built(arch: Arch, folder: &Path) -> Build {
    build(&kernels(), arch, ToolchainKind::Llvm, folder).unwrap_or_else(|error| panic!("{arch}: {error}"))
}

#[test]
fn every_kernel_for_both_architectures() {
    let Some(_) = super::tools() else { return };
    let folder = tempfile::tempdir().unwrap();
    for arch in Arch::ALL {
        // Twice into one folder: a project may be built again.
        built(arch, &folder.path().join("project"));
        let build = built(arch, &folder.path().join("project"));
        println!("{arch}: {:?}", build.scan.counts);
        println!("{arch}: left open: {:?}", build.undefined);
        assert!(build.library.ends_with(format!("libpermafrost-v{}.so", arch.number())) && build.library.is_file());
        assert_eq!(build.scan.refused(Target::Phone), Vec::<&cross::Finding>::new());
        for class in [Class::Scalar, Class::HvxInteger, Class::QFloat, Class::UserDma] {
            assert!(build.scan.count(class) > 50, "{arch}: {class:?} {}", build.scan.count(class));
        }
        assert!(build.scan.hmx() > 50);
        let mut listed: Vec<&str> = vendor_symbols().collect();
        listed.sort_unstable();
        assert_eq!(build.undefined, listed, "{arch}");
    }
}

#[test]
fn with_software_floats_only_dma_and_hmx_are_left_that_qemu_does_not_have() {
    let Some(tools) = super::tools() else { return };
    let folder = tempfile::tempdir().unwrap();
    let project = Project::write(&kernels(), folder.path()).unwrap();
    let flags = ["-DPF_SOFTWARE_FLOAT"];
    let objects: Vec<_> = UNITS
        .iter()
        .map(|unit| compile(&tools, Arch::V79, &project.folder, unit, Optimize::Speed, &flags).unwrap())
        .collect();
    let library = link(&tools, Arch::V79, &project.folder, &objects).unwrap();
    let scan = Scan::of(&tools, Arch::V79, &library).unwrap();
    scan.allow(Target::Phone).unwrap();
    let refused = scan.refused(Target::Qemu);
    assert!(!refused.is_empty());
    for found in refused {
        assert!(matches!(found.class, Class::UserDma | Class::Hmx(_)), "{found:?}");
    }
}

#[test]
fn a_helper_of_the_compiler_is_refused_by_name() {
    let Some(tools) = super::tools() else { return };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("divide.c"), "long long divide(long long a, long long b) { return a / b; }\n")
        .unwrap();
    let object = compile(&tools, Arch::V79, folder.path(), "divide.c", Optimize::Speed, &[]).unwrap();
    let library = link(&tools, Arch::V79, folder.path(), &[object]).unwrap();
    let undefined = cross::undefined(&tools, &library).unwrap();
    assert_eq!(undefined, ["__hexagon_divdi3"]);
    let refused = cross::check_undefined(&undefined).unwrap_err().to_string();
    assert!(refused.contains("__hexagon_divdi3"), "{refused}");
}

#[test]
fn a_folder_of_somebody_else_is_left_alone() {
    let Some(_) = super::tools() else { return };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("thesis.tex"), "years of work").unwrap();
    let refused = build(&kernels(), Arch::V79, ToolchainKind::Llvm, folder.path()).unwrap_err();
    assert!(matches!(refused, CrossError::Occupied { .. }), "{refused}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn the_makefile_builds_the_same_library() {
    let Some(tools) = super::tools() else { return };
    let folder = tempfile::tempdir().unwrap();
    let kernels: Vec<_> = kernels().into_iter().filter(|kernel| kernel.kernel().name == "input_grad_q8").collect();
    let build = build(&kernels, Arch::V81, ToolchainKind::Llvm, folder.path()).unwrap();
    let first = std::fs::read(&build.library).unwrap();
    std::fs::remove_file(&build.library).unwrap();
    for object in UNITS {
        std::fs::remove_file(folder.path().join(object).with_extension("v81.o")).unwrap();
    }
    let mut make = std::process::Command::new("make");
    make.current_dir(folder.path()).arg("ARCH=81").arg(format!("CLANG={}", tools.clang().display()));
    let made = make.arg(format!("LLD={}", tools.linker().display())).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    assert_eq!(std::fs::read(&build.library).unwrap(), first);
}

#[test]
fn one_entry_is_exported() {
    let Some(tools) = super::tools() else { return };
    let folder = tempfile::tempdir().unwrap();
    let kernels: Vec<_> = kernels().into_iter().filter(|kernel| kernel.kernel().name == "forward_q8").collect();
    let build = build(&kernels, Arch::V79, ToolchainKind::Llvm, folder.path()).unwrap();
    let names = cross::exported(&tools, &build.library).unwrap();
    assert_eq!(names, ["permafrost_skel_handle_invoke"]);
}

/// The IDL and the skeleton count the same calls, and every status has words.
#[test]
fn calls_and_statuses_are_written_out_on_both_sides() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("dsp");
    let idl = std::fs::read_to_string(folder.join("permafrost.idl")).unwrap();
    let skel = std::fs::read_to_string(folder.join("skel.c")).unwrap();
    let calls: Vec<&str> = idl.split("AEEResult ").skip(1).map(|call| call.split('(').next().unwrap()).collect();
    for (index, call) in calls.iter().enumerate() {
        // qaic numbers the calls of a handle's interface from 2: 0 opens and 1 closes.
        let number = format!("PF_{} = {}", call.to_uppercase(), index + 2);
        assert!(skel.contains(&number), "{number}");
    }
    // Every call gives back a struct pf_hello of 8 words.
    for call in idl.split("AEEResult ").skip(1) {
        assert_eq!(call.matches("rout unsigned long").count(), 8, "{call}");
    }
    let abi = std::fs::read_to_string(kernel_gen::device_dir().join("abi.h")).unwrap();
    let words = std::fs::read_to_string(kernel_gen::device_dir().join("status.h")).unwrap();
    let statuses = abi.split("enum pf_status {").nth(1).unwrap().split('}').next().unwrap();
    let names: Vec<&str> =
        statuses.lines().filter_map(|line| line.trim().split_once(" = ")).map(|(name, _)| name).collect();
    assert!(names.len() >= 15, "{names:?}");
    for name in names {
        let case = format!("case {name}: return \"");
        assert!(words.contains(&case), "{case}");
    }
}
