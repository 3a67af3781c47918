//! Stores with a data directory: what a restart finds.

#[path = "../../../bucket/src/test_tables.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod test_tables;

mod damage;
mod faults;
mod full;
mod inspection;
mod restart;
mod together;

use arrow::array::{ArrayRef, AsArray, Int64Array};
use arrow::datatypes::Int64Type;
use catalog::{CatalogChange, Relation, Table, TableId, stable};
use sdds::{Key, KeyRange};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::journal::disk::MemoryDisk;
use store::journal::{self, Durability};
use store::{Data, Error, Options, Recovery, Snapshot, Store, TableView, key};
use test_tables::{keyed, rows};

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

fn quiet() -> Options {
    Options { background: false, ..Options::default() }
}

fn key_of(key: i64) -> Key {
    let column: ArrayRef = Arc::new(Int64Array::from(vec![key]));
    key::encode_columns(&[column]).expect("bigint is a key type").remove(0)
}

fn table_at(snapshot: &Snapshot, id: TableId) -> TableView {
    snapshot.table(id).expect("the table exists")
}

/// Returns all rows of a table by scanning it.
fn found(store: &Store, id: TableId) -> BTreeMap<i64, String> {
    let view = table_at(&store.snapshot(), id);
    let schema = view.table().arrow_schema();
    let mut rows = BTreeMap::new();
    for morsel in view.morsels(&KeyRange::all()).expect("owned here") {
        let batch = morsel.read(&[0, 1], &schema).expect("readable");
        let keys = batch.column(0).as_primitive::<Int64Type>();
        let values = batch.column(1).as_string_view();
        rows.extend(
            (0..batch.num_rows()).map(|row| (keys.value(row), values.value(row).to_owned())),
        );
    }
    rows
}

/// What a restart must find again, to the byte: the timestamp, the catalog, the buckets and rows of all
/// tables that are not temporary.
fn digest(store: &Store) -> String {
    let catalog = store.catalog().shared();
    let bytes = stable::encode(&catalog);
    let mut text = format!("{}\n{bytes:?}\n", store.snapshot().timestamp());
    for relation in catalog.relations() {
        let Relation::Table(table) = relation else { continue };
        for info in store.bucket_infos(table.id) {
            text += &format!("{} {} {} {}\n", table.id.0, info.id, info.range, info.rows);
        }
        for row in found(store, table.id) {
            text += &format!("{row:?}\n");
        }
    }
    text
}
