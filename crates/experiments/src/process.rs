//! Memory and processor time of a process, from `/proc` (Linux).

use std::fs;
use std::time::Duration;

/// Clock ticks a second in `/proc/<pid>/stat`: the same on every Linux.
const TICKS_A_SECOND: u64 = 100;
const KIB: u64 = 1024;

/// Resident memory of this process, in bytes.
pub(crate) fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib * KIB)
}

/// Processor time of this process so far.
pub(crate) fn processor_time() -> Option<Duration> {
    processor_time_of(std::process::id())
}

/// Processor time of a process so far, to a hundredth of a second.
pub(crate) fn processor_time_of(process: u32) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in parentheses may contain blanks. User and system time are the 12th and 13th field after it.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.map(|ticks| ticks.parse::<u64>().ok()).sum::<Option<_>>()?;
    Some(Duration::from_millis(ticks * 1000 / TICKS_A_SECOND))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_memory_and_uses_time() {
        assert!(resident_bytes().unwrap() > 100 * KIB);
        let before = processor_time().unwrap();
        let start = std::time::Instant::now();
        while start.elapsed() < Duration::from_millis(200) {}
        let used = processor_time().unwrap() - before;
        assert!(used >= Duration::from_millis(10), "{used:?}");
        assert!(processor_time_of(u32::MAX).is_none(), "there is no such process");
    }
}
