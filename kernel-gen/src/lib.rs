//! kernel-gen
