//! The committed Rust view of the C interface equals what bindgen makes of the headers today.
//!
//! After a change of `kernel-gen/device/abi.h` or `model.h`, write the new view with
//! `PERMAFROST_WRITE_ABI=1 cargo test --release -p verify --test abi`.

use std::path::Path;

fn generate() -> String {
    let header = kernel_gen::device_dir().join("model.h");
    let bindings = bindgen::Builder::default()
        .header(header.to_str().expect("the path of the project is UTF-8"))
        .allowlist_item("(pf|PF)_.*")
        .prepend_enum_name(false)
        .derive_default(true)
        .derive_eq(true)
        .no_default("pf_model_table")
        .no_partialeq("pf_model_table")
        .layout_tests(true)
        .formatter(bindgen::Formatter::Prettyplease)
        .disable_header_comment()
        .raw_line("// Made by bindgen from kernel-gen/device/model.h and abi.h; verify/tests/abi.rs says how.")
        .generate()
        .expect("bindgen reads model.h (it needs libclang: apt install libclang-dev)");
    bindings.to_string()
}

#[test]
fn committed_view_equals_the_headers() {
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hexagon-runtime/src/abi.rs");
    let generated = generate();
    if std::env::var_os("PERMAFROST_WRITE_ABI").is_some() {
        std::fs::write(&committed, &generated).expect("abi.rs is writable");
    }
    let text = std::fs::read_to_string(&committed).expect("abi.rs is committed");
    assert!(
        text == generated,
        "hexagon-runtime/src/abi.rs no longer matches the headers; write it anew as this test's documentation says"
    );
}
