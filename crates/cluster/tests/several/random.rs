//! Random operations compared with a map: servers read what was committed, now and at old
//! snapshots, also by an index.

use crate::support::{World, batch, is_transient, key_of, read_of};
use arrow::array::{ArrayRef, Int64Array};
use cluster::net::local::Link;
use sdds::{Key, KeyRange};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::catalog::{CatalogChange, Index, IndexColumn, Relation, TableId};
use store::key::{EntryEncoder, of_entries_from};
use store::{Error, Reading};

const KEYS: u64 = 800;

/// Pseudo-random numbers that depend on a seed only.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

type Model = BTreeMap<i64, i64>;

/// An old snapshot, its server, and its expected rows.
struct Kept {
    reading: Reading,
    model: Model,
}

struct Run {
    world: World,
    table: TableId,
    dice: Dice,
    model: Model,
    kept: Vec<Kept>,
    is_cut: Option<(usize, usize)>,
    committed: usize,
}

impl Run {
    fn site(&mut self) -> usize {
        self.dice.roll(self.world.sites.len() as u64) as usize
    }

    fn keys(&mut self) -> Vec<i64> {
        let (first, step) = (self.dice.roll(KEYS), 1 + self.dice.roll(40));
        let count = 1 + self.dice.roll(30);
        let mut keys: Vec<i64> = (0..count).map(|n| ((first + n * step) % KEYS) as i64).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// Writes and deletes rows through a server; some transactions are rolled back, to a savepoint
    /// or entirely.
    async fn write(&mut self) -> Result<(), Error> {
        let site = self.site();
        let (puts, goes, undone) = (self.keys(), self.keys(), self.keys());
        let value = self.dice.roll(1_000_000) as i64;
        let ends = self.dice.roll(4) > 0;
        let mut transaction = self.world.sites[site].store.begin_distributed().await?;
        let rows: Vec<(i64, i64)> = puts.iter().map(|key| (*key, value)).collect();
        transaction.upsert(self.table, &batch(&rows)).await?;
        let savepoint = transaction.savepoint();
        let rows: Vec<(i64, i64)> = undone.iter().map(|key| (*key, -1)).collect();
        transaction.upsert(self.table, &batch(&rows)).await?;
        transaction.rollback_to(&savepoint).await?;
        let keys: Vec<_> = goes.iter().map(|key| key_of(*key)).collect();
        transaction.delete(self.table, &keys).await?;
        let mut after = self.model.clone();
        after.extend(puts.iter().map(|key| (*key, value)));
        goes.iter().for_each(|key| {
            after.remove(key);
        });
        let all: Vec<i64> = (0..KEYS as i64).collect();
        assert_eq!(read_of(&transaction.reading(), self.table, &all).await?, after, "its own");
        if ends {
            transaction.commit().await?;
            self.model = after;
            self.committed += 1;
        }
        Ok(())
    }

    async fn read(&mut self) -> Result<(), Error> {
        let site = self.site();
        let all: Vec<i64> = (0..KEYS as i64).collect();
        assert_eq!(self.world.try_read(site, self.table, &all).await?, self.model, "from {site}");
        if !self.kept.is_empty() {
            let at = self.dice.roll(self.kept.len() as u64) as usize;
            let kept = self.kept.swap_remove(at);
            assert_eq!(read_of(&kept.reading, self.table, &all).await?, kept.model, "kept");
        }
        Ok(())
    }

    /// Looks rows up by the index on their value, through a server.
    async fn look_up(&mut self) -> Result<(), Error> {
        let site = self.site();
        let reading = self.world.sites[site].store.reading().await?;
        assert_eq!(indexed(&reading, self.table, None).await?, keys_of(&self.model, None));
        let values: Vec<i64> = self.model.values().copied().collect();
        if !values.is_empty() {
            let value = Some(values[self.dice.roll(values.len() as u64) as usize]);
            let found = indexed(&reading, self.table, value).await?;
            assert_eq!(found, keys_of(&self.model, value), "{value:?} from {site}");
        }
        Ok(())
    }

    async fn keep(&mut self) -> Result<(), Error> {
        let site = self.site();
        let reading = self.world.sites[site].store.reading().await?;
        self.kept.push(Kept { reading, model: self.model.clone() });
        Ok(())
    }

    async fn change_servers(&mut self) -> Result<(), Error> {
        let site = self.site();
        match self.dice.roll(4) {
            0 if self.world.sites.len() < 5 => self.world.add(1).await,
            1 if self.is_cut.is_none() && self.world.sites.len() > 2 => {
                // The root is never cut off: without it nothing proceeds.
                let (one, other) =
                    (1, 2 + self.dice.roll(self.world.sites.len() as u64 - 2) as usize);
                self.world.link(one, other, Link::Cut);
                self.is_cut = Some((one, other));
            }
            2 => self.heal(),
            _ if site > 0 => {
                let weight = self.dice.roll(3) as u32;
                let name = self.world.sites[site].name.clone();
                self.world.sites[0].cluster.set_weight(&name, weight).await?;
            }
            _ => {}
        }
        Ok(())
    }

    fn heal(&mut self) {
        if let Some((one, other)) = self.is_cut.take() {
            self.world.link(one, other, Link::Open);
        }
    }
}

/// The keys of the rows with a value, or of all rows.
fn keys_of(model: &Model, value: Option<i64>) -> Vec<Key> {
    let rows = model.iter().filter(|(_, of)| value.is_none_or(|value| value == **of));
    rows.map(|(key, _)| key_of(*key)).collect()
}

/// As [`keys_of`], by the index.
async fn indexed(reading: &Reading, id: TableId, value: Option<i64>) -> Result<Vec<Key>, Error> {
    let table = reading.table(id).expect("the table");
    let (index, file) = &table.indexes()[0];
    let range = match value {
        None => KeyRange::all(),
        Some(value) => {
            let value: ArrayRef = Arc::new(Int64Array::from(vec![value]));
            let encoder = EntryEncoder::new(index, &[value]).expect("a key type");
            of_entries_from(&encoder.values(0))
        }
    };
    let mut keys = file.rows_of_entries(&[range], 1 << 20).await?.expect("not too many");
    keys.sort();
    Ok(keys)
}

/// Adds an index on the value to a table without rows.
async fn add_index(world: &World, through: usize, id: TableId) {
    let store = &world.sites[through].store;
    let file = TableId(store.next_relation_id().0);
    world
        .retried(through, async |transaction| {
            let table = Arc::clone(transaction.catalog().table_by_id(id).expect("the table"));
            let column = table.columns[1].id;
            let column =
                IndexColumn { descending: true, nulls_first: true, ..IndexColumn::new(column) };
            let index = Index::new(file, "by_value".to_owned(), &table, vec![column]);
            let index = Relation::Index(Arc::new(index.at(store.group())));
            transaction.change_catalog(CatalogChange::Create(index))
        })
        .await;
}

async fn run(seed: u64) {
    let world = World::of(3).await;
    let table = world.table((seed % 3) as usize, "t").await;
    add_index(&world, (seed % 2) as usize, table).await;
    let (dice, model) = (Dice(seed), Model::new());
    let mut run = Run { world, table, dice, model, kept: Vec::new(), is_cut: None, committed: 0 };
    for step in 0..250 {
        let done = match run.dice.roll(20) {
            0..10 => run.write().await,
            10..14 => run.read().await,
            14..16 => run.look_up().await,
            16..18 => run.keep().await,
            _ => run.change_servers().await,
        };
        if let Err(error) = done {
            assert!(is_transient(&error), "seed {seed}, step {step}: {error:?}");
        }
    }
    run.heal();
    let all: Vec<i64> = (0..KEYS as i64).collect();
    for site in 0..run.world.sites.len() {
        assert_eq!(
            run.world.read(site, table, &all).await,
            run.model,
            "seed {seed}, server {site}"
        );
    }
    for kept in std::mem::take(&mut run.kept) {
        let seen = read_of(&kept.reading, table, &all).await.expect("reachable");
        assert_eq!(seen, kept.model, "seed {seed}, a snapshot that was kept");
    }
    run.look_up().await.expect("reachable");
    run.world.settled(table).await;
    // Transactions that were abandoned while links were cut are resolved once they are open.
    let is_right = |world: &World| world.sites.iter().all(|site| site.store.check().is_ok());
    run.world.until("every invariant holds", is_right).await;
    assert!(run.committed > 20, "seed {seed}: {} transactions were committed", run.committed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_servers_are_one_map() {
    // PANDO_SEED=7 repeats one run, up to the scheduling of threads.
    let seed = std::env::var("PANDO_SEED").ok().and_then(|seed| seed.parse().ok());
    let seeds = seed.map_or(vec![1, 2, 3], |seed| vec![seed]);
    for seed in seeds {
        run(seed).await;
    }
}
