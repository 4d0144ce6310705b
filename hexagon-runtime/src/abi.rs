// Made by bindgen from kernel-gen/device/model.h and abi.h; verify/tests/abi.rs says how.

pub const PF_ABI_VERSION: u32 = 2;
pub const PF_MAX_AXES: u32 = 4;
pub const PF_MAX_TUNABLES: u32 = 8;
pub const PF_MAX_WINDOWS: u32 = 8;
pub const PF_MAX_OPERANDS: u32 = 6;
pub const PF_MOST_WORKERS: u32 = 8;
pub const PF_OK: pf_status = 0;
pub const PF_BAD_ABI: pf_status = 1;
pub const PF_BAD_PLAN: pf_status = 2;
pub const PF_BAD_REQUEST: pf_status = 3;
pub const PF_TRAPPED: pf_status = 4;
pub const PF_BUSY: pf_status = 5;
pub const PF_WRONG_ARCH: pf_status = 6;
pub const PF_BAD_MESSAGE: pf_status = 7;
pub const PF_NO_POWER: pf_status = 8;
pub const PF_NO_VTCM: pf_status = 9;
pub const PF_NO_HMX: pf_status = 10;
pub const PF_NO_THREAD: pf_status = 11;
pub const PF_NO_QUEUE: pf_status = 12;
pub const PF_NOT_STARTED: pf_status = 13;
pub const PF_STARTED: pf_status = 14;
pub type pf_status = ::std::os::raw::c_uint;
#[repr(C)]
#[derive(Debug, Default, Copy, Clone, PartialEq, Eq)]
pub struct pf_window {
    pub offset: u32,
    pub stage_bytes: u32,
    pub stages: u32,
    pub reserved: u32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of pf_window"][::std::mem::size_of::<pf_window>() - 16usize];
    ["Alignment of pf_window"][::std::mem::align_of::<pf_window>() - 4usize];
    [
        "Offset of field: pf_window::offset",
    ][::std::mem::offset_of!(pf_window, offset) - 0usize];
    [
        "Offset of field: pf_window::stage_bytes",
    ][::std::mem::offset_of!(pf_window, stage_bytes) - 4usize];
    [
        "Offset of field: pf_window::stages",
    ][::std::mem::offset_of!(pf_window, stages) - 8usize];
    [
        "Offset of field: pf_window::reserved",
    ][::std::mem::offset_of!(pf_window, reserved) - 12usize];
};
#[repr(C)]
#[derive(Debug, Default, Copy, Clone, PartialEq, Eq)]
pub struct pf_plan {
    pub abi_version: u32,
    pub bytes: u32,
    pub arch: u32,
    pub kernel: u32,
    pub axes: [u32; 4usize],
    pub tunables: [u32; 8usize],
    pub windows: [pf_window; 8usize],
    pub window_count: u32,
    pub vtcm_bytes: u32,
    pub hash: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of pf_plan"][::std::mem::size_of::<pf_plan>() - 208usize];
    ["Alignment of pf_plan"][::std::mem::align_of::<pf_plan>() - 8usize];
    [
        "Offset of field: pf_plan::abi_version",
    ][::std::mem::offset_of!(pf_plan, abi_version) - 0usize];
    ["Offset of field: pf_plan::bytes"][::std::mem::offset_of!(pf_plan, bytes) - 4usize];
    ["Offset of field: pf_plan::arch"][::std::mem::offset_of!(pf_plan, arch) - 8usize];
    [
        "Offset of field: pf_plan::kernel",
    ][::std::mem::offset_of!(pf_plan, kernel) - 12usize];
    ["Offset of field: pf_plan::axes"][::std::mem::offset_of!(pf_plan, axes) - 16usize];
    [
        "Offset of field: pf_plan::tunables",
    ][::std::mem::offset_of!(pf_plan, tunables) - 32usize];
    [
        "Offset of field: pf_plan::windows",
    ][::std::mem::offset_of!(pf_plan, windows) - 64usize];
    [
        "Offset of field: pf_plan::window_count",
    ][::std::mem::offset_of!(pf_plan, window_count) - 192usize];
    [
        "Offset of field: pf_plan::vtcm_bytes",
    ][::std::mem::offset_of!(pf_plan, vtcm_bytes) - 196usize];
    ["Offset of field: pf_plan::hash"][::std::mem::offset_of!(pf_plan, hash) - 200usize];
};
#[repr(C)]
#[derive(Debug, Default, Copy, Clone, PartialEq, Eq)]
pub struct pf_operand {
    pub address: u64,
    pub bytes: u64,
    pub rows: u32,
    pub cols: u32,
    pub row_stride: u32,
    pub reserved: u32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of pf_operand"][::std::mem::size_of::<pf_operand>() - 32usize];
    ["Alignment of pf_operand"][::std::mem::align_of::<pf_operand>() - 8usize];
    [
        "Offset of field: pf_operand::address",
    ][::std::mem::offset_of!(pf_operand, address) - 0usize];
    [
        "Offset of field: pf_operand::bytes",
    ][::std::mem::offset_of!(pf_operand, bytes) - 8usize];
    [
        "Offset of field: pf_operand::rows",
    ][::std::mem::offset_of!(pf_operand, rows) - 16usize];
    [
        "Offset of field: pf_operand::cols",
    ][::std::mem::offset_of!(pf_operand, cols) - 20usize];
    [
        "Offset of field: pf_operand::row_stride",
    ][::std::mem::offset_of!(pf_operand, row_stride) - 24usize];
    [
        "Offset of field: pf_operand::reserved",
    ][::std::mem::offset_of!(pf_operand, reserved) - 28usize];
};
#[repr(C)]
#[derive(Debug, Default, Copy, Clone, PartialEq, Eq)]
pub struct pf_request {
    pub abi_version: u32,
    pub bytes: u32,
    pub kernel: u32,
    pub id: u32,
    pub axes: [u32; 4usize],
    pub row_begin: u32,
    pub row_end: u32,
    pub operands: [pf_operand; 6usize],
    pub row_exponents: u64,
    pub row_flags: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of pf_request"][::std::mem::size_of::<pf_request>() - 248usize];
    ["Alignment of pf_request"][::std::mem::align_of::<pf_request>() - 8usize];
    [
        "Offset of field: pf_request::abi_version",
    ][::std::mem::offset_of!(pf_request, abi_version) - 0usize];
    [
        "Offset of field: pf_request::bytes",
    ][::std::mem::offset_of!(pf_request, bytes) - 4usize];
    [
        "Offset of field: pf_request::kernel",
    ][::std::mem::offset_of!(pf_request, kernel) - 8usize];
    [
        "Offset of field: pf_request::id",
    ][::std::mem::offset_of!(pf_request, id) - 12usize];
    [
        "Offset of field: pf_request::axes",
    ][::std::mem::offset_of!(pf_request, axes) - 16usize];
    [
        "Offset of field: pf_request::row_begin",
    ][::std::mem::offset_of!(pf_request, row_begin) - 32usize];
    [
        "Offset of field: pf_request::row_end",
    ][::std::mem::offset_of!(pf_request, row_end) - 36usize];
    [
        "Offset of field: pf_request::operands",
    ][::std::mem::offset_of!(pf_request, operands) - 40usize];
    [
        "Offset of field: pf_request::row_exponents",
    ][::std::mem::offset_of!(pf_request, row_exponents) - 232usize];
    [
        "Offset of field: pf_request::row_flags",
    ][::std::mem::offset_of!(pf_request, row_flags) - 240usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct pf_device {
    _unused: [u8; 0],
}
pub const PF_OVERFLOW_EXPONENT31: pf_overflow = 0;
pub const PF_OVERFLOW_LARGEST: pf_overflow = 1;
pub const PF_OVERFLOW_INFINITY: pf_overflow = 2;
pub type pf_overflow = ::std::os::raw::c_uint;
#[repr(C)]
#[derive(Debug, Default, Copy, Clone, PartialEq, Eq)]
pub struct pf_counts {
    pub packets: u64,
    pub tiles: u64,
    pub stores: u64,
    pub dma_bytes: u64,
    pub dma_descriptors: u64,
    pub strips: u64,
    pub strip_tiles: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of pf_counts"][::std::mem::size_of::<pf_counts>() - 56usize];
    ["Alignment of pf_counts"][::std::mem::align_of::<pf_counts>() - 8usize];
    [
        "Offset of field: pf_counts::packets",
    ][::std::mem::offset_of!(pf_counts, packets) - 0usize];
    [
        "Offset of field: pf_counts::tiles",
    ][::std::mem::offset_of!(pf_counts, tiles) - 8usize];
    [
        "Offset of field: pf_counts::stores",
    ][::std::mem::offset_of!(pf_counts, stores) - 16usize];
    [
        "Offset of field: pf_counts::dma_bytes",
    ][::std::mem::offset_of!(pf_counts, dma_bytes) - 24usize];
    [
        "Offset of field: pf_counts::dma_descriptors",
    ][::std::mem::offset_of!(pf_counts, dma_descriptors) - 32usize];
    [
        "Offset of field: pf_counts::strips",
    ][::std::mem::offset_of!(pf_counts, strips) - 40usize];
    [
        "Offset of field: pf_counts::strip_tiles",
    ][::std::mem::offset_of!(pf_counts, strip_tiles) - 48usize];
};
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct pf_model_table {
    pub name: *const ::std::os::raw::c_char,
    pub open: ::std::option::Option<
        unsafe extern "C" fn(
            vtcm_bytes: u32,
            overflow: u32,
            workers: u32,
        ) -> *mut pf_device,
    >,
    pub close: ::std::option::Option<unsafe extern "C" fn(dev: *mut pf_device)>,
    pub fault: ::std::option::Option<
        unsafe extern "C" fn(dev: *mut pf_device) -> *const ::std::os::raw::c_char,
    >,
    pub run: ::std::option::Option<
        unsafe extern "C" fn(
            dev: *mut pf_device,
            kernel_id: u32,
            plan: *const pf_plan,
            request: *const pf_request,
        ) -> ::std::os::raw::c_int,
    >,
    pub counts: ::std::option::Option<
        unsafe extern "C" fn(dev: *mut pf_device, out: *mut pf_counts),
    >,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of pf_model_table"][::std::mem::size_of::<pf_model_table>() - 48usize];
    ["Alignment of pf_model_table"][::std::mem::align_of::<pf_model_table>() - 8usize];
    [
        "Offset of field: pf_model_table::name",
    ][::std::mem::offset_of!(pf_model_table, name) - 0usize];
    [
        "Offset of field: pf_model_table::open",
    ][::std::mem::offset_of!(pf_model_table, open) - 8usize];
    [
        "Offset of field: pf_model_table::close",
    ][::std::mem::offset_of!(pf_model_table, close) - 16usize];
    [
        "Offset of field: pf_model_table::fault",
    ][::std::mem::offset_of!(pf_model_table, fault) - 24usize];
    [
        "Offset of field: pf_model_table::run",
    ][::std::mem::offset_of!(pf_model_table, run) - 32usize];
    [
        "Offset of field: pf_model_table::counts",
    ][::std::mem::offset_of!(pf_model_table, counts) - 40usize];
};
