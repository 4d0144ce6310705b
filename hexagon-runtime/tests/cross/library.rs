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
    let project = Project::write(&kernels(), Arch::V79, folder.path()).unwrap();
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
