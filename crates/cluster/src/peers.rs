//! The other servers, as this server's transactions see them ([`store::Peers`]).
//!
//! A view of the cluster is either a coordinator's, which trusts its image and is corrected, or that of a server which
//! works for another: then it goes by the directory alone, passes on what is not its own, and notes what the other one
//! can learn.

use crate::batches;
use crate::cluster::{Asked, Cluster, DEADLINE, Inner, ROOT, unexpected};
use crate::commit;
use crate::describe;
use crate::files::{ADJUSTMENT_ENTRIES, File};
use crate::message::{Adjustment, Answer, Reply, Request, Target, WireReader, WireWrite, decode};
use crate::net::Network;
use arrow::array::{Array, ArrayRef, RecordBatch};
use async_trait::async_trait;
use bytes::Bytes;
use futures::future::{BoxFuture, join_all};
use futures::{StreamExt, stream};
use parking_lot::Mutex;
use sdds::directory::{Entry, Image};
use sdds::{GroupId, Key, KeyRange, Timestamp};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use store::catalog::{Sequence, Table, TableId};
use store::{
    BatchStream, Changed, Delivery, Error, ExchangeId, Finding, MoveSetting, MoveSettings, Peers,
    Prepared, Reader, Snapshot, TableTotal, Traffic, TransactionId, Whereabouts, Write,
};
use tokio::runtime::{Handle, RuntimeFlavor};

/// Of a request that was passed on so often everybody is asked; one that is passed on even then is given back as lost.
const HOPS_MAX: u32 = 16;

/// For so long a row is waited for that a prepared transaction writes: less than other servers wait for an answer. Whoever
/// has prepared one asks the root after two seconds what became of it.
const ROW_PATIENCE: std::time::Duration = std::time::Duration::from_secs(4);

/// Who has not said by then what is theirs is passed over.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(1);

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
        let entries: Vec<Entry> = entries.map(|(_, entry)| entry.clone()).collect();
        if !entries.is_empty() {
            file.learn(&entries);
        }
        if self.hops == 0 {
            let forwards = u64::from(adjustment.forwards);
            file.counters().forwards.fetch_add(forwards, Ordering::Relaxed);
        } else {
            self.found.lock().forwards += adjustment.forwards;
            self.tell(file.table(), entries);
        }
    }

    /// Notes what whoever has asked can learn, once.
    fn tell(&self, table: TableId, entries: Vec<Entry>) {
        let mut found = self.found.lock();
        for entry in entries {
            let entry = (table, entry);
            if found.entries.len() < ADJUSTMENT_ENTRIES && !found.entries.contains(&entry) {
                found.entries.push(entry);
            }
        }
    }

    /// A request goes to another server.
    fn count(&self, file: &File) {
        match self.hops {
            0 => drop(file.counters().requests.fetch_add(1, Ordering::Relaxed)),
            _ => self.found.lock().forwards += 1,
        }
    }

    /// Who owns what of a range, or knows more: waits while some of it is leaving.
    pub(crate) async fn parts(
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
                        self.tell(file.table(), found);
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
        let parts = parts.map_err(|_| {
            let reason =
                format!("the keys {range} have been on their way to another server for too long");
            Error::unreachable(self.inner.name.clone(), reason)
        })?;
        if self.hops > 1 {
            // Whoever was asked first did not know that these are ours.
            let here = parts.iter().filter(|(_, group)| *group == self.inner.here);
            here.for_each(|(part, _)| self.tell(file.table(), file.own(part)));
        }
        let is_gone = |group| self.inner.is_gone(group);
        match self.hops == HOPS_MAX || parts.iter().any(|(_, group)| is_gone(*group)) {
            true => Ok(self.ask_everybody(file, range, parts).await),
            false => Ok(parts),
        }
    }

    /// The last resort, which needs no directory: everybody says what is theirs. What is nobody's stays with whoever was
    /// believed to have it.
    async fn ask_everybody(
        &self,
        file: &File,
        range: &KeyRange,
        parts: Vec<(KeyRange, GroupId)>,
    ) -> Vec<(KeyRange, GroupId)> {
        file.counters().broadcasts.fetch_add(1, Ordering::Relaxed);
        let request = Request::Owned { table: file.table(), range: range.clone() };
        let here = self.inner.here;
        // Whoever has joined a moment ago may have some of it. Where the root is silent, those are asked who are known.
        let _ = tokio::time::timeout(PATIENCE, self.inner.refresh_members()).await;
        let groups: Vec<GroupId> =
            self.inner.members.read().present().map(|member| member.group).collect();
        let others = groups.into_iter().filter(|group| *group != here);
        let asked = others.map(|group| self.inner.ask_within(group, &request, PATIENCE));
        let mut owned = file.own(range);
        for answer in join_all(asked).await.into_iter().flatten() {
            if let Answer::Owners(entries) = answer {
                owned.extend(entries);
            }
        }
        file.learn(&owned);
        self.tell(file.table(), owned.clone());
        let mut found = Vec::new();
        for (part, believed) in parts {
            let mut image = Image::new(believed);
            image.learn_all(&owned);
            found.extend(image.cover(&part).into_iter().map(|e| (e.range, e.owner.group)));
        }
        found
    }

    /// A table, as it is named to whoever is asked next.
    fn target(&self, table: &Table) -> Target {
        Target { table: table.id, version: table.version, hops: self.hops + 1 }
    }

    /// Who owns a key, or knows more; [`Error::NotOwned`] where that is this server.
    async fn other_owner(&self, file: &File, key: &Key) -> Result<GroupId, Error> {
        let range = KeyRange::point(key);
        let parts = self.parts(file, &range).await?;
        let owner = parts.first().map(|(_, owner)| *owner);
        owner.filter(|owner| *owner != self.inner.here).ok_or(Error::NotOwned { range })
    }

    async fn get_from(
        &self,
        file: &File,
        request: &Request,
        owner: GroupId,
    ) -> Result<Found, Error> {
        self.count(file);
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
                Err(self.to_look_again(range))
            }
            other => Err(unexpected(&other)),
        }
    }

    /// Keys are not where they were looked for: who was asked first looks for them again.
    fn to_look_again(&self, range: KeyRange) -> Error {
        match self.hops {
            0 => Error::NotOwned { range },
            _ => Error::Astray { range },
        }
    }
}

