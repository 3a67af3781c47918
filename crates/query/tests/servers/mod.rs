//! Several servers in one process: databases that know each other by a [`Peers`] which calls them directly.
//!
//! Who owns what is asked of every server, time is one counter, and nothing gets lost. A commit is prepared on every
//! server that takes part and then done on all of them, one commit after the other.

#![allow(dead_code, reason = "each test uses what it needs")]

use async_trait::async_trait;
use bytes::Bytes;
use datafusion::arrow::array::{Array, ArrayRef, RecordBatch, UInt32Array};
use datafusion::arrow::compute::{concat, take};
use futures::future::BoxFuture;
use query::{Database, Options};
use sdds::directory::{Entry, Owner};
use sdds::{Bound, Epoch, GroupId, Key, KeyRange, MoveId, ServerId, Timestamp};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use store::catalog::{Relation, Sequence, Table, TableId};
use store::{
    BatchStream, Changed, ClusterPeers, Delivery, Error, ExchangeId, Finding, Knowledge,
    MoveSetting, MoveSettings, Peers, Prepared, Reader, Reading, RowPeers, Savepoint, Snapshot,
    Store, TableTotal, TableView, Traffic, Transaction, TransactionId, TransactionPeers,
    Whereabouts, Write, Written,
};

/// All servers.
#[derive(Debug, Default)]
pub(crate) struct Servers {
    databases: OnceLock<Vec<Database>>,
    keeper: OnceLock<Arc<Store>>,
    clock: AtomicU64,
    numbers: AtomicU64,
    staged: Mutex<BTreeMap<(TransactionId, GroupId), Staged>>,
    /// The fragments that one server has sent to another.
    sent: Mutex<Vec<Bytes>>,
}

/// A transaction's part on one of the others.
#[derive(Debug)]
struct Staged {
    transaction: Transaction,
    changes: usize,
    /// What there was before the first write at each savepoint.
    savepoints: Vec<(u64, Savepoint, usize)>,
}

/// The servers as one of them sees them.
#[derive(Debug)]
struct Seen {
    /// The group that it leads.
    here: GroupId,
    servers: Arc<Servers>,
}

impl Servers {
    /// So many servers with the same options.
    pub(crate) fn start(count: u64, options: &Options) -> Arc<Self> {
        let servers = Arc::new(Self { clock: AtomicU64::new(1), ..Self::default() });
        let open = |server| {
            let options = Options { cluster: Some(ServerId(server)), ..options.clone() };
            let database = Database::open(options).expect("opened");
            let seen = Seen { here: ServerId(server).own_group(), servers: Arc::clone(&servers) };
            database.store().join(Arc::new(seen));
            database
        };
        let databases = (0..count).map(open).collect();
        servers.databases.set(databases).expect("only once");
        servers
    }

    /// One of them.
    pub(crate) fn database(&self, group: u64) -> &Database {
        &self.databases.get().expect("started")[group as usize]
    }

    /// The fragments that have been sent since the last call.
    pub(crate) fn take_sent(&self) -> Vec<Bytes> {
        std::mem::take(&mut *self.sent.lock().expect("sound"))
    }

    /// Gives keys of a table from one server to another.
    pub(crate) fn give(
        &self,
        table: &str,
        from: u64,
        to: u64,
        low: Option<i64>,
        high: Option<i64>,
    ) {
        let (from, to) = (self.store(GroupId(from)), self.store(GroupId(to)));
        let catalog = from.catalog();
        let relation = catalog.relation("public", table).expect("a relation");
        let Relation::Table(table) = relation else { panic!("{table} is no table") };
        let key = |value: i64| {
            let column = datafusion::common::ScalarValue::Int64(Some(value));
            let column = column.cast_to(&table.columns[table.key_indices()[0]].sql_type.arrow());
            let column = column.expect("a number").to_array().expect("a value");
            store::key::encode_columns(&[column]).expect("a key").remove(0)
        };
        let range = KeyRange {
            low: low.map_or(Bound::NegInf, |low| Bound::At(key(low))),
            high: high.map_or(Bound::PosInf, |high| Bound::At(key(high))),
        };
        assert!(move_keys(from, to, table.id, &range), "nobody writes");
    }

