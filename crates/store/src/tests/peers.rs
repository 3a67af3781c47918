//! Distributed transactions over two stores in one process, with an image that is sometimes wrong
//! about owners.

use super::moves::{self, between, two_stores};
use super::*;
use crate::read::Gathered;
use crate::test_tables::rows;
use crate::{
    BatchStream, Changed, ClusterPeers, Delivery, Error, ExchangeId, Finding, Knowledge, Peers,
    Prepared, PushdownStep, Reader, RequiredLocks, RowLocks, RowPeers, TableTotal, Traffic,
    Transaction, TransactionId, TransactionPeers, Whereabouts, Write, Written,
};
use async_trait::async_trait;
use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use sdds::{GroupId, ServerId, Timestamp};
use std::sync::atomic::{AtomicU64, Ordering};

/// The peers of the first store: the second store.
#[derive(Debug)]
struct TwoServers {
    stores: [Arc<Store>; 2],
    there: Mutex<Option<Transaction>>,
    clock: AtomicU64,
    /// Number of times that the image will be wrong: it claims that the second store owns
    /// everything.
    errs: AtomicU64,
    loads: AtomicU64,
}

impl TwoServers {
    fn at(&self, server: usize, timestamp: Timestamp) -> Snapshot {
        self.stores[server].snapshot_at(timestamp).now_or_never().expect("nothing is prepared")
    }
}

impl Knowledge for TwoServers {
    fn here(&self) -> ServerId {
        ServerId(0)
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
        server.to_string()
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
        TransactionId { coordinator: ServerId(0), number: 1 }
    }

    fn whereabouts(&self, _: &Arc<Table>, _: &Key) -> Whereabouts {
        Whereabouts::default()
    }

    fn total(&self, _: TableId) -> Option<TableTotal> {
        None
    }

    fn move_settings(&self) -> crate::MoveSettings {
        crate::MoveSettings::default()
    }
}

#[async_trait]
impl RowPeers for TwoServers {
    async fn cover(
        &self,
        table: TableId,
        range: &KeyRange,
    ) -> Result<Vec<(KeyRange, GroupId)>, Error> {
        let errs = |left: u64| left.checked_sub(1);
        if self.errs.fetch_update(Ordering::Relaxed, Ordering::Relaxed, errs).is_ok() {
            return Ok(vec![(range.clone(), GroupId(1))]);
        }
        let of = |server: usize| {
            let owned = self.stores[server].owned(table);
            let parts: Vec<_> = owned.iter().filter_map(|owned| owned.intersect(range)).collect();
            parts.into_iter().map(move |part| (part, GroupId(server as u64)))
        };
        let mut cover: Vec<_> = of(0).chain(of(1)).collect();
        cover.sort_by(|a, b| a.0.low.cmp(&b.0.low));
        Ok(cover)
    }

    async fn get(
        &self,
        reader: &Reader,
        table: &Arc<Table>,
        keys: &[Key],
        columns: &[usize],
    ) -> Result<(Vec<ArrayRef>, Vec<usize>), Error> {
        let there = self.there.lock();
        let view = match there.as_ref().filter(|_| reader.transaction.is_some()) {
            Some(transaction) => transaction.table(table.id).expect("a table"),
            None => table_at(&self.at(1, reader.timestamp), table.id),
        };
        let mut found = Gathered::new();
        for (position, key) in keys.iter().enumerate() {
            found.add(position, view.get(key, columns)?);
        }
        found.finish(table, columns)
    }

    async fn entries(
        &self,
        _: &Reader,
        _: &Arc<Table>,
        _: GroupId,
        _: &KeyRange,
        _: usize,
    ) -> Result<Vec<Key>, Error> {
        unreachable!("the tables have no indexes")
    }

    async fn newest(
        &self,
        table: &Arc<Table>,
        key: &Key,
        columns: &[usize],
    ) -> Result<Option<Vec<ArrayRef>>, Error> {
        table_at(&self.stores[1].snapshot(), table.id).get(key, columns)
    }

    async fn row_operation(&self, _: &Arc<Table>, _: &Key, _: Bytes) -> Result<u64, Error> {
        unreachable!("the store has no row operations")
    }

    async fn call(
        &self,
        _: &Arc<Table>,
        _: &Key,
        _: Bytes,
        _: BoxFuture<'_, ()>,
    ) -> Result<Bytes, Error> {
        unreachable!("the store calls no procedures")
    }

