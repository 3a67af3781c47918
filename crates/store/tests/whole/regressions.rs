//! Regression tests. Each describes the defect.

use super::*;
use crate::test_tables::{rows, table};
use arrow::array::{Array, Float64Array, RecordBatch, StringViewArray};
use arrow::datatypes::Float64Type;
use catalog::{Column, ColumnId, SqlType};
use store::{IngestPart, Transaction, ZoneValue};

/// `(key bigint, number double precision)` rows.
fn numbers(rows: &[(i64, Option<f64>)]) -> RecordBatch {
    let keys: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.0)));
    let values: ArrayRef = Arc::new(Float64Array::from_iter(rows.iter().map(|row| row.1)));
    RecordBatch::try_new(number_table().arrow_schema(), vec![keys, values]).expect("same lengths")
}

fn number_table() -> Table {
    table("numbers", vec![("key", SqlType::BigInt), ("number", SqlType::Double)])
}

fn create(store: &Arc<Store>, table: Table) -> TableId {
    let table = Table { id: TableId(store.next_relation_id().0), ..table };
    let id = table.id;
    let mut transaction = store.begin();
    let create = CatalogChange::Create(Relation::Table(Arc::new(table)));
    transaction.change_catalog(create).expect("a new name");
    transaction.commit().expect("nobody else is there");
    id
}

fn load(store: &Arc<Store>, id: TableId, batch: RecordBatch) {
    let mut transaction = store.begin();
    let mut part: IngestPart = transaction.ingest(id).expect("a table");
    part.append(batch).expect("taken");
    transaction.finish_ingest(id, vec![part]).expect("no duplicates");
    transaction.commit().expect("committed");
}

/// `ALTER TABLE .. ADD COLUMN extra`, as a statement of a running transaction.
fn add_column(transaction: &mut Transaction, id: TableId, sql_type: SqlType) {
    let mut table = Table::clone(transaction.catalog().table_by_id(id).expect("the table"));
    let column = Column {
        id: ColumnId(table.next_column),
        name: "extra".to_owned(),
        sql_type,
        ..table.columns[1].clone()
    };
    table.columns.push(column);
    table.next_column += 1;
    table.version += 1;
    let replace = CatalogChange::Replace(Relation::Table(Arc::new(table)));
    transaction.change_catalog(replace).expect("a valid definition");
}

/// Row layouts were cached by table and version. Two transactions that change a table create the
/// same version, so the second wrote its rows in the layout of the first, which had been rolled
/// back.
#[test]
fn a_rolled_back_definition_leaves_nothing_behind() {
    let (store, id) = store_with(64 << 10, quiet());
    let wide = |extra: ArrayRef, transaction: &Transaction| {
        let schema = transaction.catalog().table_by_id(id).expect("the table").arrow_schema();
        let mut columns = rows(&[(1, "one")]).columns().to_vec();
        columns.push(extra);
        RecordBatch::try_new(schema, columns).expect("the columns fit")
    };
    let mut undone = store.begin();
    add_column(&mut undone, id, SqlType::BigInt);
    let batch = wide(Arc::new(Int64Array::from(vec![7])), &undone);
    undone.insert(id, &batch).expect("inserted");
    drop(undone);
    let mut kept = store.begin();
    add_column(&mut kept, id, SqlType::Text);
    let batch = wide(Arc::new(StringViewArray::from_iter_values(["seven"])), &kept);
    kept.insert(id, &batch).expect("inserted");
    kept.commit().expect("committed");
    let view = table_at(&store.snapshot(), id);
    let found = view.get(&key_of(1), &[2]).expect("owned here").expect("the row");
    assert_eq!(found[0].as_string_view().value(0), "seven");
}

/// The zone of two overlapping chunks had no bounds if one contained only NULLs, but was marked
/// exact: `min` over the table then ignored the other chunk.
#[test]
fn nulls_of_one_chunk_do_not_hide_the_bounds_of_another() {
    let store = Store::open(quiet());
    let id = create(&store, number_table());
    load(&store, id, numbers(&[(1, Some(1.5)), (3, Some(2.5))]));
    load(&store, id, numbers(&[(2, None), (4, None)]));
    let morsels = table_at(&store.snapshot(), id).morsels(&KeyRange::all()).expect("owned here");
    assert_eq!(morsels.len(), 1, "the chunks overlap");
    let zone = morsels[0].zone(1).expect("floats have zones").into_owned();
    assert_eq!((zone.min, zone.max), (Some(ZoneValue::Float(1.5)), Some(ZoneValue::Float(2.5))));
    assert_eq!((zone.nulls, zone.exact), (2, true));
}

/// A part of a chunk reported the number of NULLs of the whole chunk, which exceeded its rows.
#[test]
fn a_piece_of_a_chunk_counts_its_own_nulls() {
    let store = Store::open(quiet());
    let id = create(&store, number_table());
    load(&store, id, numbers(&[(1, None), (2, None), (3, None), (4, Some(4.0))]));
    let range = KeyRange::new(sdds::Bound::At(key_of(3)), sdds::Bound::PosInf).expect("not empty");
    let morsels = table_at(&store.snapshot(), id).morsels(&range).expect("owned here");
    let zone = morsels[0].zone(1).expect("floats have zones");
    assert_eq!((morsels[0].rows(), zone.nulls, zone.exact), (2, 1, false));
}