    /// Gives the keys of one bucket of a relation to another server, if nobody writes there.
    pub(crate) fn shuffle(&self, relation: &str, random: u64) -> bool {
        let catalog = self.store(GroupId(0)).catalog();
        let relation = catalog.relation("public", relation).expect("a relation");
        let table = relation.file().expect("a file").id;
        let owners = self.owners(table);
        let Some((range, from)) = owners.get(random as usize % owners.len().max(1)) else {
            return false;
        };
        let to = GroupId((from.0 + 1 + random / 7 % 2) % 3);
        move_keys(self.store(*from), self.store(to), table, range)
    }

    /// Divides the tables that the first server has all of among all servers. Where the cut is depends on nothing but
    /// the bytes of keys, so that it means something for numbers and leaves most texts where they are.
    pub(crate) fn spread(&self) {
        let first = self.store(GroupId(0));
        let catalog = first.catalog();
        for relation in catalog.relations_in("public") {
            let Some(table) = relation.file() else { continue };
            if first.owned(table.id) != [KeyRange::all()] {
                continue;
            }
            let cut = |last: u8| match relation {
                Relation::Index(_) => store::key::of_entries_from(&[1, 0x80, 0, 0, last]).low,
                _ => Bound::At(Key::from(&[0x80, 0, 0, 0, 0, 0, 0, last][..])),
            };
            let (middle, high) = (cut(2), cut(4));
            let parts = [(1, middle, high.clone()), (2, high, Bound::PosInf)];
            for (group, low, high) in parts {
                move_keys(first, self.store(GroupId(group)), table.id, &KeyRange { low, high });
            }
        }
    }

    /// Who keeps the sequences: a store that is part of nothing.
    fn keeper(&self) -> &Arc<Store> {
        self.keeper.get_or_init(|| Store::open(store::Options::default()))
    }

    fn store(&self, group: GroupId) -> &Arc<Store> {
        self.database(group.0).store()
    }

    fn groups(&self) -> impl Iterator<Item = GroupId> {
        (0..self.databases.get().expect("started").len() as u64).map(GroupId)
    }

    fn now(&self) -> Timestamp {
        Timestamp(self.clock.load(Ordering::SeqCst))
    }

    /// The owners of a table's keys, in key order.
    fn owners(&self, table: TableId) -> Vec<(KeyRange, GroupId)> {
        let owned = |group| self.store(group).owned(table).into_iter().map(move |r| (r, group));
        let mut owners: Vec<_> = self.groups().flat_map(owned).collect();
        owners.sort_by(|(a, _), (b, _)| a.low.cmp(&b.low));
        owners
    }

    fn owner(&self, table: &Table, key: &Key) -> GroupId {
        let owners = self.owners(table.id);
        owners.iter().find(|(range, _)| range.contains(key)).map_or(table.home, |(_, owner)| *owner)
    }

    /// A table as a transaction sees it on one of the servers, with what it has written there.
    async fn view(&self, reader: &Reader, table: TableId, on: GroupId) -> TableView {
        let snapshot = self.store(on).snapshot_at(reader.timestamp).await;
        let mut staged = self.staged.lock().expect("sound");
        let of = reader.transaction.and_then(|id| staged.get_mut(&(id, on)));
        let view = match of {
            Some(staged) => {
                staged.follow(reader, snapshot).expect("definitions stay");
                staged.transaction.table(table)
            }
            None => snapshot.table(table),
        };
        view.expect("the table is everywhere")
    }
}