    async fn write(
        &self,
        reader: &Reader,
        table: &Arc<Table>,
        owner: GroupId,
        write: Write,
    ) -> Result<Written, Error> {
        assert_eq!(owner, GroupId(1));
        self.loads.fetch_add(u64::from(matches!(write, Write::Load(_))), Ordering::Relaxed);
        let snapshot = self.at(1, reader.timestamp);
        let mut there = self.there.lock();
        let there = there.get_or_insert_with(|| self.stores[1].begin_at(snapshot));
        let rows = there.write(table, write)?;
        Ok(Written { rows, entries: there.take_entries() })
    }

    async fn lock(
        &self,
        _: &Reader,
        _: &Arc<Table>,
        _: GroupId,
        _: RowLocks,
    ) -> Result<Vec<bool>, Error> {
        unreachable!("the store locks no rows for queries")
    }

    async fn pushdown(
        &self,
        _: &Reader,
        _: &Arc<Table>,
        _: GroupId,
        _: Bytes,
    ) -> Result<Changed, Error> {
        unreachable!("the store runs no pushdowns")
    }

    fn run(&self, _: &Reader, _: ServerId, _: Bytes, _: Delivery) -> BatchStream {
        unreachable!("the store ships no fragments")
    }

    fn pass_on(&self, _: &Reader, _: ServerId, _: Bytes) -> BatchStream {
        unreachable!("the store ships no fragments")
    }

    fn take(&self, _: ServerId, _: ExchangeId, _: u32) -> BatchStream {
        unreachable!("the store has no exchanges")
    }
}

#[async_trait]
impl TransactionPeers for TwoServers {
    async fn snapshot(&self) -> Result<Snapshot, Error> {
        Ok(self.stores[0].snapshot_at(Timestamp(self.clock.load(Ordering::Relaxed))).await)
    }

    async fn rollback_to(&self, _: TransactionId, _: u64) -> Result<(), Error> {
        unreachable!("no test goes back to a savepoint")
    }

    async fn commit(
        &self,
        _: &Reader,
        here: Option<Prepared>,
        _: Option<RequiredLocks>,
    ) -> Result<Timestamp, Error> {
        let there = self.there.lock().take();
        let there = there.map(Transaction::prepare).transpose()?.flatten();
        let timestamp = Timestamp(self.clock.fetch_add(1, Ordering::Relaxed) + 1);
        here.into_iter().chain(there).for_each(|prepared| drop(prepared.commit(timestamp)));
        Ok(timestamp)
    }

    fn roll_back(&self, _: TransactionId) {
        self.there.lock().take();
    }

    async fn waits(&self) -> Vec<(::locks::Party, ::locks::Party)> {
        Vec::new()
    }
}

#[async_trait]
impl ClusterPeers for TwoServers {
    async fn describe(&self, _: &str) -> Result<Option<arrow::array::RecordBatch>, Error> {
        unreachable!("nobody asks for tables about the cluster")
    }

    async fn gather(&self, _: &str) -> Vec<(String, arrow::array::RecordBatch)> {
        unreachable!("nobody asks for tables about all servers")
    }

    fn set_weight(&self, _: &str, _: u32) -> Result<(), Error> {
        unreachable!("nobody asks for another share")
    }

    fn change_moves(&self, _: crate::MoveSetting) -> Result<(), Error> {
        unreachable!("nothing moves")
    }

    fn sequence_next(&self, _: &catalog::Sequence, _: u32) -> Result<i64, Error> {
        unreachable!("the root keeps sequences itself")
    }

    fn sequence_set(&self, _: &catalog::Sequence, _: i64, _: bool) -> Result<(), Error> {
        unreachable!("the root keeps sequences itself")
    }

    fn sequence_last(&self, _: &catalog::Sequence) -> Result<Option<i64>, Error> {
        unreachable!("the root keeps sequences itself")
    }
}

/// The second store owns keys 20 to 69.
fn two_servers() -> (Arc<TwoServers>, TableId) {
    let (first, second, id) = two_stores();
    let range = between(20, 70);
    let (mut out, mut incoming) = moves::begin(&first, &second, id, &range);
    out.freeze().expect("nobody writes");
    for piece in out.copy().expect("a table").chain(out.rest().expect("a table")) {
        incoming.take(piece.expect("written")).expect("well formed");
    }
    incoming.adopt(0).expect("free");
    out.finish();
    let servers = Arc::new(TwoServers {
        stores: [first, second],
        there: Mutex::new(None),
        clock: AtomicU64::new(20),
        errs: AtomicU64::new(0),
        loads: AtomicU64::new(0),
    });
    servers.stores[0].join(Arc::clone(&servers) as Arc<dyn Peers>);
    (servers, id)
}

fn now<T>(future: impl Future<Output = T> + Send) -> T {
    future.now_or_never().expect("both servers answer at once")
}

