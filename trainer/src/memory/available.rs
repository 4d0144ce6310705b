//! Memory this process may still take: what the kernel says is available, and what the control groups leave of it.

use std::fs;
use std::path::Path;

/// Bytes that can be taken without swapping; `None` where the system does not say.
pub fn available() -> Option<u64> {
    let read = |path: &Path| fs::read_to_string(path).ok();
    let machine = read(Path::new("/proc/meminfo")).and_then(|text| mem_available(&text));
    let groups = read(Path::new("/proc/self/cgroup")).and_then(|text| group_room(&text, &read));
    machine.into_iter().chain(groups).min()
}

/// `MemAvailable` of `/proc/meminfo`, in bytes.
fn mem_available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// The least room in this process's memory control group and those above it. `membership` is `/proc/self/cgroup`.
fn group_room(membership: &str, read: &dyn Fn(&Path) -> Option<String>) -> Option<u64> {
    let lines = membership.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        match controllers {
            "" => Some(("/sys/fs/cgroup", path, ["memory.max", "memory.current"])),
            _ if controllers.split(',').any(|name| name == "memory") => {
                Some(("/sys/fs/cgroup/memory", path, ["memory.limit_in_bytes", "memory.usage_in_bytes"]))
            }
            _ => None,
        }
    });
    lines
        .flat_map(|(mount, path, [limit, used])| {
            // Inside a container the path is often not visible, but the root is the container's own group.
            let folders = Path::new(path)
                .ancestors()
                .map(move |folder| Path::new(mount).join(folder.strip_prefix("/").unwrap_or(folder)));
            folders.filter_map(move |folder| {
                let number = |name: &str| read(&folder.join(name))?.trim().parse::<u64>().ok();
                // No limit is `max` (no number) in version 2 and a number near 2^63 in version 1.
                let limit = number(limit)?;
                Some(limit.saturating_sub(number(used)?.saturating_sub(reclaimable(&folder, read))))
            })
        })
        .min()
}

/// Page cache that the kernel gives back before it kills anything.
fn reclaimable(folder: &Path, read: &dyn Fn(&Path) -> Option<String>) -> u64 {
    let statistics = read(&folder.join("memory.stat")).unwrap_or_default();
    let inactive = statistics.lines().find_map(|line| line.strip_prefix("inactive_file "));
    inactive.and_then(|bytes| bytes.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn room(membership: &str, files: &[(&str, &str)]) -> Option<u64> {
        let files: HashMap<_, _> = files.iter().map(|(path, text)| (Path::new(path).to_owned(), *text)).collect();
        group_room(membership, &|path| files.get(path).map(|text| (*text).to_owned()))
    }

    #[test]
    fn meminfo_is_read_in_bytes() {
        let text = "MemTotal:       16000 kB\nMemFree:  1 kB\nMemAvailable:    8000 kB\nBuffers: 1 kB\n";
        assert_eq!(mem_available(text), Some(8_192_000));
        assert_eq!(mem_available("MemTotal: 16000 kB\n"), None);
        assert_eq!(mem_available("MemAvailable: many kB\n"), None);
    }

    #[test]
    fn the_tightest_group_on_the_way_up_counts() {
        let files = [
            ("/sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("/sys/fs/cgroup/a/b/memory.current", "10\n"),
            ("/sys/fs/cgroup/a/memory.max", "1000\n"),
            ("/sys/fs/cgroup/a/memory.current", "700\n"),
            ("/sys/fs/cgroup/a/memory.stat", "anon 5\ninactive_file 50\n"),
            ("/sys/fs/cgroup/memory.max", "5000\n"),
            ("/sys/fs/cgroup/memory.current", "700\n"),
        ];
        assert_eq!(room("0::/a/b\n", &files), Some(350));
        assert_eq!(room("0::/a/b\n", &files[..2]), None);
        // A path of the host, seen from a container.
        assert_eq!(room("0::/docker/x\n", &files), Some(4300));
    }

    #[test]
    fn version_1_has_other_names() {
        let files = [
            ("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1000"),
            ("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "1200"),
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712"),
            ("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1300"),
        ];
        assert_eq!(room("4:cpu,memory:/a\n2:pids:/a\n", &files), Some(0));
        assert_eq!(room("2:pids:/a\n", &files), None);
    }
}
