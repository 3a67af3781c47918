//! What a commit waits for.

use std::fmt;
use std::str::FromStr;

/// What a commit waits for before it is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Until it is on the disk. A crash loses nothing that was acknowledged.
    #[default]
    Sync,
    /// For nothing; the log is written every few milliseconds. A crash loses at most the commits of
    /// the last interval.
    Async,
    /// For nothing, and nothing is written. A restart loses everything.
    Memory,
}

impl Durability {
    const ALL: [(Self, &'static str); 3] =
        [(Self::Sync, "sync"), (Self::Async, "async"), (Self::Memory, "memory")];
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(of, _)| of == self).map_or("", |(_, name)| name);
        f.write_str(name)
    }
}

impl FromStr for Durability {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.iter().find(|(_, name)| *name == text);
        found
            .map(|(of, _)| *of)
            .ok_or_else(|| format!("durability \"{text}\" is unknown; it is sync, async or memory"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_others_are_refused() {
        for (durability, name) in Durability::ALL {
            assert_eq!(durability.to_string(), name);
            assert_eq!(name.parse(), Ok(durability));
        }
        let error = "fsync".parse::<Durability>().expect_err("unknown");
        assert!(error.contains("\"fsync\""), "{error}");
    }
}