impl Servers {
    /// What a transaction reads on one of the servers.
    async fn reading(self: &Arc<Self>, reader: &Reader, on: GroupId) -> Result<Reading, Error> {
        let store = self.store(on);
        let snapshot = store.snapshot_at(reader.timestamp).await;
        let seen: Arc<dyn Peers> = Arc::new(Seen { here: on, servers: Arc::clone(self) });
        let peers = Some((seen, reader.clone()));
        let mut staged = self.staged.lock().expect("sound");
        match reader.transaction.and_then(|id| staged.get_mut(&(id, on))) {
            Some(staged) => {
                staged.follow(reader, snapshot)?;
                Ok(staged.transaction.reading(peers))
            }
            None => {
                let mut own = Staged::new(store.begin_at(snapshot));
                own.catch_up(reader)?;
                Ok(own.transaction.reading(peers))
            }
        }
    }

    /// Writes with a transaction's part on one of the servers.
    async fn stage<T>(
        &self,
        reader: &Reader,
        on: GroupId,
        mut work: impl FnMut(&mut Transaction) -> Result<T, Error>,
    ) -> Result<T, Error> {
        loop {
            let done = self.stage_once(reader, on, &mut work).await;
            match done {
                Err(Error::Locked { .. }) if reader.waits => self.granted(reader, on).await?,
                done => return done,
            }
        }
    }

    /// Waits for the lock that the last write was refused for, unless that is a deadlock.
    async fn granted(&self, reader: &Reader, on: GroupId) -> Result<(), Error> {
        let wait = {
            let mut staged = self.staged.lock().expect("sound");
            let of = reader.transaction.and_then(|id| staged.get_mut(&(id, on)));
            of.and_then(|of| of.transaction.take_wait()).expect("a lock that is waited for")
        };
        let party = reader.locks.expect("it locks");
        let mut granted = std::pin::pin!(wait.granted(None));
        loop {
            let pause = std::time::Duration::from_millis(20);
            if let Ok(done) = tokio::time::timeout(pause, &mut granted).await {
                return done;
            }
            store::refuse_deadlock(&self.waits(), party)?;
        }
    }

    /// Which parties wait for which, on all servers.
    fn waits(&self) -> Vec<(store::locks::Party, store::locks::Party)> {
        self.groups().flat_map(|group| self.store(group).waits()).collect()
    }

    async fn stage_once<T>(
        &self,
        reader: &Reader,
        on: GroupId,
        work: &mut impl FnMut(&mut Transaction) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let id = reader.transaction.expect("writers have a transaction");
        let snapshot = self.store(on).snapshot_at(reader.timestamp).await;
        let mut staged = self.staged.lock().expect("sound");
        let begin = || Staged::new(self.store(on).begin_at(snapshot.clone()));
        let staged = staged.entry((id, on)).or_insert_with(begin);
        staged.follow(reader, snapshot)?;
        if staged.savepoints.last().is_none_or(|(number, ..)| *number < reader.savepoint) {
            let before = (reader.savepoint, staged.transaction.savepoint(), staged.changes);
            staged.savepoints.push(before);
        }
        staged.catch_up(reader)?;
        let before = staged.transaction.savepoint();
        let done = work(&mut staged.transaction);
        if done.is_err() {
            staged.transaction.rollback_to(&before);
        }
        done
    }
}

/// Moves keys between stores; false where somebody writes there.
fn move_keys(from: &Arc<Store>, to: &Arc<Store>, table: TableId, range: &KeyRange) -> bool {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let of = MoveId { from: from.group(), number: NEXT.fetch_add(1, Ordering::Relaxed) };
    let mut out = from.move_out(of, table, range, to.group()).expect("owned");
    let mut incoming = to.move_in(of, table, range).expect("a table");
    for piece in out.copy().expect("a table") {
        incoming.take(piece.expect("written")).expect("well formed");
    }
    incoming.end_round().expect("well formed");
    if out.freeze().is_err() {
        return false;
    }
    for piece in out.rest().expect("a table") {
        incoming.take(piece.expect("written")).expect("well formed");
    }
    incoming.see(out.seen());
    incoming.lack_before(out.complete_from());
    incoming.adopt(0).expect("free");
    out.finish();
    true
}

impl Staged {
    fn new(transaction: Transaction) -> Self {
        Self { transaction, changes: 0, savepoints: Vec::new() }
    }

