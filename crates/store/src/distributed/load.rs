//! Bulk loads of distributed transactions: sorted rows are divided among their owners.

use super::DistributedTransaction;
use crate::Error;
use crate::memory::Reservation;
use crate::peers::{ATTEMPTS_MAX, BATCH_BYTES_MAX, Reader, RowPeers, Write};
use crate::read::TableView;
use crate::transaction::SortedLoad;
use arrow::array::RecordBatch;
use bucket::key::Stretches;
use bucket::{Chunk, IndexChanges};
use catalog::{Table, TableId};
use futures::future::join_all;
use sdds::{Bound, GroupId, KeyRange};
use std::collections::BTreeMap;
use std::sync::Arc;

type Chunks = Vec<Arc<Chunk>>;

impl DistributedTransaction {
    /// Divides a sorted load among the owners of its keys; returns its number of rows.
    pub(super) async fn load_to_owners(
        &mut self,
        id: TableId,
        load: SortedLoad,
    ) -> Result<u64, Error> {
        let SortedLoad { mut chunks, rows, reservation: _reservation } = load;
        let view = self.table_or_missing(id)?;
        let mut entries = IndexChanges::default();
        for _ in 0..ATTEMPTS_MAX {
            let Some((peers, reader)) = self.begin_elsewhere(false) else { break };
            let mut owners = by_owner(&*peers, &view, std::mem::take(&mut chunks)).await?;
            if let Some(here) = owners.remove(&view.group()) {
                self.waiting(|here| here.lock_for_load(id)).await?;
                match self.load_here(id, here.clone()) {
                    Err(Error::NotOwned { .. }) => chunks.extend(here),
                    done => drop(done?),
                }
                entries.add(self.here_mut().take_entries());
            }
            if !owners.is_empty() {
                self.begin_elsewhere(true);
            }
            let sent = owners.into_iter().map(|(owner, chunks)| {
                let (peers, view, reader) = (&*peers, &view, &reader);
                async move { send(peers, reader, view, owner, chunks).await }
            });
            for sent in join_all(sent).await {
                let (refused, changes) = sent?;
                chunks.extend(refused);
                entries.add(changes);
            }
            if chunks.is_empty() {
                self.write_entries(entries).await?;
                return Ok(rows);
            }
            chunks.sort_by(|a, b| a.first().cmp(b.first()));
        }
        let range = chunks.first().map_or(KeyRange::all(), |chunk| KeyRange::point(chunk.first()));
        Err(Error::NotOwned { range })
    }

    fn load_here(&mut self, id: TableId, chunks: Chunks) -> Result<u64, Error> {
        let rows = chunks.iter().map(|chunk| chunk.rows() as u64).sum();
        let reservation = Reservation::new(self.store().memory());
        self.here_mut().take_load(id, SortedLoad { chunks, rows, reservation })
    }
}

/// Sends chunks to their owner one after the other; returns those that it does not own, and what
/// changes in indexes.
async fn send(
    peers: &dyn RowPeers,
    reader: &Reader,
    view: &TableView,
    owner: GroupId,
    chunks: Chunks,
) -> Result<(Chunks, IndexChanges), Error> {
    let table = view.table();
    let all: Vec<usize> = (0..table.columns.len()).collect();
    let (mut refused, mut entries) = (Vec::new(), IndexChanges::default());
    for chunk in chunks {
        let parts = chunk.bytes().div_ceil(BATCH_BYTES_MAX).max(1) as usize;
        let step = chunk.rows().div_ceil(parts);
        for start in (0..chunk.rows()).step_by(step) {
            let rows = start..chunk.rows().min(start + step);
            let columns: Vec<_> = all.iter().map(|&c| chunk.column(table, c, &rows)).collect();
            let batch = RecordBatch::try_new(table.arrow_schema(), columns)?;
            match peers.write(reader, table, owner, Write::Load(batch)).await {
                Err(Error::NotOwned { .. }) => refused.push(Arc::new(chunk.slice(rows)?)),
                done => {
                    let done = done.map_err(|error| error.missing(|| describe(table, &chunk)))?;
                    entries.add(done.entries);
                }
            }
        }
    }
    Ok((refused, entries))
}

fn describe(table: &Table, chunk: &Chunk) -> String {
    let high = Bound::At(chunk.last().successor());
    let range = KeyRange { low: Bound::At(chunk.first().clone()), high };
    format!("{} of table \"{}\"", Stretches { table, ranges: &[range] }, table.name)
}

/// Groups chunks by the owners of their keys. Chunks of several owners are divided.
async fn by_owner(
    peers: &dyn RowPeers,
    view: &TableView,
    chunks: Chunks,
) -> Result<BTreeMap<GroupId, Chunks>, Error> {
    let mut owners: BTreeMap<GroupId, Chunks> = BTreeMap::new();
    let (Some(first), Some(last)) = (chunks.first(), chunks.last()) else { return Ok(owners) };
    let (low, high) = (Bound::At(first.first().clone()), Bound::At(last.last().successor()));
    let Some(span) = KeyRange::new(low, high) else { return Ok(owners) };
    if view.owns(&span) {
        return Ok([(view.group(), chunks)].into());
    }
    for (range, owner) in peers.cover(view.table().id, &span).await? {
        let start = chunks.partition_point(|chunk| !range.low.is_at_or_before(chunk.last()));
        let inside = chunks[start..].iter();
        let inside = inside.take_while(|chunk| !range.high.is_at_or_before(chunk.first()));
        let parts: Chunks = inside.filter_map(|chunk| chunk.cut(&range)).collect();
        if !parts.is_empty() {
            owners.entry(owner).or_default().extend(parts);
        }
    }
    Ok(owners)
}
