//! Servers of one process, tables of counters, and functions that wait for a condition.

use crate::gate::Gate;
use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use arrow::datatypes::Int64Type;
use cluster::net::local::{Hub, Link};
use cluster::net::{self, Address, Authority, Listening, Network, Security, Tcp, listen};
use cluster::{Cluster, NewServer, TIME_LIMITS};
use futures::future::join_all;
use sdds::{Bound, Key, KeyRange};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::catalog::{
    CatalogChange, Column, ColumnId, OnCommit, Relation, SqlType, Table, TableExtension, TableId,
};
use store::journal::disk::MemoryDisk;
use store::journal::{self, Durability};
use store::{Data, DistributedTransaction, Error, Options, Reading, Store, key};
use tokio::runtime::Handle;

/// Time limit of conditions, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server.
pub(crate) struct Site {
    pub(crate) name: String,
    pub(crate) store: Arc<Store>,
    pub(crate) cluster: Cluster,
    /// The gate in front of it.
    pub(crate) gate: Arc<Gate>,
    _listening: Option<Listening>,
    /// The disk of its data directory.
    disk: Option<MemoryDisk>,
}

/// The network between the servers.
#[derive(Debug, Clone)]
pub(crate) enum Ground {
    /// Within the process; links can be cut.
    Local,
    /// Plain TCP on loopback.
    Tcp,
    /// TLS; servers join with a token.
    Tls(Arc<Authority>),
}

/// The servers of a cluster.
pub(crate) struct World {
    pub(crate) hub: Arc<Hub>,
    ground: Ground,
    pub(crate) sites: Vec<Site>,
}

fn options(server: sdds::ServerId) -> Options {
    Options { server, in_cluster: true, ..Options::default() }
}

impl World {
    /// Some servers in one process.
    pub(crate) async fn of(servers: usize) -> Self {
        Self::on(Ground::Local, servers).await
    }

    /// Some servers on a network.
    pub(crate) async fn on(ground: Ground, servers: usize) -> Self {
        let mut world = Self { hub: Arc::new(Hub::new()), ground, sites: Vec::new() };
        for _ in 0..servers {
            world.add(1).await;
        }
        world
    }

    /// Adds a server, which joins through the last one.
    pub(crate) async fn add(&mut self, weight: u32) {
        let name = format!("s{}", self.sites.len());
        let gate = Arc::new(Gate::default());
        let (address, network, listening) = self.connect(&name, &gate).await;
        let intro = NewServer { name: name.clone(), address, weight };
        let runtime = Handle::current();
        let cluster = match self.sites.last() {
            None => {
                let store = Store::open(options(sdds::ServerId(0)));
                Cluster::found(intro, store, network, runtime).await.expect("in memory")
            }
            Some(last) => {
                let open = |server| Ok(Store::open(options(server)));
                let members = last.cluster.members();
                let known = members.named(&last.name).expect("it is part of the cluster");
                let first = Address::new(known.address.clone());
                Cluster::join(intro, &first, false, open, network, runtime).await.expect("it joins")
            }
        };
        gate.open(cluster.clone());
        let store = Arc::clone(cluster.store());
        let site = Site { name, store, cluster, gate, _listening: listening, disk: None };
        self.sites.push(site);
    }

    /// Some servers in one process that keep their data.
    pub(crate) async fn keeping(servers: usize) -> Self {
        let mut world =
            Self { hub: Arc::new(Hub::new()), ground: Ground::Local, sites: Vec::new() };
        for _ in 0..servers {
            world.add_keeping().await;
        }
        world
    }

    /// Adds a server that keeps its data, and joins through the first one.
    pub(crate) async fn add_keeping(&mut self) {
        let (hub, number) = (Arc::clone(&self.hub), self.sites.len());
        self.sites.push(kept_site(hub, number, MemoryDisk::new(), true).await);
    }

    /// Cuts the power of some servers at the same time, and starts them again.
    pub(crate) async fn power_cut(&mut self, sites: &[usize], seed: u64) {
        let disks = self.cut_power(sites, seed);
        self.restart(sites, disks).await;
    }

    /// Cuts the power of some servers; returns what is on their disks.
    pub(crate) fn cut_power(&mut self, sites: &[usize], seed: u64) -> Vec<MemoryDisk> {
        let cut = |site: &usize| {
            let disk = self.sites[*site].disk.as_ref().expect("it keeps its data");
            let left = disk.crash(seed + *site as u64);
            self.crash(*site);
            left
        };
        sites.iter().map(cut).collect()
    }