    /// Reads the snapshot of a statement, and locks if the reader does.
    fn follow(&mut self, reader: &Reader, snapshot: store::Snapshot) -> Result<(), Error> {
        if let Some(party) = reader.locks {
            self.transaction.lock_rows(party);
        }
        if self.transaction.snapshot().timestamp() < reader.timestamp {
            assert!(self.transaction.refresh(snapshot)?, "definitions stay");
        }
        Ok(())
    }

    fn catch_up(&mut self, reader: &Reader) -> Result<(), Error> {
        for change in reader.changes.iter().skip(self.changes) {
            self.transaction.change_catalog(change.clone())?;
        }
        self.changes = reader.changes.len();
        Ok(())
    }
}

impl Knowledge for Seen {
    fn here(&self) -> ServerId {
        self.here.founder()
    }

    fn group_of(&self, server: ServerId) -> GroupId {
        server.own_group()
    }

    fn leader_of(&self, group: GroupId) -> ServerId {
        group.founder()
    }

    fn refusal(&self) -> Option<Error> {
        None
    }

    fn server_name(&self, server: ServerId) -> String {
        format!("s{server}")
    }

    fn traffic(&self) -> Traffic {
        Traffic::default()
    }

    fn finding(&self, _: TableId) -> Finding {
        Finding::default()
    }

    fn patience(&self) -> futures::future::BoxFuture<'static, Error> {
        Box::pin(std::future::pending())
    }

    fn transaction_id(&self) -> TransactionId {
        let number = self.servers.numbers.fetch_add(1, Ordering::Relaxed);
        TransactionId { coordinator: self.here(), number }
    }

    fn whereabouts(&self, table: &Arc<Table>, key: &Key) -> Whereabouts {
        if self.servers.owner(table, key) == self.here {
            return Whereabouts::default();
        }
        let owners = self.servers.owners(table.id).into_iter();
        let entry = |(range, group)| Entry { range, owner: Owner { group, epoch: Epoch(1) } };
        Whereabouts {
            entries: owners.map(entry).collect(),
            servers: self
                .servers
                .groups()
                .map(|group| (group, format!("s{}:5433", group.0)))
                .collect(),
        }
    }

    fn total(&self, table: TableId) -> Option<TableTotal> {
        let buckets = |group| self.servers.store(group).bucket_infos(table);
        let buckets: Vec<_> = self.servers.groups().flat_map(buckets).collect();
        let rows = buckets.iter().map(|bucket| bucket.rows).sum();
        Some(TableTotal { rows, bytes: buckets.iter().map(|bucket| bucket.bytes).sum() })
    }

    fn move_settings(&self) -> MoveSettings {
        MoveSettings::default()
    }
}

#[async_trait]
impl RowPeers for Seen {
    async fn cover(
        &self,
        table: TableId,
        range: &KeyRange,
    ) -> Result<Vec<(KeyRange, GroupId)>, Error> {
        let owners = self.servers.owners(table);
        let parts = owners.iter().filter_map(|(of, owner)| Some((of.intersect(range)?, *owner)));
        let parts: Vec<_> = parts.collect();
        if !parts.is_empty() {
            return Ok(parts);
        }
        let catalog = self.servers.store(self.here).catalog();
        let home = catalog.relations().find_map(|relation| match relation {
            Relation::Table(known) if known.id == table => Some(known.home),
            Relation::Index(known) if known.file.id == table => Some(known.file.home),
            _ => None,
        });
        Ok(vec![(range.clone(), home.unwrap_or(self.here))])
    }