/// Rows column by column, and the position of each one's key.
pub(crate) type Found = (Vec<ArrayRef>, Vec<usize>);

#[async_trait]
impl Peers for View {
    fn here(&self) -> GroupId {
        self.inner.here
    }

    fn refusal(&self) -> Option<Error> {
        let is_evicted = self.inner.is_evicted.load(Ordering::Relaxed);
        is_evicted.then(|| crate::root::evicted(self.inner.here))
    }

    fn server_name(&self, group: GroupId) -> String {
        let members = self.inner.members.read();
        members.get(group).map_or_else(|| group.to_string(), |member| member.name.clone())
    }

    fn traffic(&self) -> Traffic {
        self.inner.network.counters.traffic()
    }

    fn finding(&self, table: TableId) -> Finding {
        self.inner.files.find(table).map(|file| file.finding()).unwrap_or_default()
    }

    fn patience(&self) -> BoxFuture<'static, Error> {
        let server = self.inner.name.clone();
        Box::pin(async move {
            tokio::time::sleep(ROW_PATIENCE).await;
            let reason = "a transaction that writes the row has been about to commit for too long";
            Error::unreachable(server, reason)
        })
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

    fn whereabouts(&self, table: &Arc<Table>, key: &Key) -> Whereabouts {
        let entries = self.inner.file(table).around(key);
        let members = self.inner.members.read();
        let mut groups: Vec<GroupId> = entries.iter().map(|entry| entry.owner.group).collect();
        groups.sort_unstable();
        groups.dedup();
        let address = |group| Some((group, members.get(group)?.pg.clone()?));
        Whereabouts { servers: groups.into_iter().filter_map(address).collect(), entries }
    }