    /// Starts servers again, all at the same time.
    pub(crate) async fn restart(&mut self, sites: &[usize], disks: Vec<MemoryDisk>) {
        let start = |(site, disk): (&usize, MemoryDisk)| {
            kept_site(Arc::clone(&self.hub), *site, disk, false)
        };
        let started = join_all(sites.iter().zip(disks).map(start)).await;
        for (site, started) in sites.iter().zip(started) {
            self.sites[*site] = started;
        }
    }

    async fn connect(
        &self,
        name: &str,
        gate: &Arc<Gate>,
    ) -> (Address, Arc<dyn Network>, Option<Listening>) {
        let service = Arc::clone(gate) as Arc<dyn net::Service>;
        let security = match &self.ground {
            Ground::Local => {
                let address = Address::new(name);
                self.hub.serve(address.clone(), service);
                return (address.clone(), Arc::new(self.hub.network(address)), None);
            }
            Ground::Tcp => Security::Plain,
            Ground::Tls(authority) => {
                let authority = Arc::clone(authority);
                let identity = match self.sites.first() {
                    None => authority.identity().expect("an authority can sign"),
                    Some(first) => {
                        let known = &first.cluster.members().list[0];
                        let to = Address::new(known.address.clone());
                        let own = Address::new("127.0.0.1:1");
                        net::join(&to, &own, &authority.token(), TIME_LIMITS)
                            .await
                            .expect("the token is right")
                    }
                };
                let authority = self.sites.is_empty().then_some(authority);
                Security::Mutual { identity: Arc::new(identity), authority }
            }
        };
        let any = Address::new("127.0.0.1:0");
        let listening =
            listen(&any, security.clone(), service, TIME_LIMITS).await.expect("a free port");
        let address = listening.address().clone();
        (address.clone(), Arc::new(Tcp::new(address, security, TIME_LIMITS)), Some(listening))
    }

    /// Stops a server as a crash does.
    pub(crate) fn crash(&self, site: usize) {
        self.sites[site].cluster.stop();
        self.hub.stop(&Address::new(&*self.sites[site].name));
    }

    /// Changes the link between two servers.
    pub(crate) fn link(&self, one: usize, other: usize, link: Link) {
        let address = |site: usize| Address::new(&*self.sites[site].name);
        self.hub.link(&address(one), &address(other), link);
    }

    /// Creates a table `(key bigint, value bigint)` of small buckets through a server.
    pub(crate) async fn table(&self, through: usize, name: &str) -> TableId {
        self.create(through, self.definition(through, name)).await
    }

    /// Creates a table.
    pub(crate) async fn create(&self, through: usize, table: Table) -> TableId {
        let id = table.id;
        self.retried(through, async |transaction| {
            let create = CatalogChange::Create(Relation::Table(Arc::new(table.clone())));
            transaction.change_catalog(create)
        })
        .await;
        id
    }

    /// The definition of such a table.
    pub(crate) fn definition(&self, through: usize, name: &str) -> Table {
        let store = &self.sites[through].store;
        counters(TableId(store.next_relation_id().0), name, store.group())
    }

    /// Runs a transaction again until it has no conflict.
    pub(crate) async fn retried<T>(
        &self,
        through: usize,
        work: impl AsyncFn(&mut DistributedTransaction) -> Result<T, Error>,
    ) -> T {
        let begun = Instant::now();
        loop {
            let mut transaction =
                self.sites[through].store.begin_distributed().await.expect("reachable");
            let done = match work(&mut transaction).await {
                Ok(value) => transaction.commit().await.map(|_| value),
                Err(error) => Err(error),
            };
            match done {
                Ok(value) => return value,
                Err(error) if is_transient(&error) && begun.elapsed() < PATIENCE => {
                    tokio::task::yield_now().await;
                }
                Err(error) => panic!("not transient: {error}"),
            }
        }
    }

    /// Inserts rows through a server.
    pub(crate) async fn insert(&self, through: usize, table: TableId, rows: &[(i64, i64)]) {
        let rows = batch(rows);
        self.retried(through, async |transaction| transaction.insert(table, &rows).await).await;
    }

    /// The rows of some keys, read through a server.
    pub(crate) async fn read(
        &self,
        through: usize,
        table: TableId,
        keys: &[i64],
    ) -> BTreeMap<i64, i64> {
        self.try_read(through, table, keys).await.expect("readable")
    }