    async fn get(
        &self,
        reader: &Reader,
        table: &Arc<Table>,
        keys: &[Key],
        columns: &[usize],
    ) -> Result<(Vec<ArrayRef>, Vec<usize>), Error> {
        let (mut parts, mut positions) = (vec![Vec::new(); columns.len()], Vec::new());
        for (position, key) in keys.iter().enumerate() {
            let owner = self.servers.owner(table, key);
            let view = self.servers.view(reader, table.id, owner).await;
            if let Some(row) = view.get(key, columns)? {
                positions.push(position);
                parts.iter_mut().zip(row).for_each(|(part, value)| part.push(value));
            }
        }
        let columns = columns.iter().zip(parts).map(|(column, parts): (_, Vec<ArrayRef>)| {
            let data_type = table.columns[*column].sql_type.arrow();
            let empty = datafusion::arrow::array::new_empty_array(&data_type);
            let all: Vec<&dyn Array> =
                std::iter::once(&empty).chain(&parts).map(|part| &**part as &dyn Array).collect();
            let order = UInt32Array::from_iter_values(0..positions.len() as u32);
            Ok(take(&concat(&all)?, &order, None)?)
        });
        Ok((columns.collect::<Result<_, Error>>()?, positions))
    }

    async fn entries(
        &self,
        reader: &Reader,
        file: &Arc<Table>,
        owner: GroupId,
        range: &KeyRange,
        limit: usize,
    ) -> Result<Vec<Key>, Error> {
        self.servers.view(reader, file.id, owner).await.entries_here(range, limit)
    }

    async fn newest(
        &self,
        table: &Arc<Table>,
        key: &Key,
        columns: &[usize],
    ) -> Result<Option<Vec<ArrayRef>>, Error> {
        let owner = self.servers.owner(table, key);
        let there = Self { here: owner, servers: Arc::clone(&self.servers) };
        self.servers.store(owner).find_newest(&there, table, key, columns).await
    }

    async fn row_operation(
        &self,
        table: &Arc<Table>,
        key: &Key,
        operation: Bytes,
    ) -> Result<u64, Error> {
        self.servers.sent.lock().expect("sound").push(operation.clone());
        let owner = self.servers.owner(table, key);
        self.servers.database(owner.0).fragments().row_operation(key.clone(), operation).await
    }

    async fn call(
        &self,
        table: &Arc<Table>,
        key: &Key,
        call: Bytes,
        _: BoxFuture<'_, ()>,
    ) -> Result<Bytes, Error> {
        self.servers.sent.lock().expect("sound").push(call.clone());
        let owner = self.servers.owner(table, key);
        let id = self.transaction_id();
        let fragments = self.servers.database(owner.0).fragments();
        fragments.call(id, table.id, key.clone(), call).await
    }

    async fn write(
        &self,
        reader: &Reader,
        table: &Arc<Table>,
        owner: GroupId,
        write: Write,
    ) -> Result<Written, Error> {
        let staged = self.servers.stage(reader, owner, |open| {
            let rows = open.write(table, write.clone())?;
            Ok(Written { rows, entries: open.take_entries() })
        });
        staged.await
    }

    async fn lock(
        &self,
        reader: &Reader,
        table: &Arc<Table>,
        owner: GroupId,
        rows: store::RowLocks,
    ) -> Result<Vec<bool>, Error> {
        self.servers.stage(reader, owner, |open| open.lock_selected(table.id, &rows)).await
    }

    async fn pushdown(
        &self,
        reader: &Reader,
        table: &Arc<Table>,
        owner: GroupId,
        pushdown: Bytes,
    ) -> Result<Changed, Error> {
        use futures::TryStreamExt;
        self.servers.sent.lock().expect("sound").push(pushdown.clone());
        let reading = self.servers.reading(reader, owner).await?;
        let mut steps = self.servers.database(owner.0).fragments().pushdown(reading, pushdown);
        let mut changed = Changed::default();
        while let Some(step) = steps.try_next().await? {
            changed.add(
                self.servers
                    .stage(reader, owner, |open| open.carry_out(table, step.clone()))
                    .await?,
            );
        }
        Ok(changed)
    }

    fn pass_on(&self, reader: &Reader, on: ServerId, fragment: Bytes) -> BatchStream {
        self.run(reader, on, fragment, Delivery::Pushed)
    }

    fn run(&self, reader: &Reader, on: ServerId, fragment: Bytes, _: Delivery) -> BatchStream {
        use futures::{StreamExt, TryStreamExt};
        self.servers.sent.lock().expect("sound").push(fragment.clone());
        let (servers, reader) = (Arc::clone(&self.servers), reader.clone());
        let rows = async move {
            let reading = servers.reading(&reader, on.own_group()).await?;
            Ok::<_, Error>(servers.database(on.0).fragments().run(reading, fragment))
        };
        futures::stream::once(rows).try_flatten().boxed()
    }

