//! A table as seen by one reader: at a snapshot, with the writes of its own transaction.

use super::gathered::Gathered;
use crate::file::TableFile;
use crate::peers::{Peers, Reader};
use crate::{Error, Snapshot};
use arrow::array::{ArrayRef, RecordBatch};
use bucket::{Bucket, BucketState, Chunk, Morsel, Source, TableWrites, key};
use catalog::{Index, Table};
use sdds::{Bound, BucketId, GroupId, Key, KeyRange};
use std::sync::Arc;

/// An index, and its file.
pub(super) type IndexView = (Arc<Index>, TableView);

/// A table at a snapshot. Immutable and cheap to clone.
#[derive(Debug, Clone)]
pub struct TableView {
    table: Arc<Table>,
    /// `None` if the table is not committed yet.
    file: Option<Arc<TableFile>>,
    /// Whether the reader has truncated the table.
    truncated: bool,
    snapshot: Snapshot,
    writes: Option<TableWrites>,
    /// The index of which it is the file, and the indexed table.
    index: Option<(Arc<Index>, Arc<Table>)>,
    /// The files of its indexes; `None` if it has none.
    pub(super) indexes: Option<Arc<[IndexView]>>,
    pub(super) peers: Option<(Arc<dyn Peers>, Reader)>,
}

impl TableView {
    pub(crate) fn new(
        table: Arc<Table>,
        file: Option<Arc<TableFile>>,
        snapshot: Snapshot,
        writes: Option<TableWrites>,
        peers: Option<(Arc<dyn Peers>, Reader)>,
    ) -> Self {
        let writes = writes.filter(|writes| !writes.is_empty());
        let truncated = writes.as_ref().is_some_and(|writes| writes.truncated);
        Self { table, file, truncated, snapshot, writes, index: None, indexes: None, peers }
    }

    /// The view as the file of an index of a table.
    pub(super) fn of_index(self, index: &Arc<Index>, table: &Arc<Table>) -> Self {
        Self { index: Some((Arc::clone(index), Arc::clone(table))), ..self }
    }

    /// The view as that of a table with indexes.
    pub(super) fn with_indexes(self, indexes: Vec<IndexView>) -> Self {
        Self { indexes: Some(indexes.into()), ..self }
    }

    /// Returns the error for a key that exists.
    pub(crate) fn duplicate(&self, key: &Key) -> Error {
        match &self.index {
            None => Error::duplicate_key(&self.table, key),
            Some((index, table)) => Error::duplicate_entry(index, table, key),
        }
    }

    /// Returns the definition of the table.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// Returns the keys of rows that have all columns.
    ///
    /// # Errors
    /// [`crate::Error::Bucket`] for NULL in a key.
    pub fn encode_keys(&self, rows: &RecordBatch) -> Result<Vec<Key>, Error> {
        Ok(key::of_rows(&self.table, rows)?)
    }

    /// Returns the values of a key's row in some columns; `None` if there is no row.
    ///
    /// # Errors
    /// [`Error::NotOwned`].
    pub fn get(&self, key: &Key, columns: &[usize]) -> Result<Option<Vec<ArrayRef>>, Error> {
        let bucket = self.bucket_of(key)?;
        if let Some(bucket) = &bucket {
            bucket.accesses.count(key);
        }
        let source = self.source_in(bucket.as_deref());
        Ok(source.get(key, &self.table, columns)?)
    }

    /// Whether a key has a row.
    ///
    /// # Errors
    /// [`Error::NotOwned`].
    pub fn contains(&self, key: &Key) -> Result<bool, Error> {
        Ok(self.source_of(key)?.contains(key))
    }

    /// Returns the rows of keys: their values in some columns, and the position of each one's key
    /// in `keys`.
    ///
    /// # Errors
    /// [`Error::NotOwned`] if a key is not owned here.
    pub fn get_many(
        &self,
        keys: &[Key],
        columns: &[usize],
    ) -> Result<(Vec<ArrayRef>, Vec<usize>), Error> {
        let mut found = Gathered::new();
        for (position, key) in keys.iter().enumerate() {
            let bucket = self.bucket_of(key)?;
            if let Some(bucket) = &bucket {
                bucket.accesses.count(key);
            }
            let source = self.source_in(bucket.as_deref());
            found.add_located(position, source.locate(key, &self.table, columns)?);
        }
        found.finish(&self.table, columns)
    }

    /// Returns the other servers and the identity for requests to them; `None` without a cluster.
    pub fn peers(&self) -> Option<&(Arc<dyn Peers>, Reader)> {
        self.peers.as_ref()
    }

    /// Returns the table that this one is colocated with ([`Table::colocate_with`]).
    pub fn colocated(&self) -> Option<&Arc<Table>> {
        self.snapshot.catalog().colocated(&self.table)
    }

    /// Whether all keys of a range are owned here now.
    pub fn owns(&self, range: &KeyRange) -> bool {
        match &self.file {
            Some(file) => file.owns(range),
            None => self.is_at_home(),
        }
    }

