//! A server of the simulated cluster: the real one of crate `cluster`, on a disk in memory.

use crate::executor::{Executor, Owner};
use crate::world::World;
use arrow::array::RecordBatch;
use bytes::Bytes;
use cluster::net::Address;
use cluster::{Cluster, NewServer, Runtime, Tasks};
use futures::FutureExt;
use futures::future::BoxFuture;
use sdds::{Key, ServerId};
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::catalog::TableId;
use store::journal::disk::MemoryDisk;
use store::journal::{self, Durability, Flushing, Journal};
use store::{
    BatchStream, Data, Error, ExchangeId, Fragments, Options, PushdownSteps, Reading, Store,
    TransactionId,
};
use tokio::sync::Notify;

/// The pause before a server that could not join is started again.
const RETRY_PAUSE: Duration = Duration::from_millis(200);

/// The tasks and the time of one start of a server.
#[derive(Debug)]
pub(crate) struct ServerRuntime {
    pub(crate) executor: Executor,
    pub(crate) owner: Owner,
}

impl Runtime for ServerRuntime {
    fn spawn(&self, task: BoxFuture<'static, ()>) {
        self.executor.spawn(self.owner, task);
    }

    fn spawn_apart(&self, task: BoxFuture<'static, ()>) {
        self.executor.spawn(self.owner, task);
    }

    fn now(&self) -> Instant {
        self.executor.instant()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.executor.sleep(duration)
    }
}

/// The store of a server, on its disk.
pub(crate) fn open(
    disk: &MemoryDisk,
    server: ServerId,
    durability: Durability,
    work: &Arc<Notify>,
) -> Result<Arc<Store>, Error> {
    let options = Options { server, background: false, in_cluster: true, ..Options::default() };
    let data = Data::at("/data", durability);
    let signal = Arc::clone(work);
    let flushing = Flushing::Owner(Arc::new(move || signal.notify_one()));
    let journal = journal::Options { segment_bytes: 64 << 10, flushing, ..data.journal.clone() };
    let (disk, identity) = (Arc::new(disk.clone()), 1000 + server.0);
    let data = Data { disk, journal, identity, holder: "a simulation".to_owned(), ..data };
    Store::open_durable(&options, data).map(|(store, _)| store)
}

/// Runs one start of a server until it is killed.
pub(crate) async fn run(world: World, site: usize, owner: Owner, is_new: bool) {
    let disk = world.disk(site);
    let work = Arc::new(Notify::new());
    let name = World::name(site);
    let introduction = NewServer { name: name.clone(), address: Address::new(&*name), weight: 1 };
    let executor = world.executor().clone();
    let tasks = Tasks::on(Arc::new(ServerRuntime { executor: executor.clone(), owner }));
    let network = world.wires().of(&name);
    let durability = world.durability();
    let first = Address::new(World::name(0));
    let flushed = {
        let world = world.clone();
        move |store: &Arc<Store>, work: &Arc<Notify>| {
            let Some(journal) = store.journal().cloned() else { return };
            let flushing = flush(world.clone(), site, owner, journal, Arc::clone(work));
            world.executor().spawn(owner, flushing.boxed());
        }
    };
    let open = |server| {
        let store = open(&disk, server, durability, &work)?;
        flushed(&store, &work);
        Ok(store)
    };
    let join = async || loop {
        let (introduction, network, tasks) = (introduction.clone(), network.clone(), tasks.clone());
        match Cluster::join(introduction, &first, true, open, network, tasks).await {
            Err(Error::Unreachable { .. }) => executor.sleep(RETRY_PAUSE).await,
            joined => return joined,
        }
    };
    let server = ServerId(site as u64);
    let started = match (site, is_new) {
        (0, _) => match open(server) {
            Ok(store) => Cluster::found(introduction, store, network.clone(), tasks.clone()).await,
            Err(error) => Err(error),
        },
        (_, true) => join().await,
        (_, false) => match open(server) {
            Ok(store) => Cluster::come_back(introduction, &first, store, network, tasks).await,
            Err(error) => Err(error),
        },
    };
    match started {
        Ok(cluster) => {
            let store = Arc::clone(cluster.store());
            cluster.set_fragments(Arc::new(RowWrites { store: Arc::clone(&store) }));
            world.started(site, owner, cluster);
            maintain(&world, &store).await;
        }
        // It fails with its disk; otherwise it has to start.
        Err(_) if world.has_disk_fault(site) => world.ends(site, owner),
        Err(error) => world.violation(format!("server {site} does not start: {error}")),
    }
}

