//! The other servers, as this server's transactions see them ([`store::Peers`]).
//!
//! A view of the cluster is either a coordinator's, which trusts its image and is corrected, or that of a server which
//! works for another: then it goes by the directory alone, passes on what is not its own, and notes what the other one
//! can learn.

use crate::batches;
use crate::cluster::{Asked, Cluster, DEADLINE, Inner, ROOT, unexpected};
use crate::commit;
use crate::describe;
use crate::files::File;
use crate::message::{
    Adjustment, Answer, Reply, Request, Target, WireReader, WireWrite, decode, encode,
};
use arrow::array::{Array, ArrayRef, RecordBatch};
use async_trait::async_trait;
use bytes::Bytes;
use futures::future::join_all;
use futures::{StreamExt, stream};
use parking_lot::Mutex;
use sdds::directory::Entry;
use sdds::{GroupId, Key, KeyRange, Timestamp};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use store::catalog::{Sequence, Table, TableId};
use store::{BatchStream, Error, Peers, Prepared, Reader, Snapshot, TransactionId, Write};

/// A request that was passed on so often is given back as lost.
const HOPS_MAX: u32 = 16;

/// Somebody's view of the cluster.
#[derive(Debug, Clone)]
pub(crate) struct View {
    pub(crate) inner: Arc<Inner>,
    /// How often the request was passed on on whose behalf this server looks; zero for a coordinator.
    pub(crate) hops: u32,
    /// What whoever has asked can learn.
    pub(crate) found: Arc<Mutex<Adjustment>>,
}

impl Cluster {
    /// The cluster as the transactions of this server see it.
    pub fn peers(&self) -> Arc<dyn Peers> {
        Arc::new(View { inner: Arc::clone(&self.0), hops: 0, found: Arc::default() })
    }
}

impl View {
    /// Learns from an answer, and passes on what it says where this server works for another.
    fn learn(&self, file: &File, adjustment: Adjustment) {
        let entries = adjustment.entries.iter().filter(|(table, _)| *table == file.table());
        file.learn(&entries.map(|(_, entry)| entry.clone()).collect::<Vec<Entry>>());
        let passed = adjustment.forwards + u32::from(!adjustment.entries.is_empty());
        file.counters().forwards.fetch_add(u64::from(passed), Ordering::Relaxed);
        if self.hops > 0 {
            let mut found = self.found.lock();
            found.forwards += adjustment.forwards;
            found.entries.extend(adjustment.entries);
        }
    }

    /// Who owns what of a range, or knows more: waits while some of it is leaving.
    async fn parts(
        &self,
        file: &File,
        range: &KeyRange,
    ) -> Result<Vec<(KeyRange, GroupId)>, Error> {
        if self.hops > HOPS_MAX {
            return Err(lost_way(range));
        }
        let waiting = async {
            loop {
                let moved = file.moved();
                let parts = match self.hops {
                    0 => file.believed(range),
                    _ => {
                        let mut found = Vec::new();
                        let parts = file.known(range, &mut found);
                        let found = found.into_iter().map(|entry| (file.table(), entry));
                        self.found.lock().entries.extend(found);
                        parts
                    }
                };
                match parts {
                    Some(parts) => return parts,
                    None => moved.await,
                }
            }
        };
        let parts = tokio::time::timeout(DEADLINE, waiting).await;
        parts.map_err(|_| Error::Unreachable {
            server: self.inner.name.clone(),
            reason: format!(
                "the keys {range} have been on their way to another server for too long"
            ),
        })
    }

    async fn get_from(
        &self,
        file: &File,
        request: &Request,
        owner: GroupId,
    ) -> Result<Found, Error> {
        file.counters().requests.fetch_add(1, Ordering::Relaxed);
        match self.inner.ask(owner, request).await? {
            Answer::Found { rows, positions, adjustment } => {
                self.learn(file, adjustment);
                let columns = match rows {
                    Some(rows) => batches::read(&rows)?.columns().to_vec(),
                    None => Vec::new(),
                };
                if columns.iter().any(|column| column.len() != positions.len()) {
                    return Err(crate::message::garbled("rows and positions differ in number"));
                }
                Ok((columns, positions.into_iter().map(|position| position as usize).collect()))
            }
            Answer::NotOwned { range, adjustment } => {
                self.learn(file, adjustment);
                Err(Error::NotOwned { range })
            }
            other => Err(unexpected(&other)),
        }
    }
}

type Found = (Vec<ArrayRef>, Vec<usize>);

#[async_trait]
impl Peers for View {
    fn here(&self) -> GroupId {
        self.inner.here
    }