    /// Whether this server owns all keys of a table without committed data.
    fn is_at_home(&self) -> bool {
        self.table.home == self.group()
    }

    /// Returns the group whose rows it reads.
    pub(crate) fn group(&self) -> GroupId {
        self.snapshot.group()
    }

    /// Refuses a key that is not owned here.
    pub(crate) fn require(&self, key: &Key) -> Result<(), Error> {
        let is_owned = match &self.file {
            Some(file) => file.directory().locate(key).1.owned().is_some(),
            None => self.is_at_home(),
        };
        if is_owned { Ok(()) } else { Err(Error::NotOwned { range: KeyRange::point(key) }) }
    }

    /// Refuses rows that are not all owned here.
    pub(crate) fn require_rows(&self, chunk: &Chunk) -> Result<(), Error> {
        let last = Bound::At(chunk.last().successor());
        let span = KeyRange { low: Bound::At(chunk.first().clone()), high: last };
        if self.owns(&span) {
            return Ok(());
        }
        let keys = chunk.keys();
        (0..chunk.rows()).try_for_each(|row| self.require(&keys.key(row)))
    }

    /// Divides a range into disjoint morsels in key order, which together contain every visible
    /// row.
    ///
    /// # Errors
    /// [`Error::NotOwned`] if part of the range is not owned here.
    pub fn morsels(&self, range: &KeyRange) -> Result<Vec<Morsel>, Error> {
        let mut morsels = Vec::new();
        for (part, source) in self.sources(range)? {
            source.morsels(&self.table, &part, &mut morsels);
        }
        Ok(morsels)
    }

    /// Returns the buckets that overlap a range as this reader sees them, with the common range.
    /// All are of one directory.
    pub(crate) fn sources(&self, range: &KeyRange) -> Result<Vec<(KeyRange, Source)>, Error> {
        let not_owned = |range: &KeyRange| Error::NotOwned { range: range.clone() };
        let directory = match &self.file {
            None if self.is_at_home() => None,
            None => return Err(not_owned(range)),
            Some(file) if self.truncated && file.owns(range) => None,
            Some(file) => Some(file.directory()),
        };
        let Some(directory) = directory else {
            return Ok(vec![(range.clone(), self.source(BucketId(0), None))]);
        };
        let mut sources = Vec::new();
        for (tile_range, tile) in directory.cover(range) {
            let Some(part) = tile_range.intersect(range) else { continue };
            let Some(bucket) = tile.owned() else { return Err(not_owned(&part)) };
            bucket.accesses.count_scan();
            self.require_versions()?;
            sources.push((part, self.source(bucket.id, Some(bucket.state()))));
        }
        Ok(sources)
    }

    /// Returns the number of buckets of the table on this server.
    pub fn bucket_count(&self) -> usize {
        let file = self.file.as_ref().filter(|_| !self.truncated);
        file.map_or(1, |file| file.holdings().buckets as usize)
    }

    /// Returns the exact number of rows if it is known without a scan; otherwise, and if other
    /// servers own rows, `None`.
    pub fn row_count(&self) -> Option<u64> {
        if self.writes.is_some() {
            return None;
        }
        let Some(file) = &self.file else { return self.is_at_home().then_some(0) };
        let mut rows = 0;
        for (_, tile) in file.directory().iter() {
            let state = tile.owned()?.state();
            if state.newest() > self.snapshot.timestamp() {
                return None;
            }
            rows += state.rows();
        }
        Some(rows)
    }

    /// Returns the bucket of a key as this reader sees it.
    pub(crate) fn source_of(&self, key: &Key) -> Result<Source, Error> {
        Ok(self.source_in(self.bucket_of(key)?.as_deref()))
    }

    /// Returns the bucket that contains a key; `None` if the table has no committed data.
    fn bucket_of(&self, key: &Key) -> Result<Option<Arc<Bucket>>, Error> {
        let not_owned = || Error::NotOwned { range: KeyRange::point(key) };
        match &self.file {
            None if self.is_at_home() => Ok(None),
            None => Err(not_owned()),
            Some(file) => {
                let bucket = file.locate(key).ok_or_else(not_owned)?;
                self.require_versions()?;
                Ok(Some(bucket))
            }
        }
    }

    /// Refuses a snapshot of the cluster that needs versions that are gone. Called when the bucket is known: it may just have
    /// moved here.
    fn require_versions(&self) -> Result<(), Error> {
        if self.peers.is_some() { self.snapshot.require_moved() } else { Ok(()) }
    }

    fn source_in(&self, bucket: Option<&Bucket>) -> Source {
        match bucket {
            Some(bucket) => self.source(bucket.id, Some(bucket.state())),
            None => self.source(BucketId(0), None),
        }
    }

    fn source(&self, bucket: BucketId, state: Option<Arc<BucketState>>) -> Source {
        let snapshot = self.snapshot.timestamp();
        let state = state.filter(|_| !self.truncated);
        Source::new(bucket, state, snapshot, self.writes.clone())
    }
}
