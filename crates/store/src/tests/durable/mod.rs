//! Stores with a data directory: what a restart finds.

mod damage;
mod faults;
mod full;
mod replay;
mod restart;

use super::*;
use crate::test_tables::rows;
use crate::{Data, Error, Recovery};
use catalog::stable;
use journal::Durability;
use journal::disk::MemoryDisk;

const HOME: &str = "/data";

/// A directory on a disk in memory, with small segments.
fn data(disk: &MemoryDisk) -> Data {
    let data = Data::at(HOME, Durability::Sync);
    let journal = journal::Options { segment_bytes: 16 << 10, ..data.journal.clone() };
    Data { disk: Arc::new(disk.clone()), holder: "a test".to_owned(), journal, ..data }
}

fn try_open(disk: &MemoryDisk) -> Result<(Arc<Store>, Recovery), Error> {
    Store::open_durable(&quiet(), data(disk))
}

fn open(disk: &MemoryDisk) -> Arc<Store> {
    let (store, _) = try_open(disk).expect("it opens");
    store.check().expect("every invariant holds");
    store
}

/// Creates a table of [`keyed`] rows.
fn create(store: &Arc<Store>, table: Table) -> Result<TableId, Error> {
    let table = Table { id: TableId(store.next_relation_id().0), bucket_size: 4 << 10, ..table };
    let id = table.id;
    let mut transaction = store.begin();
    transaction.change_catalog(CatalogChange::Create(Relation::Table(Arc::new(table))))?;
    transaction.commit()?;
    Ok(id)
}

fn upsert(store: &Arc<Store>, id: TableId, pairs: &[(i64, &str)]) -> Result<(), Error> {
    let mut transaction = store.begin();
    transaction.upsert(id, &rows(pairs))?;
    transaction.commit().map(drop)
}

fn delete(store: &Arc<Store>, id: TableId, keys: &[i64]) -> Result<(), Error> {
    let mut transaction = store.begin();
    transaction.delete(id, &keys.iter().map(|key| key_of(*key)).collect::<Vec<_>>())?;
    transaction.commit().map(drop)
}

fn load(store: &Arc<Store>, id: TableId, pairs: &[(i64, &str)]) -> Result<(), Error> {
    let mut transaction = store.begin();
    let mut part = transaction.ingest(id)?;
    part.append(rows(pairs))?;
    transaction.finish_ingest(id, vec![part])?;
    transaction.commit().map(drop)
}

fn found(store: &Store, id: TableId) -> BTreeMap<i64, String> {
    contents(&table_at(&store.snapshot(), id))
}

/// What a restart must find again, to the byte: catalog, sequences, id counters, the tiles and rows of
/// all tables. How rows are divided among delta and runs is left out: compaction is no command.
fn digest(store: &Store) -> String {
    let cut = crate::cut::of(&store.machine());
    let mut text = format!(
        "{}\n{:?}\n{} {}\n{}\n",
        cut.timestamp,
        cut.sequences,
        cut.counters.bucket,
        cut.counters.row,
        stable::encode(&cut.catalog).iter().map(|byte| format!("{byte:02x}")).collect::<String>(),
    );
    for table in &cut.tables {
        for info in store.bucket_infos(table.id) {
            text += &format!("{} {} {} {}\n", table.id.0, info.id, info.range, info.rows);
        }
        for row in found(store, table.id) {
            text += &format!("{row:?}\n");
        }
    }
    text
}