    /// As [`World::read`], with the error.
    pub(crate) async fn try_read(
        &self,
        through: usize,
        table: TableId,
        keys: &[i64],
    ) -> Result<BTreeMap<i64, i64>, Error> {
        let reading = self.sites[through].store.reading().await?;
        read_of(&reading, table, keys).await
    }

    /// Waits until every key has an owner and nothing moves.
    pub(crate) async fn settled(&self, table: TableId) {
        self.until("every key has an owner", |world| world.owners(table).is_ok()).await;
        // An order follows within two heartbeats.
        let mut quiet = 0;
        while quiet < 5 {
            let beats = self.sites[0].gate.seen("Heartbeat");
            let two = 2 * (self.sites.len() - 1);
            self.until("heartbeats", |w| w.sites[0].gate.seen("Heartbeat") >= beats + two).await;
            let held = self.sites[0].cluster.report().await.into_iter();
            let is_moving = held.filter_map(|(_, held)| held.ok()).any(|h| h.load.is_moving);
            quiet = if is_moving || self.owners(table).is_err() { 0 } else { quiet + 1 };
        }
    }

    /// What servers know of some keys that are lost: for messages of tests.
    pub(crate) async fn fates(&self, table: TableId, keys: &[i64]) -> String {
        let mut lines = vec![format!("of {keys:?} nothing is left")];
        for (number, site) in self.sites.iter().enumerate() {
            let owned = site.store.owned(table);
            let is_owned = |key: &&i64| owned.iter().any(|range| range.contains(&key_of(**key)));
            let owned: Vec<&i64> = keys.iter().filter(is_owned).collect();
            let read = self.try_read(number, table, keys).await;
            let (undecided, frozen) = (site.store.undecided_parts(), site.store.frozen());
            lines.push(format!(
                "server {number} owns {owned:?}, reads {read:?}, has {undecided} prepared, {frozen:?}"
            ));
            lines.extend(site.store.log_tail().into_iter().rev().take(40));
        }
        lines.join("\n")
    }

    /// The owners of a table's ranges. The error describes a gap or an overlap.
    pub(crate) fn owners(&self, table: TableId) -> Result<Vec<(KeyRange, usize)>, String> {
        let mut tiles: Vec<(KeyRange, usize)> = Vec::new();
        for (site, Site { store, .. }) in self.sites.iter().enumerate() {
            tiles.extend(store.owned(table).into_iter().map(|range| (range, site)));
        }
        tiles.sort_by(|a, b| a.0.low.cmp(&b.0.low));
        let mut next = Bound::NegInf;
        for (range, site) in &tiles {
            if range.low != next {
                return Err(format!("{} follows {next}, of server {site}", range.low));
            }
            next = range.high.clone();
        }
        if next == Bound::PosInf {
            Ok(tiles)
        } else {
            Err(format!("nobody owns what follows {next}"))
        }
    }

    /// Number of servers that own keys of a table; zero while keys are moving.
    pub(crate) fn owning(&self, table: TableId) -> usize {
        let owners = self.owners(table).unwrap_or_default();
        owners.into_iter().map(|(_, site)| site).collect::<BTreeSet<_>>().len()
    }

