//! Descriptions that are built in: the paper's four, and some of today's.

use super::{Architecture, settings};
use crate::Error;

/// The architectures of the smart disk paper.
pub const PUBLISHED: [&str; 4] = ["single-host", "cluster-2", "cluster-4", "smart-disk"];

/// Names and texts.
const FILES: &[(&str, &str)] = &[
    ("single-host", include_str!("../../hardware/single-host.toml")),
    ("cluster-2", include_str!("../../hardware/cluster-2.toml")),
    ("cluster-4", include_str!("../../hardware/cluster-4.toml")),
    ("smart-disk", include_str!("../../hardware/smart-disk.toml")),
    ("nvme-server", include_str!("../../hardware/nvme-server.toml")),
    ("smart-ssd", include_str!("../../hardware/smart-ssd.toml")),
    ("pando-cloud", include_str!("../../hardware/pando-cloud.toml")),
    ("memory-pool", include_str!("../../hardware/memory-pool.toml")),
];

/// The names, the paper's first.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// Whether the smart disk paper describes this architecture.
pub(crate) fn is_published(name: &str) -> bool {
    PUBLISHED.contains(&name)
}

/// The text of a description.
///
/// # Errors
/// Where there is none of this name.
pub fn text(name: &str) -> Result<&'static str, Error> {
    let found = FILES.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text).ok_or_else(|| Error::unknown("architecture", name, names()))
}

/// A description, with some values changed.
///
/// # Errors
/// Where there is none of this name, or a change does not fit.
pub fn named(name: &str, changes: &[String]) -> Result<Architecture, Error> {
    Architecture::read(text(name)?, name, changes)
}

/// Whether a description has the value that a change is of.
///
/// # Errors
/// Where there is none of this name.
pub fn concerns(name: &str, change: &str) -> Result<bool, Error> {
    Ok(settings::concerns(text(name)?, change))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_description_is_good_and_bears_its_name() {
        for name in names() {
            let architecture = named(name, &[]).expect("a good description");
            assert_eq!(architecture.name, name);
            assert!(architecture.capacity_gb() > 10.0, "{name}");
        }
        let unknown = named("abacus", &[]).expect_err("unknown").to_string();
        assert!(unknown.contains("`abacus`; expected one of: single-host, cluster-2"), "{unknown}");
    }

    #[test]
    fn what_is_wrong_is_named_by_its_line() {
        let text = text("smart-disk").expect("known");
        let line =
            |key: &str| text.lines().position(|line| line.starts_with(key)).expect("there") + 1;
        let refused = |from: &str, to: &str| {
            let text = text.replacen(from, to, 1);
            Architecture::read(&text, "mine.toml", &[]).expect_err("refused").to_string()
        };
        let rpm = refused("rpm = 10000", "rpm = -1");
        assert!(rpm.starts_with("mine.toml: "), "{rpm}");
        assert!(rpm.contains(&format!("line {}", line("rpm"))), "{rpm}");
        let seek = refused("seek_ms = [1.62,", "seek_ms = [16.2,");
        assert!(seek.contains(&format!("line {}", line("seek_ms"))), "{seek}");
        let unknown = refused("rpm =", "rpn =");
        assert!(unknown.contains("rpn"), "{unknown}");
        let groups = refused("groups = 1", "groups = 20");
        assert!(groups.contains(&format!("line {}: 20 groups", line("groups"))), "{groups}");
    }
}