    fn transaction_id(&self) -> TransactionId {
        self.inner.transaction_id()
    }

    async fn snapshot(&self) -> Result<Snapshot, Error> {
        self.inner.snapshot().await
    }

    async fn cover(
        &self,
        table: TableId,
        range: &KeyRange,
    ) -> Result<Vec<(KeyRange, GroupId)>, Error> {
        let catalog = self.inner.store.catalog();
        match catalog.table_by_id(table) {
            Some(definition) if !store::catalog::is_temporary_schema(&definition.schema) => {
                self.parts(&self.inner.file(definition), range).await
            }
            // One session's, or not committed yet: nobody else has heard of it.
            _ => Ok(vec![(range.clone(), self.inner.here)]),
        }
    }

    async fn get(
        &self,
        reader: &Reader,
        table: &Arc<Table>,
        keys: &[Key],
        columns: &[usize],
    ) -> Result<Found, Error> {
        let file = self.inner.file(table);
        let by_owner = self.by_owner(&file, keys).await?;
        let asked = by_owner.into_iter().map(|(owner, places)| {
            let (file, columns) = (&file, columns.iter().map(|column| *column as u32).collect());
            let request = Request::Get {
                reader: WireReader::new(reader),
                target: Target { table: table.id, version: table.version, hops: self.hops + 1 },
                keys: places.iter().map(|place| keys[*place].clone()).collect(),
                columns,
            };
            async move {
                if owner == self.inner.here {
                    let range = KeyRange::point(&keys[places[0]]);
                    return Err(Error::NotOwned { range });
                }
                let (columns, positions) = self.get_from(file, &request, owner).await?;
                let place = |position: usize| {
                    places
                        .get(position)
                        .copied()
                        .ok_or_else(|| crate::message::garbled("a position"))
                };
                let positions: Result<Vec<usize>, Error> =
                    positions.into_iter().map(place).collect();
                Ok((columns, positions?))
            }
        });
        merge(join_all(asked).await, table, columns)
    }

    async fn write(
        &self,
        reader: &Reader,
        table: &Arc<Table>,
        owner: GroupId,
        write: Write,
    ) -> Result<u64, Error> {
        let file = self.inner.file(table);
        if let Some(transaction) = reader.transaction {
            let mut joint = self.inner.joint.lock();
            joint.entry(transaction).or_default().insert(owner);
        }
        let write = match write {
            Write::Insert(rows) => WireWrite::Insert(batches::write(&rows)?.into()),
            Write::Load(rows) => WireWrite::Load(batches::write(&rows)?.into()),
            Write::Upsert(rows) => WireWrite::Upsert(batches::write(&rows)?.into()),
            Write::Delete(keys) => WireWrite::Delete(keys),
        };
        let target = Target { table: table.id, version: table.version, hops: self.hops + 1 };
        let request = Request::Write { reader: WireReader::new(reader), target, write };
        file.counters().requests.fetch_add(1, Ordering::Relaxed);
        match self.inner.ask(owner, &request).await? {
            Answer::Written { rows } => Ok(rows),
            Answer::NotOwned { range, adjustment } => {
                self.learn(&file, adjustment);
                Err(Error::NotOwned { range })
            }
            other => Err(unexpected(&other)),
        }
    }

    fn run(&self, reader: &Reader, on: GroupId, bundle: Bytes) -> BatchStream {
        let request = Request::Run {
            reader: WireReader::new(reader),
            hops: self.hops + 1,
            bundle: bundle.into(),
        };
        let called = self.inner.address(on).and_then(|(address, name)| {
            let request = encode(&request)?;
            Ok((self.inner.network.call(&address, request, RUN_DEADLINE), name))
        });
        let (answers, name) = match called {
            Ok(called) => called,
            Err(error) => return stream::once(async { Err(error) }).boxed(),
        };
        let view = self.clone();
        let batches = answers.filter_map(move |answer| {
            let batch = view.batch(answer, &name);
            async move { batch.transpose() }
        });
        batches.boxed()
    }

    async fn rollback_to(&self, transaction: TransactionId, savepoint: u64) -> Result<(), Error> {
        let groups = self.inner.joint.lock().get(&transaction).cloned().unwrap_or_default();
        let request = Request::RollbackTo { transaction, savepoint };
        let asked = groups.iter().map(|group| self.inner.ask(*group, &request));
        for answer in join_all(asked).await {
            answer?;
        }
        Ok(())
    }

    async fn commit(&self, reader: &Reader, here: Option<Prepared>) -> Result<Timestamp, Error> {
        commit::commit(&self.inner, reader, here).await
    }

    fn roll_back(&self, transaction: TransactionId) {
        commit::roll_back(&self.inner, transaction);
    }