    fn total(&self, table: TableId) -> Option<TableTotal> {
        self.inner.totals.read().get(&table).copied()
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
                target: self.target(table),
                keys: places.iter().map(|place| keys[*place].clone()).collect(),
                columns,
            };
            async move {
                // A coordinator looks at its own keys itself: it alone knows what its client has written there.
                let is_asking = reader.transaction.is_some_and(|t| t.coordinator == owner);
                let range = KeyRange::point(&keys[places[0]]);
                if owner == self.inner.here {
                    return Err(Error::NotOwned { range });
                }
                if is_asking {
                    return Err(self.to_look_again(range));
                }
                let found = self.get_from(file, &request, owner).await;
                let asked = places.iter().map(|place| &keys[*place]);
                let found =
                    found.map_err(|e| e.missing(|| store::key::describe_rows(table, asked)));
                let (columns, positions) = found?;
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

    async fn newest(
        &self,
        table: &Arc<Table>,
        key: &Key,
        columns: &[usize],
    ) -> Result<Option<Vec<ArrayRef>>, Error> {
        let file = self.inner.file(table);
        let owner = self.other_owner(&file, key).await?;
        let columns = columns.iter().map(|column| *column as u32).collect();
        let request = Request::Newest { target: self.target(table), key: key.clone(), columns };
        let found = self.get_from(&file, &request, owner).await;
        let (values, positions) = found.map_err(|error| missing(error, table, key))?;
        Ok((!positions.is_empty()).then_some(values))
    }

    async fn row_operation(
        &self,
        table: &Arc<Table>,
        key: &Key,
        operation: Bytes,
    ) -> Result<u64, Error> {
        let file = self.inner.file(table);
        let owner = self.other_owner(&file, key).await?;
        let (target, key, operation) = (self.target(table), key.clone(), operation.into());
        let request = Request::RowOperation { target, key: key.clone(), operation };
        self.count(&file);
        match self.inner.ask(owner, &request).await {
            Ok(Answer::Written { rows }) => Ok(rows),
            Ok(Answer::NotOwned { range, adjustment }) => {
                self.learn(&file, adjustment);
                Err(Error::NotOwned { range })
            }
            Ok(other) => Err(unexpected(&other)),
            Err(Asked::Lost(_)) => Err(commit::unknown_outcome()),
            Err(Asked::Answered(error)) => Err(missing(error, table, &key)),
        }
    }

    async fn write(
        &self,
        reader: &Reader,
        table: &Arc<Table>,
        owner: GroupId,
        write: Write,
    ) -> Result<u64, Error> {
        let file = self.inner.file(table);
        let Some(transaction) = reader.transaction else {
            return Err(crate::message::garbled("a write outside of transactions"));
        };
        let (step, _) = self.inner.coordinated.writes(transaction, owner);
        let write = match write {
            Write::Insert(rows) => WireWrite::Insert(batches::write(&rows)?.into()),
            Write::Load(rows) => WireWrite::Load(batches::write(&rows)?.into()),
            Write::Upsert(rows) => WireWrite::Upsert(batches::write(&rows)?.into()),
            Write::Delete(keys) => WireWrite::Delete(keys),
        };
        let (reader, target) = (WireReader::new(reader), self.target(table));
        let request = Request::Write { reader, target, write, step };
        self.count(&file);
        match self.inner.ask(owner, &request).await? {
            Answer::Written { rows } => {
                self.inner.coordinated.has_written(transaction, owner);
                Ok(rows)
            }
            Answer::NotOwned { range, adjustment } => {
                self.learn(&file, adjustment);
                Err(Error::NotOwned { range })
            }
            other => Err(unexpected(&other)),
        }
    }

    async fn pushdown(
        &self,
        reader: &Reader,
        table: &Arc<Table>,
        owner: GroupId,
        pushdown: Bytes,
    ) -> Result<Changed, Error> {
        let file = self.inner.file(table);
        let Some(transaction) = reader.transaction else {
            return Err(crate::message::garbled("an pushdown outside of transactions"));
        };
        let (step, is_first) = self.inner.coordinated.writes(transaction, owner);
        let request = Request::DmlPushdown {
            reader: WireReader::new(reader),
            target: self.target(table),
            pushdown: pushdown.into(),
            step,
        };
        self.count(&file);
        match self.inner.ask_within(owner, &request, RUN_DEADLINE).await? {
            Answer::Changed { rows, rest, adjustment } => {
                self.learn(&file, adjustment);
                if rows > 0 {
                    self.inner.coordinated.has_written(transaction, owner);
                } else if is_first && rest.is_empty() {
                    self.inner.coordinated.has_not_begun(transaction, owner);
                }
                Ok(Changed { rows, rest })
            }
            other => Err(unexpected(&other)),
        }
    }

    fn run(
        &self,
        reader: &Reader,
        on: GroupId,
        fragment: Bytes,
        delivery: Delivery,
    ) -> BatchStream {
        self.send(reader, on, fragment, 1, delivery)
    }

    fn pass_on(&self, reader: &Reader, on: GroupId, fragment: Bytes) -> BatchStream {
        self.found.lock().forwards += 1;
        self.send(reader, on, fragment, self.hops + 1, Delivery::Pushed)
    }

    fn take(&self, on: GroupId, exchange: ExchangeId, part: u32) -> BatchStream {
        self.rows(on, Request::Take { exchange, part }, Delivery::Pushed)
    }

    async fn rollback_to(&self, transaction: TransactionId, savepoint: u64) -> Result<(), Error> {
        let (groups, step) = self.inner.coordinated.goes_back(transaction);
        let request = Request::RollbackTo { transaction, savepoint, step };
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

    async fn gather(&self, name: &str) -> Vec<(String, RecordBatch)> {
        let members = self.inner.members.read().clone();
        let others = members.present().filter(|member| member.group != self.inner.here);
        let asked = others.map(async |member| {
            let rows = self.describe_at(member.group, name).await;
            if let Err(error) = &rows {
                tracing::debug!(%error, name, "a server tells nothing of itself");
            }
            Some((member.name.clone(), rows.ok().flatten()?))
        });
        join_all(asked).await.into_iter().flatten().collect()
    }

    fn set_weight(&self, name: &str, weight: u32) -> Result<(), Error> {
        self.ask_blocking(Request::SetWeight { name: name.to_owned(), weight }).map(drop)
    }

    fn move_settings(&self) -> MoveSettings {
        self.inner.members.read().moves
    }

    fn change_moves(&self, change: MoveSetting) -> Result<(), Error> {
        self.ask_blocking(Request::ChangeMoves { change })?;
        if self.inner.root.is_none() {
            // The root tells it with the next heartbeat; whoever has changed it may look before.
            self.inner.members.write().moves.change(change);
        }
        Ok(())
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

/// A fragment may have to work for a while before its first rows come, and an pushdown before it is done.
const RUN_DEADLINE: std::time::Duration = std::time::Duration::from_secs(600);

impl View {
    /// Sends a fragment that has come so many hops when it arrives.
    fn send(
        &self,
        reader: &Reader,
        on: GroupId,
        fragment: Bytes,
        hops: u32,
        delivery: Delivery,
    ) -> BatchStream {
        let (reader, fragment) = (WireReader::new(reader), fragment.into());
        self.rows(on, Request::Run { reader, hops, fragment }, delivery)
    }

    /// Rows that another server is asked for.
    fn rows(&self, on: GroupId, request: Request, delivery: Delivery) -> BatchStream {
        let view = self.clone();
        let called = async move {
            let called = view.inner.find(on).await.and_then(|(address, name)| {
                let envelope = view.inner.envelope(on, request)?;
                Ok((view.inner.network.call(&address, envelope, RUN_DEADLINE, delivery), name))
            });
            let (answers, name) = match called {
                Ok(called) => called,
                Err(error) => return stream::once(async { Err(error) }).boxed(),
            };
            let batches = answers.filter_map(move |answer| {
                let batch = view.batch(answer, &name);
                async move { batch.transpose() }
            });
            batches.boxed()
        };
        stream::once(called).flatten().boxed()
    }

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

    /// One of the answers to a request for rows.
    fn batch(
        &self,
        answer: Result<Bytes, crate::net::NetError>,
        server: &str,
    ) -> Result<Option<arrow::array::RecordBatch>, Error> {
        let answer = answer.map_err(|error| Error::from(Asked::of(error, server)))?;
        match decode::<Reply>(&answer)?? {
            Answer::Batch(batch) => Ok(Some(batches::read(&batch)?)),
            Answer::Adjustment(adjustment) => {
                let tables: std::collections::BTreeSet<TableId> =
                    adjustment.entries.iter().map(|(table, _)| *table).collect();
                let mut rest = adjustment;
                for table in tables {
                    if let Ok(file) = self.inner.file_by_id(table) {
                        self.learn(&file, rest.clone());
                        // They are counted once.
                        rest.forwards = 0;
                    }
                }
                Ok(None)
            }
            other => Err(unexpected(&other)),
        }
    }

    /// What a server tells of itself.
    async fn describe_at(&self, at: GroupId, name: &str) -> Result<Option<RecordBatch>, Error> {
        let (address, server) = self.inner.find(at).await?;
        let envelope = self.inner.envelope(at, Request::Describe { name: name.to_owned() })?;
        let mut answers = self.inner.network.call(&address, envelope, DEADLINE, Delivery::Pushed);
        let mut batches = Vec::new();
        while let Some(answer) = answers.next().await {
            batches.extend(self.batch(answer, &server)?);
        }
        let Some(first) = batches.first() else { return Ok(None) };
        Ok(Some(arrow::compute::concat_batches(&first.schema(), &batches)?))
    }

    /// Asks the root from a thread that cannot wait otherwise.
    fn ask_blocking(&self, request: Request) -> Result<Answer, Error> {
        let (sender, receiver) = std::sync::mpsc::channel();
        let inner = Arc::clone(&self.inner);
        self.inner.runtime.spawn(async move {
            let _ = sender.send(inner.ask_root(&request).await);
        });
        let wait = || receiver.recv_timeout(DEADLINE * 2);
        // On a thread that runs tasks the question itself may be the next one that it would run.
        let runs_tasks = Handle::try_current()
            .is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
        let answer = if runs_tasks { tokio::task::block_in_place(wait) } else { wait() };
        let answer =
            answer.map_err(|_| Error::unreachable(ROOT.to_string(), "it did not answer"))?;
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

/// An error that says which row its server has, if it could not be reached.
fn missing(error: Error, table: &Table, key: &Key) -> Error {
    error.missing(|| store::key::describe_rows(table, std::iter::once(key)))
}

fn lost_way(range: &KeyRange) -> Error {
    let reason = format!("a request for the keys {range} was passed on {HOPS_MAX} times");
    Error::unreachable("of its owner", reason)
}
