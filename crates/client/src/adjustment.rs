//! Image adjustments: what a server sends with the answer to a misdirected statement
//! (`docs/DIRECTORY.md`).

use crate::key_part::{Digits, KeyPart};
use sdds::directory::{Entry, Owner};
use sdds::{Bound, Epoch, GroupId, Key, KeyRange};
use serde::Deserialize;
use tokio_postgres::error::DbError;

/// The encoding of a statement's key, and the owners of the keys around it.
#[derive(Debug, Deserialize)]
pub(crate) struct Adjustment {
    /// The group of the sending server.
    pub(crate) here: u64,
    /// The table's identifier.
    pub(crate) table: u32,
    /// The misdirected statement.
    pub(crate) statement: String,
    pub(crate) key: Vec<KeyPart>,
    /// Low and high bound, epoch, group.
    entries: Vec<(Option<Digits>, Option<Digits>, u64, u64)>,
    /// The addresses of the groups' servers for PostgreSQL clients.
    pub(crate) servers: Vec<(u64, String)>,
}

impl Adjustment {
    /// Decodes a notice; `None` if it is not an adjustment.
    pub(crate) fn of(notice: &DbError) -> Option<Self> {
        let detail = notice.detail().filter(|detail| detail.starts_with('{'))?;
        serde_json::from_str(detail).ok()
    }

    /// The owners of keys. Empty ranges are skipped.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let bound = |digits: &Option<Digits>, infinity| match digits {
            Some(digits) => Bound::At(Key::from(digits.0.clone())),
            None => infinity,
        };
        let entry = |(low, high, epoch, group): &(Option<Digits>, Option<Digits>, u64, u64)| {
            let range = KeyRange::new(bound(low, Bound::NegInf), bound(high, Bound::PosInf))?;
            Some(Entry { range, owner: Owner { group: GroupId(*group), epoch: Epoch(*epoch) } })
        };
        self.entries.iter().filter_map(entry).collect()
    }
}