    async fn describe(&self, name: &str) -> Result<Option<RecordBatch>, Error> {
        describe::table(&Cluster(Arc::clone(&self.inner)), name).await
    }

    fn set_weight(&self, name: &str, weight: u32) -> Result<(), Error> {
        self.ask_blocking(Request::SetWeight { name: name.to_owned(), weight }).map(drop)
    }

    fn sequence_next(&self, sequence: &Sequence, count: u32) -> Result<i64, Error> {
        let request = Request::SequenceNext { sequence: sequence.clone(), count };
        match self.ask_blocking(request)? {
            Answer::Value(Some(value)) => Ok(value),
            other => Err(unexpected(&other)),
        }
    }

    fn sequence_set(&self, sequence: &Sequence, last: i64, called: bool) -> Result<(), Error> {
        let request = Request::SequenceSet { sequence: sequence.clone(), last, called };
        self.ask_blocking(request).map(drop)
    }

    fn sequence_last(&self, sequence: &Sequence) -> Result<Option<i64>, Error> {
        match self.ask_blocking(Request::SequenceLast { sequence: sequence.clone() })? {
            Answer::Value(value) => Ok(value),
            other => Err(unexpected(&other)),
        }
    }
}

/// A bundle may have to work for a while before its first rows come.
const RUN_DEADLINE: std::time::Duration = std::time::Duration::from_secs(600);

impl View {
    /// Places of keys by whoever owns them or knows more.
    async fn by_owner(
        &self,
        file: &File,
        keys: &[Key],
    ) -> Result<BTreeMap<GroupId, Vec<usize>>, Error> {
        let mut owners: BTreeMap<GroupId, Vec<usize>> = BTreeMap::new();
        for (place, key) in keys.iter().enumerate() {
            for (_, owner) in self.parts(file, &KeyRange::point(key)).await? {
                owners.entry(owner).or_default().push(place);
            }
        }
        Ok(owners)
    }

    /// One of the answers to a bundle.
    fn batch(
        &self,
        answer: Result<Bytes, crate::net::NetError>,
        server: &str,
    ) -> Result<Option<arrow::array::RecordBatch>, Error> {
        let answer = answer.map_err(|error| Error::from(Asked::of(error, server)))?;
        match decode::<Reply>(&answer)?? {
            Answer::Batch(batch) => Ok(Some(batches::read(&batch)?)),
            Answer::Trailer { adjustment } => {
                let tables: std::collections::BTreeSet<TableId> =
                    adjustment.entries.iter().map(|(table, _)| *table).collect();
                for table in tables {
                    if let Ok(file) = self.inner.file_by_id(table) {
                        self.learn(&file, adjustment.clone());
                    }
                }
                Ok(None)
            }
            other => Err(unexpected(&other)),
        }
    }

    /// Asks the root from a thread that cannot wait otherwise.
    fn ask_blocking(&self, request: Request) -> Result<Answer, Error> {
        let (sender, receiver) = std::sync::mpsc::channel();
        let inner = Arc::clone(&self.inner);
        self.inner.runtime.spawn(async move {
            let _ = sender.send(inner.ask_root(&request).await);
        });
        let answer = receiver.recv_timeout(DEADLINE * 2);
        let answer = answer.map_err(|_| Error::Unreachable {
            server: ROOT.to_string(),
            reason: "it did not answer".into(),
        })?;
        Ok(answer?)
    }
}

/// Rows from several owners as those of one.
fn merge(
    found: Vec<Result<Found, Error>>,
    table: &Table,
    columns: &[usize],
) -> Result<Found, Error> {
    let mut parts: Vec<Vec<ArrayRef>> = vec![Vec::new(); columns.len()];
    let mut all = Vec::new();
    for found in found {
        let (values, positions) = found?;
        if !positions.is_empty() {
            parts.iter_mut().zip(values).for_each(|(column, values)| column.push(values));
            all.extend(positions);
        }
    }
    let mut merged = Vec::with_capacity(columns.len());
    for (parts, column) in parts.iter().zip(columns) {
        let empty = arrow::array::new_empty_array(&table.columns[*column].sql_type.arrow());
        let mut arrays: Vec<&dyn Array> = vec![&*empty];
        arrays.extend(parts.iter().map(AsRef::as_ref));
        merged.push(arrow::compute::concat(&arrays)?);
    }
    Ok((merged, all))
}

fn lost_way(range: &KeyRange) -> Error {
    Error::Unreachable {
        server: "of its owner".into(),
        reason: format!("a request for the keys {range} was passed on {HOPS_MAX} times"),
    }
}
