//! Lookups in indexes, on any server.

use super::TableView;
use crate::Error;
use crate::peers::ATTEMPTS_MAX;
use arrow::array::AsArray;
use arrow::datatypes::{Field, Schema};
use bucket::End;
use catalog::Index;
use sdds::{Key, KeyRange};
use std::sync::Arc;

/// Entries that are read together.
const ENTRIES: usize = 256;

/// The column of an entry with the key of its row.
const ROW: usize = 1;

impl TableView {
    /// Returns the files of the table's indexes at the same snapshot, with the writes of the same
    /// transaction.
    pub fn indexes(&self) -> &[(Arc<Index>, Self)] {
        self.indexes.as_deref().unwrap_or_default()
    }

    /// Returns the keys of the rows that have entries in some ranges of an index, of which this is
    /// the file; `None` if there are more than `limit`.
    ///
    /// # Errors
    /// Errors of other servers.
    pub async fn rows_of_entries(
        &self,
        ranges: &[KeyRange],
        limit: usize,
    ) -> Result<Option<Vec<Key>>, Error> {
        let mut keys = Vec::new();
        let mut rest: Vec<KeyRange> = ranges.to_vec();
        for _ in 0..ATTEMPTS_MAX {
            let mut parts = Vec::new();
            for range in std::mem::take(&mut rest) {
                parts.extend(self.parts(&range).await?);
            }
            for (range, owner) in parts {
                let left = limit + 1 - keys.len();
                let found = match (owner, self.peers()) {
                    (Some(owner), Some((peers, reader))) => {
                        peers.entries(reader, self.table(), owner, &range, left).await
                    }
                    _ => self.entries_here(&range, left),
                };
                match found {
                    Err(Error::NotOwned { .. }) => rest.push(range),
                    found => keys.extend(found?),
                }
                if keys.len() > limit {
                    return Ok(None);
                }
            }
            if rest.is_empty() {
                return Ok(Some(keys));
            }
        }
        Err(Error::NotOwned { range: rest.swap_remove(0) })
    }

    /// Returns the keys of the rows with the first or last entries of ranges, which are in order; `None` if the index is
    /// not wholly on this server, or if it changes hands meanwhile.
    ///
    /// # Errors
    /// Errors of other servers.
    pub async fn end_of_entries(
        &self,
        ranges: &[KeyRange],
        limit: usize,
        from: End,
    ) -> Result<Option<Vec<Key>>, Error> {
        let (mut keys, mut rest) = (Vec::new(), ranges.to_vec());
        if from == End::Last {
            rest.reverse();
        }
        for range in rest {
            let mut parts = self.parts(&range).await?;
            if from == End::Last {
                parts.reverse();
            }
            for (range, owner) in parts {
                let left = limit - keys.len();
                let found = match (owner, self.peers(), from) {
                    _ if left == 0 => return Ok(Some(keys)),
                    (Some(_), Some(_), End::Last) => return Ok(None),
                    (Some(owner), Some((peers, reader)), End::First) => {
                        peers.entries(reader, self.table(), owner, &range, left).await
                    }
                    _ => self.entries_from(&range, left, from),
                };
                match found {
                    Err(Error::NotOwned { .. }) => return Ok(None),
                    found => keys.extend(found?),
                }
            }
        }
        Ok(Some(keys))
    }

    /// Returns the keys of the rows with the first entries of a range that is owned here.
    ///
    /// # Errors
    /// [`Error::NotOwned`].
    pub fn entries_here(&self, range: &KeyRange, limit: usize) -> Result<Vec<Key>, Error> {
        self.entries_from(range, limit, End::First)
    }

    /// As [`Self::entries_here`], the first or last entries.
    ///
    /// # Errors
    /// [`Error::NotOwned`].
    pub fn entries_from(
        &self,
        range: &KeyRange,
        limit: usize,
        from: End,
    ) -> Result<Vec<Key>, Error> {
        let mut keys = Vec::new();
        let row = &self.table().columns[ROW];
        let schema = Field::new(&row.name, row.sql_type.arrow(), row.nullable);
        let schema = Arc::new(Schema::new(vec![schema]));
        let mut entries = self.walk(range, from)?;
        while keys.len() < limit
            && let Some(morsel) = entries.next_rows(ENTRIES.min(limit - keys.len()))
        {
            let rows = morsel.read(&[ROW], &schema)?;
            let rows = rows.column(0).as_binary_view().iter().flatten().map(Key::from);
            let mut found: Vec<Key> = rows.collect();
            if from == End::Last {
                found.reverse();
            }
            keys.append(&mut found);
        }
        keys.truncate(limit);
        Ok(keys)
    }
}