/// Bounds were compared as numbers, so that the zeros were equal. The query engine orders -0 below
/// 0, and pruned chunks that contain it.
#[test]
fn negative_zero_is_below_zero_in_a_zone() {
    let store = Store::open(quiet());
    let id = create(&store, number_table());
    load(&store, id, numbers(&[(1, Some(0.0)), (2, Some(-0.0))]));
    let morsels = table_at(&store.snapshot(), id).morsels(&KeyRange::all()).expect("owned here");
    let zone = morsels[0].zone(1).expect("floats have zones").into_owned();
    let Some(ZoneValue::Float(min)) = zone.min else { panic!("{zone:?}") };
    let Some(ZoneValue::Float(max)) = zone.max else { panic!("{zone:?}") };
    assert!(min.is_sign_negative() && max.is_sign_positive(), "{min} {max}");
}

/// A commit took more memory than its transaction had reserved, so that tables exceeded the limit.
#[test]
fn a_commit_never_passes_the_limit_that_its_writes_kept() {
    let limit = 64 << 10;
    let options = Options { memory_limit: Some(limit), background: false, ..Options::default() };
    let (store, id) = store_with(16 << 10, options);
    let mut key = 0;
    loop {
        let mut transaction = store.begin();
        if transaction.insert(id, &rows(&[(key, "")])).is_err() {
            break;
        }
        transaction.commit().expect("there was room");
        assert!(store.memory().table_bytes() <= limit, "after {key} rows");
        key += 1;
    }
    assert!(key > 100, "{key} rows fit");
}

/// Rolled back or overwritten rows were accounted for until the transaction ended.
#[test]
fn what_a_transaction_undoes_it_gives_back() {
    let (store, id) = store_with(64 << 10, quiet());
    let mut transaction = store.begin();
    transaction.upsert(id, &rows(&[(1, "kept")])).expect("upserted");
    let before = store.memory().table_bytes();
    for _ in 0..50 {
        transaction.upsert(id, &rows(&[(1, "over")])).expect("upserted");
    }
    assert_eq!(store.memory().table_bytes(), before, "the same row, fifty times");
    let savepoint = transaction.savepoint();
    transaction.upsert(id, &rows(&[(2, "undone")])).expect("upserted");
    transaction.delete(id, &[key_of(1)]).expect("deleted");
    transaction.rollback_to(&savepoint);
    assert_eq!(store.memory().table_bytes(), before, "back at the savepoint");
    drop(transaction);
    assert_eq!(store.memory().table_bytes(), 0);
    store.check().expect("every invariant holds");
}

/// A statement that changed no row caused a commit, which conflicted with changes of the
/// definition.
#[test]
fn writing_nothing_is_not_a_write() {
    let (store, id) = store_with(64 << 10, quiet());
    let mut transaction = store.begin();
    transaction.delete(id, &[]).expect("nothing to delete");
    transaction.upsert(id, &rows(&[])).expect("nothing to write");
    assert!(transaction.is_read_only());
}

/// A bucket that could not be compacted because of a snapshot was not compacted later, until the
/// next write to it.
#[test]
fn compaction_comes_back_when_the_snapshot_in_its_way_is_gone() {
    let (store, id) = store_with(64 << 10, Options::default());
    let text = "x".repeat(100);
    let old = store.snapshot();
    let mut transaction = store.begin();
    let many: Vec<(i64, &str)> = (0..200).map(|key| (key, text.as_str())).collect();
    transaction.insert(id, &rows(&many)).expect("inserted");
    transaction.commit().expect("committed");
    let delta_rows =
        || -> u64 { store.bucket_infos(id).iter().map(|bucket| bucket.delta_rows).sum() };
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert_eq!(delta_rows(), 200, "the old snapshot does not see them yet");
    drop(old);
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while delta_rows() > 0 {
        assert!(std::time::Instant::now() < patience, "{} rows left", delta_rows());
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    store.check().expect("every invariant holds");
}

/// A column became NOT NULL while a snapshot still saw a NULL in it. Compaction read rows as of
/// that snapshot with the new definition, and the server crashed.
#[test]
fn a_null_that_only_an_old_snapshot_sees_is_compacted() {
    let store = Store::open(quiet());
    let id = create(&store, number_table());
    let write = |rows: &[(i64, Option<f64>)]| {
        let mut transaction = store.begin();
        transaction.upsert(id, &numbers(rows)).expect("staged");
        transaction.commit().expect("alone");
    };
    write(&[(1, None), (2, Some(2.0))]);
    let old = store.snapshot();
    write(&[(1, Some(1.0))]);
    let mut transaction = store.begin();
    let mut table = Table::clone(transaction.catalog().table_by_id(id).expect("the table"));
    table.columns[1].nullable = false;
    table.version += 1;
    let replace = CatalogChange::Replace(Relation::Table(Arc::new(table)));
    transaction.change_catalog(replace).expect("a valid definition");
    transaction.commit().expect("no row has a null");
    store.compact_all();
    let number = |snapshot: &Snapshot, key: i64| {
        let found = table_at(snapshot, id).get(&key_of(key), &[1]).expect("owned here");
        let column = found.expect("a row").remove(0);
        column.is_valid(0).then(|| column.as_primitive::<Float64Type>().value(0))
    };
    assert_eq!([number(&old, 1), number(&old, 2)], [None, Some(2.0)]);
    assert_eq!(
        [number(&store.snapshot(), 1), number(&store.snapshot(), 2)],
        [Some(1.0), Some(2.0)]
    );
    store.check().expect("every invariant holds");
}
