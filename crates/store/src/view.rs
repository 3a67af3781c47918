//! A table as one reader sees it: at a snapshot, with the reader's own writes on top.

use crate::catalog::Table;
use crate::file::TableFile;
use crate::key::KeyEncoder;
use crate::peers::{Peers, Reader};
use crate::source::Source;
use crate::write_set::TableWrites;
use crate::{Error, Morsel, Snapshot};
use arrow::array::{Array, ArrayRef, RecordBatch};
use sdds::{BucketId, GroupId, Key, KeyRange};
use std::sync::Arc;

/// A table at a snapshot. Cheap to clone; never changes.
#[derive(Debug, Clone)]
pub struct TableView {
    table: Arc<Table>,
    file: Option<Arc<TableFile>>,
    snapshot: Snapshot,
    writes: Option<TableWrites>,
    peers: Option<(Arc<dyn Peers>, Reader)>,
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
        Self { table, file: file.filter(|_| !truncated), snapshot, writes, peers }
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
        let encoder = key_encoder(&self.table, rows)?;
        Ok((0..rows.num_rows()).map(|row| encoder.key(row)).collect())
    }

    /// The key of the first row of the key's columns.
    ///
    /// # Errors
    /// [`Error::NullKey`].
    pub fn encode_key(&self, columns: &[ArrayRef]) -> Result<Key, Error> {
        for (column, &index) in columns.iter().zip(&self.table.key_indices()) {
            refuse_nulls(&self.table, index, column)?;
        }
        Ok(KeyEncoder::new(columns)?.key(0))
    }

    /// The values of a key's row in some columns.
    pub fn get(&self, key: &Key, columns: &[usize]) -> Option<Vec<ArrayRef>> {
        let source = self.source_of(key);
        let values = source.find(key)?.values(&self.table, columns);
        Some(values.expect("what was written can be read"))
    }

    /// Whether a key has a row.
    pub fn contains(&self, key: &Key) -> bool {
        self.source_of(key).find(key).is_some()
    }

    /// The rows of some keys: their values column by column, and the position of each one's key.
    ///
    /// # Errors
    /// Only defects.
    pub fn get_many(
        &self,
        keys: &[Key],
        columns: &[usize],
    ) -> Result<(Vec<ArrayRef>, Vec<usize>), Error> {
        let mut found: Vec<Vec<ArrayRef>> = vec![Vec::new(); columns.len()];
        let mut positions = Vec::new();
        for (position, key) in keys.iter().enumerate() {
            let Some(values) = self.get(key, columns) else { continue };
            positions.push(position);
            found.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
        }
        let mut arrays = Vec::with_capacity(columns.len());
        for (values, &column) in found.iter().zip(columns) {
            let empty = arrow::array::new_empty_array(&self.table.columns[column].sql_type.arrow());
            let mut parts: Vec<&dyn Array> = vec![&empty];
            parts.extend(values.iter().map(AsRef::as_ref));
            arrays.push(arrow::compute::concat(&parts)?);
        }
        Ok((arrays, positions))
    }

    /// The rows of some keys, on any server; otherwise as [`Self::get_many`].
    ///
    /// # Errors
    /// Those of other servers.
    pub async fn find_many(
        &self,
        keys: &[Key],
        columns: &[usize],
    ) -> Result<(Vec<ArrayRef>, Vec<usize>), Error> {
        self.get_many(keys, columns)
    }

    /// The parts of a range and who has their rows, in key order: `None` for this server, else a group that is
    /// believed to own them.
    ///
    /// # Errors
    /// [`Error::Unreachable`], only in a cluster.
    pub async fn parts(&self, range: &KeyRange) -> Result<Vec<(KeyRange, Option<GroupId>)>, Error> {
        let Some((peers, _)) = &self.peers else { return Ok(vec![(range.clone(), None)]) };
        let cover = peers.cover(self.table.id, range).await?;
        let here = peers.here();
        Ok(cover
            .into_iter()
            .map(|(range, owner)| (range, Some(owner).filter(|o| *o != here)))
            .collect())
    }

    /// The other servers, and as whom they are to be asked; `None` where there are none.
    pub fn peers(&self) -> Option<&(Arc<dyn Peers>, Reader)> {
        self.peers.as_ref()
    }

    /// Disjoint pieces in key order that together hold every visible row of the range.
    pub fn morsels(&self, range: &KeyRange) -> Vec<Morsel> {
        let mut morsels = Vec::new();
        let Some(file) = &self.file else {
            self.source(BucketId(0), None).morsels(&self.table, range, &mut morsels);
            return morsels;
        };
        for (bucket_range, bucket) in file.directory().cover(range) {
            let part = bucket_range.intersect(range);
            let part = part.expect("a bucket that covers part of a range overlaps it");
            let source = self.source(bucket.id, Some(bucket.state()));
            source.morsels(&self.table, &part, &mut morsels);
        }
        morsels
    }

    /// The buckets that share keys with a range, as this reader sees them.
    pub(crate) fn sources(&self, range: &KeyRange) -> Vec<Source> {
        match &self.file {
            None => vec![self.source(BucketId(0), None)],
            Some(file) => {
                let directory = file.directory();
                let buckets = directory.cover(range);
                buckets.map(|(_, bucket)| self.source(bucket.id, Some(bucket.state()))).collect()
            }
        }
    }

    /// How many buckets the table has.
    pub fn bucket_count(&self) -> usize {
        self.file.as_ref().map_or(1, |file| file.directory().len())
    }

    /// The number of rows where metadata says it exactly; `None` where it takes a scan.
    pub fn row_count(&self) -> Option<u64> {
        if self.writes.is_some() {
            return None;
        }
        let Some(file) = &self.file else { return Some(0) };
        let mut rows = 0;
        for (_, bucket) in file.directory().iter() {
            let state = bucket.state();
            if state.newest > self.snapshot.timestamp() {
                return None;
            }
            rows += state.rows;
        }
        Some(rows)
    }

    pub(crate) fn source_of(&self, key: &Key) -> Source {
        match &self.file {
            None => self.source(BucketId(0), None),
            Some(file) => {
                let bucket = file.locate(key);
                self.source(bucket.id, Some(bucket.state()))
            }
        }
    }

    fn source(&self, bucket: BucketId, state: Option<Arc<crate::bucket::BucketState>>) -> Source {
        let snapshot = self.snapshot.timestamp();
        Source { bucket, state, snapshot, writes: self.writes.clone() }
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