/// Writes and syncs what the journal has, as its thread does.
async fn flush(world: World, site: usize, owner: Owner, journal: Arc<Journal>, work: Arc<Notify>) {
    loop {
        work.notified().await;
        let (write, sync) = world.disk_times(site);
        world.executor().sleep(write).await;
        journal.write();
        world.executor().sleep(sync).await;
        world.before_sync(site).await;
        journal.sync();
        if journal.stopped().is_some() {
            world.disk_failed(site, owner);
            return;
        }
        if journal.position() > journal.durable_position() {
            work.notify_one();
        }
    }
}

/// Compacts, and makes checkpoints, as the threads of a store do.
async fn maintain(world: &World, store: &Arc<Store>) {
    for round in 1u64.. {
        world.executor().sleep(Duration::from_millis(100)).await;
        store.compact_requested();
        if round.is_multiple_of(20) && store.checkpoint().is_err() {
            return;
        }
    }
}

/// Row operations: each replaces a row.
#[derive(Debug)]
struct RowWrites {
    store: Arc<Store>,
}

impl Fragments for RowWrites {
    fn run(&self, _: Reading, _: Bytes) -> BatchStream {
        futures::stream::empty().boxed_stream()
    }

    fn pushdown(&self, _: Reading, _: Bytes) -> PushdownSteps {
        futures::stream::empty().boxed_stream()
    }

    fn row_operation(&self, key: Key, operation: Bytes) -> BoxFuture<'static, Result<u64, Error>> {
        let store = Arc::clone(&self.store);
        async move {
            let Some((table, row)) = crate::rows::decode(&operation) else { return Ok(0) };
            write_here(&store, table, &key, row).await
        }
        .boxed()
    }

    fn call(
        &self,
        _: TransactionId,
        _: TableId,
        _: Key,
        call: Bytes,
    ) -> BoxFuture<'static, Result<Bytes, Error>> {
        async move { Ok(call) }.boxed()
    }

    fn end_call(&self, _: TransactionId) {}

    fn take(&self, _: ExchangeId, _: u32) -> BatchStream {
        futures::stream::empty().boxed_stream()
    }

    fn describe(&self, _: &str) -> Option<RecordBatch> {
        None
    }
}

/// Replaces a row that this server owns, as a transaction of its own.
pub(crate) async fn write_here(
    store: &Arc<Store>,
    table: TableId,
    key: &Key,
    row: (i64, i64),
) -> Result<u64, Error> {
    let Some(peers) = store.peers().cloned() else { return Ok(0) };
    loop {
        let begun = store.begin_newest(&*peers, table, key).await?;
        let Some(mut transaction) = begun else {
            return Err(Error::NotOwned { range: sdds::KeyRange::point(key) });
        };
        transaction.upsert(table, &crate::rows::numbers(&[row])).await?;
        match transaction.commit().await {
            Ok(_) => return Ok(1),
            Err(Error::Conflict { .. }) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Replaces a row, wherever it is.
pub(crate) async fn write_newest(
    store: &Arc<Store>,
    table: TableId,
    row: (i64, i64),
) -> Result<u64, Error> {
    let Some(peers) = store.peers().cloned() else { return Ok(0) };
    let key = crate::rows::key_of(row.0);
    for _ in 0..64 {
        match write_here(store, table, &key, row).await {
            Err(Error::NotOwned { .. }) => {}
            done => return done,
        }
        let catalog = store.catalog();
        let Some(definition) = catalog.table_by_id(table) else { return Ok(0) };
        let operation = crate::rows::encode(table, row);
        match peers.row_operation(definition, &key, operation).await {
            Err(Error::NotOwned { .. }) => {}
            done => return done,
        }
    }
    Err(Error::NotOwned { range: sdds::KeyRange::point(&key) })
}

/// An empty stream, boxed.
trait BoxedStream {
    type Item;
    fn boxed_stream(self) -> futures::stream::BoxStream<'static, Self::Item>;
}

impl<T: Send + 'static> BoxedStream for futures::stream::Empty<T> {
    type Item = T;

    fn boxed_stream(self) -> futures::stream::BoxStream<'static, T> {
        use futures::StreamExt;
        self.boxed()
    }
}
