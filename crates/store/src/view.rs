//! A table as one reader sees it: at a snapshot, with the reader's own writes on top.

use crate::bucket::Bucket;
use crate::catalog::Table;
use crate::chunk::Chunk;
use crate::file::TableFile;
use crate::key::KeyEncoder;
use crate::peers::{Peers, Reader};
use crate::source::Source;
use crate::write_set::TableWrites;
use crate::{Error, Morsel, Snapshot};
use arrow::array::{Array, ArrayRef, RecordBatch};
use sdds::{Bound, BucketId, Key, KeyRange};
use std::sync::Arc;

/// A table at a snapshot. Cheap to clone; never changes.
#[derive(Debug, Clone)]
pub struct TableView {
    table: Arc<Table>,
    /// `None` where the table is not committed yet.
    file: Option<Arc<TableFile>>,
    /// Whether what is committed counts for nothing.
    truncated: bool,
    snapshot: Snapshot,
    writes: Option<TableWrites>,
    pub(crate) peers: Option<(Arc<dyn Peers>, Reader)>,
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
        Self { table, file, truncated, snapshot, writes, peers }
    }

    /// The table's definition.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// The key of each row of a batch that has all columns.
    ///
    /// # Errors
    /// [`Error::NullKey`].
    pub fn encode_keys(&self, rows: &RecordBatch) -> Result<Vec<Key>, Error> {
        crate::key::of_rows(&self.table, rows)
    }

    /// The values of a key's row in some columns.
    ///
    /// # Errors
    /// [`Error::NotOwned`].
    pub fn get(&self, key: &Key, columns: &[usize]) -> Result<Option<Vec<ArrayRef>>, Error> {
        let bucket = self.bucket_of(key)?;
        if let Some(bucket) = &bucket {
            bucket.accesses.count(key);
        }
        let source = self.source_in(bucket.as_deref());
        source.find(key).map(|found| found.values(&self.table, columns)).transpose()
    }

    /// Whether a key has a row.
    ///
    /// # Errors
    /// [`Error::NotOwned`].
    pub fn contains(&self, key: &Key) -> Result<bool, Error> {
        Ok(self.source_of(key)?.find(key).is_some())
    }

    /// The rows of some keys: their values column by column, and the position of each one's key.
    ///
    /// # Errors
    /// [`Error::NotOwned`] where some are not owned here.
    pub fn get_many(
        &self,
        keys: &[Key],
        columns: &[usize],
    ) -> Result<(Vec<ArrayRef>, Vec<usize>), Error> {
        let mut found = Gathered::new(columns);
        for (position, key) in keys.iter().enumerate() {
            found.add(position, self.get(key, columns)?);
        }
        found.finish(&self.table, columns)
    }

    /// The other servers, and as whom they are to be asked; `None` where there are none.
    pub fn peers(&self) -> Option<&(Arc<dyn Peers>, Reader)> {
        self.peers.as_ref()
    }

    /// The table that this one lies beside ([`Table::colocate_with`]).
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

    /// Whether this server owns the table where nothing has been committed yet.
    fn is_at_home(&self) -> bool {
        self.table.home == self.snapshot.group()
    }

    /// Refuses a key that is not owned here.
    pub(crate) fn require(&self, key: &Key) -> Result<(), Error> {
        let is_owned = match &self.file {
            Some(file) => file.directory().locate(key).1.owned().is_some(),
            None => self.is_at_home(),
        };
        if is_owned { Ok(()) } else { Err(Error::NotOwned { range: KeyRange::point(key) }) }
    }

    /// Refuses rows of which some are not owned here.
    pub(crate) fn require_rows(&self, chunk: &Chunk) -> Result<(), Error> {
        let last = Bound::At(chunk.last().successor());
        let span = KeyRange { low: Bound::At(chunk.first().clone()), high: last };
        if self.owns(&span) {
            return Ok(());
        }
        let keys = chunk.keys();
        (0..chunk.rows()).try_for_each(|row| self.require(&keys.key(row)))
    }

    /// Disjoint pieces in key order that together hold every visible row of the range.
    ///
    /// # Errors
    /// [`Error::NotOwned`] where part of the range is not owned here.
    pub fn morsels(&self, range: &KeyRange) -> Result<Vec<Morsel>, Error> {
        let mut morsels = Vec::new();
        for (part, source) in self.sources(range)? {
            source.morsels(&self.table, &part, &mut morsels);
        }
        Ok(morsels)
    }

    /// The buckets that share keys with a range, as this reader sees them, and what they share: all from one
    /// directory.
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
            sources.push((part, self.source(bucket.id, Some(bucket.state()))));
        }
        Ok(sources)
    }

    /// How many buckets of the table are here.
    pub fn bucket_count(&self) -> usize {
        let file = self.file.as_ref().filter(|_| !self.truncated);
        file.map_or(1, |file| file.holdings().buckets as usize)
    }

    /// The number of rows where metadata says it exactly; `None` where it takes a scan, or other servers have some.
    pub fn row_count(&self) -> Option<u64> {
        if self.writes.is_some() {
            return None;
        }
        let Some(file) = &self.file else { return self.is_at_home().then_some(0) };
        let mut rows = 0;
        for (_, tile) in file.directory().iter() {
            let state = tile.owned()?.state();
            if state.newest > self.snapshot.timestamp() {
                return None;
            }
            rows += state.rows;
        }
        Some(rows)
    }

    pub(crate) fn source_of(&self, key: &Key) -> Result<Source, Error> {
        Ok(self.source_in(self.bucket_of(key)?.as_deref()))
    }

    /// The bucket that a key is in; `None` where nothing has been committed yet.
    fn bucket_of(&self, key: &Key) -> Result<Option<Arc<Bucket>>, Error> {
        let not_owned = || Error::NotOwned { range: KeyRange::point(key) };
        match &self.file {
            None if self.is_at_home() => Ok(None),
            None => Err(not_owned()),
            Some(file) => file.locate(key).ok_or_else(not_owned).map(Some),
        }
    }

    fn source_in(&self, bucket: Option<&Bucket>) -> Source {
        match bucket {
            Some(bucket) => self.source(bucket.id, Some(bucket.state())),
            None => self.source(BucketId(0), None),
        }
    }

    fn source(&self, bucket: BucketId, state: Option<Arc<crate::bucket::BucketState>>) -> Source {
        let snapshot = self.snapshot.timestamp();
        let state = state.filter(|_| !self.truncated);
        Source { bucket, state, snapshot, writes: self.writes.clone() }
    }
}

