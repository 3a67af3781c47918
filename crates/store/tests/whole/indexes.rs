//! The indexes of a table against its rows, after random changes.

use super::*;
use crate::test_tables::rows;
use arrow::array::{BooleanArray, Int64Array, RecordBatch};
use catalog::{ColumnId, Index, IndexColumn, IndexExpression, IndexKey, SqlType, Table};
use proptest::prelude::*;
use store::{Error, IndexExpressions, IndexedRows, Transaction};

#[derive(Debug, Clone)]
enum Step {
    Insert(BTreeMap<i64, u8>),
    Upsert(BTreeMap<i64, u8>),
    Delete(Vec<i64>),
    Load(BTreeMap<i64, u8>),
    RolledBack(BTreeMap<i64, u8>),
    Truncate,
    Compact,
}

fn pairs() -> impl Strategy<Value = BTreeMap<i64, u8>> {
    prop::collection::btree_map(-40i64..40, 0u8..60, 1..30)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => pairs().prop_map(Step::Insert),
        4 => pairs().prop_map(Step::Upsert),
        3 => prop::collection::vec(-40i64..40, 1..20).prop_map(Step::Delete),
        2 => pairs().prop_map(Step::Load),
        2 => pairs().prop_map(Step::RolledBack),
        1 => Just(Step::Truncate),
        2 => Just(Step::Compact),
    ]
}

fn batch(pairs: &BTreeMap<i64, u8>) -> RecordBatch {
    let texts: Vec<(i64, String)> =
        pairs.iter().map(|(key, value)| (*key, format!("{value:03}{}", "x".repeat(90)))).collect();
    rows(&texts.iter().map(|(key, text)| (*key, text.as_str())).collect::<Vec<_>>())
}

/// Adds an index on the value, descending, and a unique one on value and key.
fn add_indexes(store: &Arc<Store>, id: TableId) -> [Arc<Index>; 4] {
    let mut transaction = store.begin();
    let table = Arc::clone(transaction.catalog().table_by_id(id).expect("the table"));
    let of = |column: u32, descending: bool| IndexColumn {
        descending,
        nulls_first: descending,
        ..IndexColumn::new(ColumnId(column))
    };
    store.compute_indexes_by(Arc::new(Arithmetic));
    let mut create = |name: &str, columns: Vec<IndexColumn>, is_unique: bool| {
        let id = TableId(store.next_relation_id().0);
        let predicate = name.starts_with("partial").then(|| expression(SqlType::Boolean));
        let new = Index::new(id, name.to_owned(), &table, columns);
        let index = Index { is_unique, predicate, ..new };
        let index = Arc::new(index);
        let create = CatalogChange::Create(Relation::Index(Arc::clone(&index)));
        transaction.change_catalog(create).expect("a new name");
        index
    };
    let plain = create("plain", vec![of(1, true)], false);
    let unique = create("unique", vec![of(1, false), of(0, true)], true);
    let computed = IndexColumn::new(IndexKey::Expression(expression(SqlType::BigInt)));
    let computed = create("computed", vec![computed, of(0, false)], true);
    let partial = create("partial", vec![of(1, true), of(0, true)], true);
    transaction.commit().expect("nobody else is there");
    [plain, unique, computed, partial]
}

/// An expression over the value.
fn expression(sql_type: SqlType) -> IndexExpression {
    IndexExpression {
        text: "arithmetic".to_owned(),
        shown: "arithmetic".to_owned(),
        name: "expr".to_owned(),
        sql_type,
        columns: vec![ColumnId(1)],
    }
}

/// The numbers at the beginnings of texts.
fn numbers(texts: &ArrayRef) -> impl Iterator<Item = Option<i64>> {
    texts.as_string_view().iter().map(|text| text?.get(..3)?.parse().ok())
}

/// Expressions are the number in the value modulo 3, conditions say that it is even.
#[derive(Debug)]
struct Arithmetic;

impl IndexExpressions for Arithmetic {
    fn indexed(
        &self,
        index: &Arc<Index>,
        table: &Arc<Table>,
        inputs: &[ArrayRef],
        rows: usize,
    ) -> Result<IndexedRows, Error> {
        let places = index.input_positions(table);
        let input = |id: ColumnId| {
            let at = places.iter().position(|place| table.columns[*place].id == id);
            at.and_then(|at| inputs.get(at))
        };
        let column = |of: &IndexColumn| -> Option<ArrayRef> {
            match &of.key {
                IndexKey::Column(id) => input(*id).cloned(),
                IndexKey::Expression(_) => {
                    let values = numbers(input(ColumnId(1))?).map(|value| Some(value? % 3));
                    Some(Arc::new(values.collect::<Int64Array>()))
                }
            }
        };
        let columns = index.columns.iter().filter_map(column).collect();
        let fulfils = index.predicate.as_ref().and_then(|_| {
            let values = input(ColumnId(1))?;
            assert_eq!(values.len(), rows);
            let even = numbers(values).map(|value| Some(value? % 2 == 0));
            Some(even.collect::<BooleanArray>())
        });
        Ok(IndexedRows { columns, fulfils })
    }
}

