//! PostgreSQL's lock modes.
//!
//! Rows have four modes, tables eight. Advisory locks use [`Mode::Share`] and [`Mode::Exclusive`].

use serde::{Deserialize, Serialize};

/// The mode of a lock. The order is part of the encoding of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Mode {
    /// FOR KEY SHARE: the row stays, and so does its key.
    ForKeyShare,
    /// FOR SHARE: the row does not change.
    ForShare,
    /// FOR NO KEY UPDATE: the row may change, its key does not.
    ForNoKeyUpdate,
    /// FOR UPDATE: the row may go.
    ForUpdate,
    /// ACCESS SHARE
    AccessShare,
    /// ROW SHARE
    RowShare,
    /// ROW EXCLUSIVE
    RowExclusive,
    /// SHARE UPDATE EXCLUSIVE
    ShareUpdateExclusive,
    /// SHARE
    Share,
    /// SHARE ROW EXCLUSIVE
    ShareRowExclusive,
    /// EXCLUSIVE
    Exclusive,
    /// ACCESS EXCLUSIVE
    AccessExclusive,
}

use Mode::{
    AccessExclusive, AccessShare, Exclusive, ForKeyShare, ForNoKeyUpdate, ForShare, ForUpdate,
    RowExclusive, RowShare, Share, ShareRowExclusive, ShareUpdateExclusive,
};

/// A set of modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Modes(u16);

impl Modes {
    pub(crate) const fn of(modes: &[Mode]) -> Self {
        let (mut set, mut at) = (0, 0);
        while at < modes.len() {
            set |= 1 << modes[at] as u16;
            at += 1;
        }
        Self(set)
    }

    pub(crate) fn contains(self, mode: Mode) -> bool {
        self.0 & Self::of(&[mode]).0 != 0
    }

    pub(crate) fn add(&mut self, mode: Mode) {
        self.0 |= Self::of(&[mode]).0;
    }

    pub(crate) fn remove(&mut self, mode: Mode) {
        self.0 &= !Self::of(&[mode]).0;
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn overlaps(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = Mode> {
        Mode::ALL.into_iter().filter(move |mode| self.contains(*mode))
    }
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 12] = [
        ForKeyShare,
        ForShare,
        ForNoKeyUpdate,
        ForUpdate,
        AccessShare,
        RowShare,
        RowExclusive,
        ShareUpdateExclusive,
        Share,
        ShareRowExclusive,
        Exclusive,
        AccessExclusive,
    ];

    /// The modes that others cannot have at the same time.
    pub(crate) const fn conflicts(self) -> Modes {
        Modes::of(match self {
            ForKeyShare => &[ForUpdate],
            ForShare => &[ForNoKeyUpdate, ForUpdate],
            ForNoKeyUpdate => &[ForShare, ForNoKeyUpdate, ForUpdate],
            ForUpdate => &[ForKeyShare, ForShare, ForNoKeyUpdate, ForUpdate],
            AccessShare => &[AccessExclusive],
            RowShare => &[Exclusive, AccessExclusive],
            RowExclusive => &[Share, ShareRowExclusive, Exclusive, AccessExclusive],
            ShareUpdateExclusive => {
                &[ShareUpdateExclusive, Share, ShareRowExclusive, Exclusive, AccessExclusive]
            }
            Share => {
                &[RowExclusive, ShareUpdateExclusive, ShareRowExclusive, Exclusive, AccessExclusive]
            }
            ShareRowExclusive => &[
                RowExclusive,
                ShareUpdateExclusive,
                Share,
                ShareRowExclusive,
                Exclusive,
                AccessExclusive,
            ],
            Exclusive => &[
                RowShare,
                RowExclusive,
                ShareUpdateExclusive,
                Share,
                ShareRowExclusive,
                Exclusive,
                AccessExclusive,
            ],
            AccessExclusive => &[
                AccessShare,
                RowShare,
                RowExclusive,
                ShareUpdateExclusive,
                Share,
                ShareRowExclusive,
                Exclusive,
                AccessExclusive,
            ],
        })
    }

    /// Whether two parties cannot have these modes at the same time.
    pub fn conflicts_with(self, other: Self) -> bool {
        self.conflicts().contains(other)
    }

    /// Its name in `pg_locks`. Locks of rows have those of PostgreSQL's tuple locks.
    pub fn name(self) -> &'static str {
        match self {
            ForKeyShare | AccessShare => "AccessShareLock",
            ForShare | RowShare => "RowShareLock",
            ForNoKeyUpdate | Exclusive => "ExclusiveLock",
            ForUpdate | AccessExclusive => "AccessExclusiveLock",
            RowExclusive => "RowExclusiveLock",
            ShareUpdateExclusive => "ShareUpdateExclusiveLock",
            Share => "ShareLock",
            ShareRowExclusive => "ShareRowExclusiveLock",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflicts_are_mutual() {
        for one in Mode::ALL {
            for other in Mode::ALL {
                assert_eq!(
                    one.conflicts_with(other),
                    other.conflicts_with(one),
                    "{one:?} {other:?}"
                );
            }
        }
    }

    #[test]
    fn modes_of_rows_are_those_of_the_documentation() {
        let rows = [ForKeyShare, ForShare, ForNoKeyUpdate, ForUpdate];
        let table: Vec<String> = rows
            .iter()
            .map(|one| {
                rows.iter()
                    .map(|other| if one.conflicts_with(*other) { '#' } else { '.' })
                    .collect()
            })
            .collect();
        assert_eq!(table, ["...#", "..##", ".###", "####"]);
    }

    #[test]
    fn modes_of_tables_are_those_of_the_documentation() {
        let tables = &Mode::ALL[4..];
        let table: Vec<String> = tables
            .iter()
            .map(|one| {
                let conflicts = |other: &Mode| if one.conflicts_with(*other) { '#' } else { '.' };
                tables.iter().map(conflicts).collect()
            })
            .collect();
        let documented = [
            ".......#", "......##", "....####", "...#####", "..##.###", "..######", ".#######",
            "########",
        ];
        assert_eq!(table, documented);
    }
}