    fn take(&self, on: ServerId, exchange: ExchangeId, part: u32) -> BatchStream {
        self.servers.database(on.0).fragments().take(exchange, part)
    }
}

#[async_trait]
impl TransactionPeers for Seen {
    async fn snapshot(&self) -> Result<Snapshot, Error> {
        Ok(self.servers.store(self.here).snapshot_at(self.servers.now()).await)
    }

    async fn rollback_to(&self, transaction: TransactionId, savepoint: u64) -> Result<(), Error> {
        let mut all = self.servers.staged.lock().expect("sound");
        for (_, staged) in all.iter_mut().filter(|((id, _), _)| *id == transaction) {
            let at = staged.savepoints.partition_point(|(number, ..)| *number < savepoint);
            if let Some((_, before, changes)) = staged.savepoints.get(at) {
                staged.transaction.rollback_to(before);
                staged.changes = *changes;
                staged.savepoints.truncate(at);
            }
        }
        Ok(())
    }

    async fn commit(
        &self,
        reader: &Reader,
        here: Option<Prepared>,
        _: Option<store::RequiredLocks>,
    ) -> Result<Timestamp, Error> {
        let id = reader.transaction.expect("writers have a transaction");
        let mut parts = Vec::new();
        for group in self.servers.groups().filter(|group| *group != self.here) {
            let snapshot = self.servers.store(group).snapshot_at(reader.timestamp).await;
            let known = self.servers.staged.lock().expect("sound").remove(&(id, group));
            let begin = || Staged::new(self.servers.store(group).begin_at(snapshot));
            let mut staged = match known {
                None if reader.changes.is_empty() => continue,
                known => known.unwrap_or_else(begin),
            };
            let part = staged.catch_up(reader).and_then(|()| staged.transaction.prepare());
            // The others have locks.
            parts.extend(part.inspect_err(|_| self.roll_back(id))?);
        }
        let timestamp = Timestamp(self.servers.clock.fetch_add(1, Ordering::SeqCst) + 1);
        here.into_iter().chain(parts).for_each(|part| drop(part.commit(timestamp)));
        Ok(timestamp)
    }

    fn roll_back(&self, transaction: TransactionId) {
        let mut staged = self.servers.staged.lock().expect("sound");
        staged.retain(|(id, _), _| *id != transaction);
    }

    async fn waits(&self) -> Vec<(store::locks::Party, store::locks::Party)> {
        self.servers.waits()
    }
}

#[async_trait]
impl ClusterPeers for Seen {
    async fn describe(&self, _: &str) -> Result<Option<RecordBatch>, Error> {
        Ok(None)
    }

    async fn gather(&self, name: &str) -> Vec<(String, RecordBatch)> {
        let others = self.servers.groups().filter(|group| *group != self.here);
        let rows = others.filter_map(|group| {
            let rows = self.servers.database(group.0).fragments().describe(name)?;
            Some((self.server_name(group.founder()), rows))
        });
        rows.collect()
    }

    fn set_weight(&self, name: &str, _: u32) -> Result<(), Error> {
        Err(Error::unreachable(name, "there is no root"))
    }

    fn change_moves(&self, _: MoveSetting) -> Result<(), Error> {
        Err(Error::unreachable("one", "there is no root"))
    }

    fn sequence_next(&self, sequence: &Sequence, count: u32) -> Result<i64, Error> {
        self.servers.keeper().sequence_next(sequence, count)
    }

    fn sequence_set(&self, sequence: &Sequence, last: i64, called: bool) -> Result<(), Error> {
        self.servers.keeper().sequence_set(sequence, last, called)
    }

    fn sequence_last(&self, sequence: &Sequence) -> Result<Option<i64>, Error> {
        self.servers.keeper().sequence_last(sequence)
    }
}