#[test]
fn rows_are_found_and_written_wherever_they_are() {
    let (servers, id) = two_servers();
    let store = &servers.stores[0];
    let keys: Vec<Key> = [90, 30, 11, 10, 69, 200].map(key_of).into();
    let view = now(store.reading()).expect("a snapshot").table(id).expect("the table");
    let (values, positions) = now(view.find_many(&keys, &[0])).expect("found");
    assert_eq!(positions, [0, 1, 3, 4], "11 was deleted");
    assert_eq!(values[0].as_primitive::<Int64Type>().values(), &[90, 30, 10, 69]);
    assert!(now(view.find(&key_of(30), &[1])).expect("found").is_some());
    assert_eq!(now(view.parts(&KeyRange::all())).expect("covered").len(), 3);
    servers.errs.store(3, Ordering::Relaxed);
    let mut transaction = now(store.begin_distributed()).expect("begun");
    now(transaction.upsert(id, &rows(&[(5, "five"), (35, "there"), (95, "here")])))
        .expect("staged");
    let own = transaction.table(id).expect("the table");
    let found = now(own.find(&key_of(35), &[1])).expect("found").expect("its own write");
    assert_eq!(found[0].as_string_view().value(0), "there");
    let duplicate = now(transaction.insert(id, &rows(&[(36, "twice")])));
    assert!(matches!(duplicate, Err(Error::DuplicateKey { .. })), "{duplicate:?}");
    let timestamp = now(transaction.commit()).expect("alone");
    for (server, key) in [(0, 5), (1, 35), (0, 95)] {
        let seen =
            contents_of(&table_at(&servers.at(server, timestamp), id), &between(key, key + 1));
        assert!(["five", "there", "here"].contains(&seen[&key].as_str()));
    }
}

#[test]
fn a_load_is_cut_at_the_borders_of_its_owners() {
    let (servers, id) = two_servers();
    let store = &servers.stores[0];
    let mut transaction = now(store.begin_distributed()).expect("begun");
    now(transaction.delete(id, &(0..100).map(key_of).collect::<Vec<_>>())).expect("staged");
    now(transaction.commit()).expect("alone");
    servers.errs.store(2, Ordering::Relaxed);
    let mut transaction = now(store.begin_distributed()).expect("begun");
    let mut part = transaction.ingest(id).expect("a table");
    let pairs: Vec<(i64, &str)> = (-50..150).map(|key| (key, "loaded")).collect();
    part.append(rows(&pairs)).expect("taken");
    assert_eq!(now(transaction.finish_ingest(id, vec![part])).expect("the keys are free"), 200);
    let timestamp = now(transaction.commit()).expect("alone");
    let count = |server: usize| -> usize {
        let view = table_at(&servers.at(server, timestamp), id);
        let owned = servers.stores[server].owned(id);
        owned.iter().map(|range| contents_of(&view, range).len()).sum()
    };
    assert_eq!((count(0), count(1)), (150, 50));
    assert_eq!(servers.loads.load(Ordering::Relaxed), 3, "two in vain, and one");
    let mut transaction = now(store.begin_distributed()).expect("begun");
    let mut part = transaction.ingest(id).expect("a table");
    part.append(rows(&[(149, "in order"), (30, "twice"), (500, "new")])).expect("taken");
    let refused = now(transaction.finish_ingest(id, vec![part]));
    assert!(matches!(refused, Err(Error::DuplicateKey { .. })), "{refused:?}");
    drop(transaction);
    servers.stores.iter().for_each(|store| store.check().expect("every invariant holds"));
}

#[test]
fn a_pushdown_leaves_out_what_is_not_here_and_says_so() {
    let (servers, id) = two_servers();
    let mut transaction = now(servers.stores[0].begin_distributed()).expect("begun");
    let pairs: Vec<(i64, &str)> = (0..100).step_by(3).map(|key| (key, "changed")).collect();
    let step = PushdownStep::Write(Write::Upsert(rows(&pairs)));
    let changed = now(transaction.carry_out_here(id, step)).expect("staged");
    let there = pairs.iter().filter(|(key, _)| (20..70).contains(key)).count();
    assert_eq!(changed.rows as usize, pairs.len() - there);
    let [rest] = &changed.rest[..] else { panic!("one stretch: {:?}", changed.rest) };
    assert!(rest.contains(&key_of(21)) && rest.contains(&key_of(69)));
    assert!(!rest.contains(&key_of(18)) && !rest.contains(&key_of(70)));
    let keys = [19, 21, 23, 70].map(key_of).to_vec();
    let step = PushdownStep::Write(Write::Delete(keys));
    let changed = now(transaction.carry_out_here(id, step)).expect("staged");
    assert_eq!((changed.rows, changed.rest.len()), (2, 1));
    let elsewhere = PushdownStep::Write(Write::Delete([30, 40].map(key_of).to_vec()));
    assert_eq!(now(transaction.carry_out_here(id, elsewhere)).expect("nothing").rows, 0);
    let timestamp = now(transaction.commit()).expect("alone");
    let view = table_at(&servers.at(0, timestamp), id);
    let changed = contents_of(&view, &between(70, 100));
    assert!(!changed.contains_key(&70) && changed[&72] == "changed" && changed[&73] != "changed");
    let there = table_at(&servers.at(1, timestamp), id);
    assert!(contents_of(&there, &between(20, 70)).values().all(|value| value != "changed"));
}