fn run(store: &Arc<Store>, id: TableId, step: &Step) -> Result<(), Error> {
    let mut transaction: Transaction = store.begin();
    match step {
        Step::Insert(pairs) => transaction.insert(id, &batch(pairs))?,
        Step::Upsert(pairs) => transaction.upsert(id, &batch(pairs))?,
        Step::Delete(keys) => {
            transaction.delete(id, &keys.iter().map(|key| key_of(*key)).collect::<Vec<_>>())?;
        }
        Step::Load(pairs) => {
            let mut part = transaction.ingest(id)?;
            part.append(batch(pairs))?;
            transaction.finish_ingest(id, vec![part])?;
        }
        Step::RolledBack(pairs) => {
            let before = transaction.savepoint();
            transaction.upsert(id, &batch(pairs))?;
            transaction.rollback_to(&before);
            transaction.upsert(id, &batch(&pairs.iter().map(|(k, v)| (*k, v / 2)).collect()))?;
        }
        Step::Truncate => {
            let indexes = transaction.catalog().indexes_of(id).to_vec();
            for file in indexes.iter().map(|index| index.file.id).chain([id]) {
                transaction.change_catalog(CatalogChange::Truncate(file))?;
            }
        }
        Step::Compact => store.compact_all(),
    }
    transaction.commit().map(|_| ())
}

/// Checks that an index has exactly the entries of the rows.
fn check(store: &Store, snapshot: &Snapshot, id: TableId, index: &Arc<Index>) {
    let view = table_at(snapshot, id);
    let table = Arc::clone(view.table());
    let mut expected = Vec::new();
    for morsel in view.morsels(&KeyRange::all()).expect("owned here") {
        let batch = morsel.read(&[0, 1], &table.arrow_schema()).expect("readable");
        let keys = key::of_rows(&table, &batch).expect("keys");
        let inputs = index.input_positions(&table).into_iter();
        let inputs: Vec<ArrayRef> = inputs.map(|at| Arc::clone(batch.column(at))).collect();
        let rows = store.indexed(index, &table, &inputs, keys.len()).expect("computed");
        let entries = key::EntryEncoder::new(index, &rows.columns).expect("key types");
        let keys = keys.into_iter().enumerate().filter(|(at, _)| rows.has(*at));
        expected.extend(keys.map(|(at, key)| (entries.entry(at, &key), key.as_bytes().to_vec())));
    }
    expected.sort();
    let file = table_at(snapshot, index.file.id);
    let mut found = Vec::new();
    for morsel in file.morsels(&KeyRange::all()).expect("owned here") {
        let batch = morsel.read(&[0, 1], &index.file.arrow_schema()).expect("readable");
        let (entries, rows) = (batch.column(0).as_binary_view(), batch.column(1).as_binary_view());
        let pairs = entries.iter().flatten().zip(rows.iter().flatten());
        found.extend(pairs.map(|(entry, row)| (entry.to_vec(), row.to_vec())));
    }
    assert_eq!(found, expected, "{}", index.file.name);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn indexes_equal_their_tables(steps in prop::collection::vec(step(), 1..40)) {
        let (store, id) = store_with(4 << 10, quiet());
        let indexes = add_indexes(&store, id);
        for step in &steps {
            let before = store.snapshot();
            match run(&store, id, step) {
                Ok(()) | Err(Error::DuplicateKey { .. }) => {}
                Err(error) => panic!("{error}"),
            }
            for index in &indexes {
                check(&store, &store.snapshot(), id, index);
                check(&store, &before, id, index);
            }
            store.check().expect("every invariant holds");
        }
    }
}

#[test]
fn a_unique_index_names_itself_and_the_values() {
    let (store, id) = store_with(64 << 10, quiet());
    let mut transaction = store.begin();
    let table = Arc::clone(transaction.catalog().table_by_id(id).expect("the table"));
    let column =
        IndexColumn { descending: true, nulls_first: true, ..IndexColumn::new(ColumnId(1)) };
    let index = Index::new(TableId(store.next_relation_id().0), "u".into(), &table, vec![column]);
    let index = Relation::Index(Arc::new(Index { is_unique: true, ..index }));
    transaction.change_catalog(CatalogChange::Create(index)).expect("a new name");
    transaction.insert(id, &rows(&[(1, "one"), (2, "two")])).expect("inserted");
    transaction.upsert(id, &rows(&[(1, "two"), (2, "one")])).expect("exchanged");
    let error = transaction.insert(id, &rows(&[(3, "two")])).expect_err("it exists");
    let Error::DuplicateKey { table, constraint, key, .. } = error else { panic!("{error}") };
    assert_eq!((&*table, &*constraint, &*key), ("t", "u", "(value)=(two)"));
    let both = transaction.insert(id, &rows(&[(4, "four"), (5, "four")]));
    assert!(matches!(both, Err(Error::DuplicateKey { .. })));
}
