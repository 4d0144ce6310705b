use my_kernel::my_kernel;

#[test]
fn my_kernel_computes_its_reference() {
    verify::assert_kernel(&my_kernel());
}
