//! The available memory: that of the machine, or the limit of the control group.

use std::fs;
use std::path::{Path, PathBuf};

/// Default memory limit of a database, in percent of the available memory.
const SHARE_PERCENT: u64 = 80;

/// The default memory limit of a database; `None` if the available memory is unknown.
pub(crate) fn default_memory_limit() -> Option<u64> {
    let limits = [total_memory(), cgroup_limit()];
    limits.into_iter().flatten().min().map(|bytes| bytes / 100 * SHARE_PERCENT)
}

fn total_memory() -> Option<u64> {
    parse_total(&fs::read_to_string("/proc/meminfo").ok()?)
}

/// `MemTotal:  24000000 kB`
fn parse_total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// The least limit of this control group and its ancestors, with either version of the interface.
fn cgroup_limit() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let limits = groups.lines().flat_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, group) = (parts.next().unwrap_or(""), parts.next().unwrap_or("/"));
        limit_files(controllers, group)
    });
    limits.filter_map(|file| parse_limit(&fs::read_to_string(file).ok()?)).min()
}

fn limit_files(controllers: &str, group: &str) -> Vec<PathBuf> {
    let (root, file) = match controllers {
        "" => ("/sys/fs/cgroup", "memory.max"),
        c if c.split(',').any(|c| c == "memory") => {
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
        }
        _ => return Vec::new(),
    };
    let inside = Path::new(group.trim_start_matches('/'));
    inside.ancestors().map(|group| Path::new(root).join(group).join(file)).collect()
}

/// A number of bytes; `None` for no limit, which is `max` in version 2 and a very large number in version 1.
fn parse_limit(text: &str) -> Option<u64> {
    const UNLIMITED: u64 = 1 << 60;
    text.trim().parse().ok().filter(|limit| *limit < UNLIMITED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_in_kibibytes() {
        let meminfo = "MemTotal:       16384 kB\nMemFree:  1 kB\n";
        assert_eq!(parse_total(meminfo), Some(16 << 20));
        assert_eq!(parse_total("nothing"), None);
    }

    #[test]
    fn a_group_is_limited_by_its_ancestors() {
        let files = limit_files("", "/a/b");
        let shown: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
        let expected = ["a/b/memory.max", "a/memory.max", "memory.max"]
            .map(|file| format!("/sys/fs/cgroup/{file}"));
        assert_eq!(shown, expected);
        assert!(limit_files("cpu,cpuacct", "/").is_empty());
    }

    #[test]
    fn no_limit_is_no_limit() {
        assert_eq!(parse_limit("max\n"), None);
        assert_eq!(parse_limit("9223372036854771712\n"), None);
        assert_eq!(parse_limit("1073741824\n"), Some(1 << 30));
    }
}