    /// Waits for a condition.
    pub(crate) async fn until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !is_so(self) {
            assert!(
                begun.elapsed() < PATIENCE,
                "timeout while waiting: {what}: {}",
                self.describe()
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Waits for an asynchronous condition.
    pub(crate) async fn until_async(&self, what: &str, is_so: impl AsyncFn() -> bool) {
        let begun = Instant::now();
        while !is_so().await {
            assert!(
                begun.elapsed() < PATIENCE,
                "timeout while waiting: {what}: {}",
                self.describe()
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// The first of some keys that a server owns.
    pub(crate) fn key_at(&self, table: TableId, site: usize, keys: &[i64]) -> Option<i64> {
        let owned = self.sites[site].store.owned(table);
        let is_owned = |key: &&i64| owned.iter().any(|range| range.contains(&key_of(**key)));
        keys.iter().find(is_owned).copied()
    }

    /// Bytes of a table on each server.
    pub(crate) fn bytes(&self, table: TableId) -> Vec<u64> {
        let of = |site: &Site| -> u64 {
            let buckets = site.store.bucket_infos(table);
            buckets.iter().filter(|bucket| !bucket.is_leaving).map(|bucket| bucket.bytes).sum()
        };
        self.sites.iter().map(of).collect()
    }

    /// A server's share of a table's bytes.
    pub(crate) fn share(&self, table: TableId, site: usize) -> f64 {
        let bytes = self.bytes(table);
        bytes[site] as f64 / bytes.iter().sum::<u64>().max(1) as f64
    }

    fn describe(&self) -> String {
        let site = |site: &Site| format!("{}: {:?}", site.name, site.store.counters());
        self.sites.iter().map(site).collect::<Vec<_>>().join("\n")
    }
}

/// Starts a server with a data directory: a new one, or one that was there before.
async fn kept_site(hub: Arc<Hub>, number: usize, disk: MemoryDisk, is_new: bool) -> Site {
    let name = format!("s{number}");
    let (address, gate) = (Address::new(&*name), Arc::new(Gate::default()));
    hub.serve(address.clone(), Arc::clone(&gate) as Arc<dyn net::Service>);
    let network: Arc<dyn Network> = Arc::new(hub.network(address.clone()));
    let intro = NewServer { name: name.clone(), address, weight: 1 };
    let open = |server| {
        let data = Data::at("/data", Durability::Sync);
        let journal = journal::Options { segment_bytes: 256 << 10, ..data.journal.clone() };
        let data =
            Data { disk: Arc::new(disk.clone()), journal, checkpoint_bytes: 64 << 10, ..data };
        Store::open_durable(&options(server), data).map(|(store, _)| store)
    };
    let (root, runtime) = (Address::new("s0"), Handle::current());
    let server = sdds::ServerId(number as u64);
    let cluster = match number {
        0 => Cluster::found(intro, open(server).expect("sound"), network, runtime).await,
        _ if is_new => Cluster::join(intro, &root, true, open, network, runtime).await,
        _ => {
            let store = open(server).expect("sound");
            Cluster::come_back(intro, &root, store, network, runtime).await
        }
    };
    let cluster = cluster.expect("it starts");
    gate.open(cluster.clone());
    let store = Arc::clone(cluster.store());
    Site { name, store, cluster, gate, _listening: None, disk: Some(disk) }
}

/// The rows of some keys in a reading.
pub(crate) async fn read_of(
    reading: &Reading,
    table: TableId,
    keys: &[i64],
) -> Result<BTreeMap<i64, i64>, Error> {
    let view = reading.table(table).expect("it exists");
    let wanted: Vec<Key> = keys.iter().map(|key| key_of(*key)).collect();
    let (columns, positions) = view.find_many(&wanted, &[0, 1]).await?;
    let column = |at: usize| columns[at].as_primitive::<Int64Type>().clone();
    let (found, values) = (column(0), column(1));
    for (row, position) in positions.iter().enumerate() {
        assert_eq!(found.value(row), keys[*position], "a position is its key's");
    }
    Ok((0..found.len()).map(|row| (found.value(row), values.value(row))).collect())
}

/// Whether a retry may succeed.
pub(crate) fn is_transient(error: &Error) -> bool {
    error.is_retryable()
        || matches!(error, Error::Remote { sql_state, .. } if sql_state == "40001")
        || matches!(error, Error::Unreachable { .. } | Error::NotOwned { .. })
}

fn counters(id: TableId, name: &str, home: sdds::GroupId) -> Table {
    let column = |id: u32, name: &str| Column {
        id: ColumnId(id),
        name: name.to_owned(),
        sql_type: SqlType::BigInt,
        nullable: id > 0,
        default: None,
        identity: None,
        generated: None,
        hidden: false,
        missing: None,
        comment: None,
    };
    Table {
        id,
        schema: "public".to_owned(),
        name: name.to_owned(),
        columns: vec![column(0, "key"), column(1, "value")],
        key: vec![ColumnId(0)],
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        bucket_size: 4 << 10,
        colocate_with: None,
        on_commit: OnCommit::default(),
        home,
        next_column: 2,
        version: 1,
        materialized: None,
        key_constraint: None,
        is_unlogged: false,
        extension: TableExtension::default(),
        comment: None,
    }
}

/// Rows as a batch.
pub(crate) fn batch(rows: &[(i64, i64)]) -> RecordBatch {
    let keys: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.0)));
    let values: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.1)));
    let schema = counters(TableId(0), "", sdds::GroupId(0)).arrow_schema();
    RecordBatch::try_new(schema, vec![keys, values]).expect("same lengths")
}

/// The encoded key of a row.
pub(crate) fn key_of(key: i64) -> Key {
    let column: ArrayRef = Arc::new(Int64Array::from(vec![key]));
    key::encode_columns(&[column]).expect("bigint is a key type").remove(0)
}
