//! How much memory there is for us: the machine's, or what the control group leaves of it.

use std::fs;
use std::path::{Path, PathBuf};

/// The part of the memory that a database takes unless told otherwise, in percent.
const SHARE_PERCENT: u64 = 80;

/// The memory limit for a database that is given none; `None` where the machine does not say.
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

/// The least limit of our control group and the groups around it, of either version of the interface.
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

/// `max`, or a number of bytes; version 1 says "no limit" by an absurdly large one.
fn parse_limit(text: &str) -> Option<u64> {
    const ABSURD: u64 = 1 << 60;
    text.trim().parse().ok().filter(|limit| *limit < ABSURD)
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
    fn a_group_is_limited_by_all_around_it() {
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