/// Rows that are found one by one.
pub(crate) struct Gathered {
    values: Vec<Vec<ArrayRef>>,
    positions: Vec<usize>,
}

impl Gathered {
    pub(crate) fn new(columns: &[usize]) -> Self {
        Self { values: vec![Vec::new(); columns.len()], positions: Vec::new() }
    }

    /// Takes what was found for the key at a position.
    pub(crate) fn add(&mut self, position: usize, row: Option<Vec<ArrayRef>>) {
        let Some(row) = row else { return };
        self.positions.push(position);
        self.values.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
    }

    /// The columns, and the positions.
    pub(crate) fn finish(
        self,
        table: &Table,
        columns: &[usize],
    ) -> Result<(Vec<ArrayRef>, Vec<usize>), Error> {
        let mut arrays = Vec::with_capacity(columns.len());
        for (values, &column) in self.values.iter().zip(columns) {
            let empty = arrow::array::new_empty_array(&table.columns[column].sql_type.arrow());
            let mut parts: Vec<&dyn Array> = vec![&empty];
            parts.extend(values.iter().map(AsRef::as_ref));
            arrays.push(arrow::compute::concat(&parts)?);
        }
        Ok((arrays, self.positions))
    }
}

/// Prepares the key columns of a batch that has all columns.
pub(crate) fn key_encoder(table: &Table, rows: &RecordBatch) -> Result<KeyEncoder, Error> {
    let mut columns = Vec::with_capacity(table.key.len());
    for index in table.key_indices() {
        refuse_nulls(table, index, rows.column(index))?;
        columns.push(Arc::clone(rows.column(index)));
    }
    KeyEncoder::new(&columns)
}

fn refuse_nulls(table: &Table, index: usize, column: &ArrayRef) -> Result<(), Error> {
    match column.null_count() {
        0 => Ok(()),
        _ => Err(Error::NullKey {
            schema: table.schema.clone(),
            table: table.name.clone(),
            column: table.columns[index].name.clone(),
        }),
    }
}
