//! The largest amount of memory this process held.

use std::fs;

/// Watches the process's resident set, the memory it really occupies.
pub struct PeakMemory(());

impl PeakMemory {
    /// Starts watching: the peak so far is forgotten. A system that does not allow that (anything but Linux) goes on
    /// counting from the start of the process, which can only be more.
    pub fn watch() -> PeakMemory {
        if let Err(error) = fs::write("/proc/self/clear_refs", "5") {
            tracing::debug!("the memory peak counts from the start of the process: {error}");
        }
        PeakMemory(())
    }

    /// Watches from the start of the process on, loading included.
    pub fn of_process() -> PeakMemory {
        PeakMemory(())
    }

    /// The peak in bytes; nothing on systems without `/proc`.
    pub fn bytes(&self) -> Option<u64> {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kibibytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
        Some(kibibytes * 1024)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::PeakMemory;

    #[test]
    fn a_large_buffer_moves_the_peak() {
        let watch = PeakMemory::watch();
        let before = watch.bytes().unwrap();
        let buffer = std::hint::black_box(vec![1u8; 64 << 20]);
        let after = watch.bytes().unwrap();
        assert!(after >= before.max(buffer.len() as u64), "{before} then {after}");
    }
}
