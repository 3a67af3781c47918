//! What a server tells with the answer to a misdirected statement (`docs/DIRECTORY.md`).

use crate::key_part::{Digits, KeyPart};
use sdds::directory::{Entry, Owner};
use sdds::{Bound, Epoch, GroupId, Key, KeyRange};
use serde::Deserialize;
use tokio_postgres::error::DbError;

/// How a statement's key is made, and whose the keys around one are.
#[derive(Debug, Deserialize)]
pub(crate) struct Adjustment {
    /// The group of the server that tells.
    pub(crate) here: u64,
    /// The table's number.
    pub(crate) table: u32,
    /// The statement that was misdirected.
    pub(crate) statement: String,
    pub(crate) key: Vec<KeyPart>,
    /// Low and high end, epoch, group.
    entries: Vec<(Option<Digits>, Option<Digits>, u64, u64)>,
    /// Where PostgreSQL clients call the servers of groups.
    pub(crate) servers: Vec<(u64, String)>,
}

impl Adjustment {
    /// What a notice tells; `None` where it is about something else.
    pub(crate) fn of(notice: &DbError) -> Option<Self> {
        let detail = notice.detail().filter(|detail| detail.starts_with('{'))?;
        serde_json::from_str(detail).ok()
    }

    /// Whose the keys are; what is no range is left out.
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
