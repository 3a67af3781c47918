//! Servers of one process, a table of counters, and ways to wait for what has to happen.

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use arrow::datatypes::Int64Type;
use cluster::net::Address;
use cluster::net::local::{Hub, Link};
use cluster::{Cluster, Introduction};
use sdds::{Bound, Key, KeyRange};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::catalog::{
    CatalogChange, Column, ColumnId, OnCommit, Relation, SqlType, Table, TableId,
};
use store::{Error, JointTransaction, Options, Store, key};
use tokio::runtime::Handle;

/// Something that has to happen takes no longer than this, on however busy a machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// One server.
pub(crate) struct Site {
    pub(crate) name: String,
    pub(crate) store: Arc<Store>,
    pub(crate) cluster: Cluster,
}

/// Servers that know one another.
pub(crate) struct World {
    pub(crate) hub: Arc<Hub>,
    pub(crate) sites: Vec<Site>,
}

fn introduction(name: &str, weight: u32) -> Introduction {
    Introduction { name: name.to_owned(), address: Address::new(name), weight }
}

fn options(group: sdds::GroupId) -> Options {
    Options { group, ..Options::default() }
}

impl World {
    /// So many servers.
    pub(crate) async fn of(servers: usize) -> Self {
        let hub = Arc::new(Hub::new());
        let mut world = Self { hub, sites: Vec::new() };
        for _ in 0..servers {
            world.add(1).await;
        }
        world
    }

    /// One more server.
    pub(crate) async fn add(&mut self, weight: u32) {
        let name = format!("s{}", self.sites.len());
        let network = Arc::new(self.hub.network(Address::new(&*name)));
        let intro = introduction(&name, weight);
        let runtime = Handle::current();
        let cluster = match self.sites.is_empty() {
            true => {
                let store = Store::open(options(sdds::GroupId(0)));
                Cluster::found(intro, store, network, runtime)
            }
            false => {
                let open = |group| Ok(Store::open(options(group)));
                let first = Address::new("s0");
                Cluster::join(intro, &first, open, network, runtime).await.expect("it joins")
            }
        };
        self.hub.serve(Address::new(&*name), Arc::new(cluster.clone()));
        let store = Arc::clone(cluster.store());
        self.sites.push(Site { name, store, cluster });
    }

    /// Cuts two servers off from one another, or joins them again.
    pub(crate) fn link(&self, one: usize, other: usize, link: Link) {
        let address = |site: usize| Address::new(&*self.sites[site].name);
        self.hub.link(&address(one), &address(other), link);
    }

    /// A table `(key bigint, value bigint)` of small buckets, made through a server.
    pub(crate) async fn table(&self, through: usize, name: &str) -> TableId {
        let store = &self.sites[through].store;
        let table = counters(TableId(store.next_relation_id().0), name, store.group());
        let id = table.id;
        let mut transaction = store.begin_joint().await.expect("reachable");
        let create = CatalogChange::Create(Relation::Table(Arc::new(table)));
        transaction.change_catalog(create).expect("a new name");
        transaction.commit().await.expect("nobody else is there");
        id
    }

    /// Tries a piece of work until no other transaction was first.
    pub(crate) async fn retried<T>(
        &self,
        through: usize,
        work: impl AsyncFn(&mut JointTransaction) -> Result<T, Error>,
    ) -> T {
        let begun = Instant::now();
        loop {
            let mut transaction = self.sites[through].store.begin_joint().await.expect("reachable");
            let done = match work(&mut transaction).await {
                Ok(value) => transaction.commit().await.map(|_| value),
                Err(error) => Err(error),
            };
            match done {
                Ok(value) => return value,
                Err(error) if error.is_retryable() && begun.elapsed() < PATIENCE => {
                    tokio::task::yield_now().await;
                }
                Err(error) => panic!("not because of others: {error}"),
            }
        }
    }

    /// Inserts rows through a server.
    pub(crate) async fn insert(&self, through: usize, table: TableId, rows: &[(i64, i64)]) {
        let rows = batch(rows);
        self.retried(through, async |transaction| transaction.insert(table, &rows).await).await;
    }

    /// The rows of some keys as a server sees them now.
    pub(crate) async fn read(
        &self,
        through: usize,
        table: TableId,
        keys: &[i64],
    ) -> BTreeMap<i64, i64> {
        let reading = self.sites[through].store.reading().await.expect("reachable");
        let view = reading.table(table).expect("it exists");
        let wanted: Vec<Key> = keys.iter().map(|key| key_of(*key)).collect();
        let found = view.find_many(&wanted, &[0, 1]);
        let (columns, positions) = found.await.expect("readable");
        let column = |at: usize| columns[at].as_primitive::<Int64Type>().clone();
        let (found, values) = (column(0), column(1));
        for (row, position) in positions.iter().enumerate() {
            assert_eq!(found.value(row), keys[*position], "a position is its key's");
        }
        (0..found.len()).map(|row| (found.value(row), values.value(row))).collect()
    }

    /// Whose which keys of a table are: every key exactly one server's, or what is wrong.
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

    /// Waits until something is so.
    pub(crate) async fn until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !is_so(self) {
            assert!(begun.elapsed() < PATIENCE, "{what}, in vain: {}", self.describe());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
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

fn counters(id: TableId, name: &str, home: sdds::GroupId) -> Table {
    let column = |id: u32, name: &str| Column {
        id: ColumnId(id),
        name: name.to_owned(),
        sql_type: SqlType::BigInt,
        nullable: id > 0,
        default: None,
        identity: None,
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
        bucket_size: 4 << 10,
        on_commit: OnCommit::default(),
        home,
        next_column: 2,
        version: 1,
        comment: None,
    }
}

/// Rows of the table.
pub(crate) fn batch(rows: &[(i64, i64)]) -> RecordBatch {
    let keys: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.0)));
    let values: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.1)));
    let schema = counters(TableId(0), "", sdds::GroupId(0)).arrow_schema();
    RecordBatch::try_new(schema, vec![keys, values]).expect("same lengths")
}

/// The key of a row.
pub(crate) fn key_of(key: i64) -> Key {
    let column: ArrayRef = Arc::new(Int64Array::from(vec![key]));
    key::encode_columns(&[column]).expect("bigint is a key type").remove(0)
}