#[test]
fn a_row_is_found_as_it_is_now_wherever_it_is() {
    let (servers, id) = two_servers();
    let store = &servers.stores[0];
    let table = Arc::clone(store.catalog().table_by_id(id).expect("the table"));
    let find = |key: i64| {
        let found = now(store.find_newest(&*servers, &table, &key_of(key), &[1])).expect("found");
        found.map(|values| values[0].as_string_view().value(0).to_owned())
    };
    for key in [10, 30] {
        let before = find(key).expect("it has a row");
        let mut transaction = now(store.begin_distributed()).expect("begun");
        now(transaction.upsert(id, &rows(&[(key, "newer")]))).expect("staged");
        assert_eq!(find(key), Some(before), "it is not committed");
        now(transaction.commit()).expect("alone");
        assert_eq!(find(key).as_deref(), Some("newer"));
    }
    assert_eq!(find(11), None, "it was deleted");
    let other = Arc::new(Table { version: table.version + 1, ..Table::clone(&table) });
    let found = now(store.find_newest(&*servers, &other, &key_of(10), &[1]));
    assert!(matches!(found, Err(Error::SchemaConflict { .. })), "{found:?}");
}

#[test]
fn a_transaction_on_one_row_begins_where_the_row_is() {
    let (servers, id) = two_servers();
    let store = &servers.stores[0];
    let begin_at =
        |key: i64| now(store.begin_newest(&*servers, id, &key_of(key))).expect("settled");
    assert!(begin_at(30).is_none(), "it is on the other server");
    let begin = || begin_at(10).expect("it is here");
    let (mut first, mut second) = (begin(), begin());
    now(first.upsert(id, &rows(&[(10, "first")]))).expect("staged");
    now(second.upsert(id, &rows(&[(10, "second")]))).expect("staged");
    now(first.commit()).expect("nobody was before it");
    assert!(matches!(now(second.commit()), Err(Error::Conflict { .. })));
    let seen = now(begin().table(id).expect("the table").find(&key_of(10), &[1])).expect("found");
    assert_eq!(seen.expect("a row")[0].as_string_view().value(0), "first");
}

/// The root had heard nothing of a server for a while, so that others removed versions that its snapshots needed. A move
/// brought keys without them, and the snapshots found no rows there.
#[test]
fn a_snapshot_that_needs_versions_which_did_not_move_along_is_refused() {
    let (servers, id) = two_servers();
    let [here, there] = &servers.stores;
    let old = now(here.reading()).expect("a snapshot").table(id).expect("the table");
    there.set_horizon(Timestamp(30));
    for timestamp in [25, 26] {
        let mut transaction = there.begin();
        transaction.upsert(id, &rows(&[(30, "changed")])).expect("staged");
        transaction.prepare().expect("alone").expect("writes").commit(Timestamp(timestamp));
    }
    let (mut out, mut incoming) = moves::begin(there, here, id, &between(20, 70));
    out.freeze().expect("nobody writes");
    for piece in out.copy().expect("a table").chain(out.rest().expect("a table")) {
        incoming.take(piece.expect("written")).expect("well formed");
    }
    assert_eq!(out.complete_from(), Timestamp(26));
    incoming.lack_before(out.complete_from());
    incoming.adopt(0).expect("free");
    out.finish();
    for range in [between(30, 31), KeyRange::all()] {
        let refused = old.morsels(&range).expect_err("the version is gone");
        assert!(matches!(&refused, Error::Failed(f) if f.sql_state == "72000"), "{refused}");
    }
    let refused = now(old.find(&key_of(30), &[1])).expect_err("the version is gone");
    assert!(matches!(&refused, Error::Failed(f) if f.sql_state == "72000"), "{refused}");
    servers.clock.store(30, Ordering::Relaxed);
    let new = now(here.reading()).expect("a snapshot").table(id).expect("the table");
    let found = now(new.find(&key_of(30), &[1])).expect("found").expect("a row");
    assert_eq!(found[0].as_string_view().value(0), "changed");
}
