//! Stores with one table, and what it contains.

use super::*;

/// A store with one table of [`keyed`] rows and a bucket size.
pub(super) fn store_with(bucket_size: u64, options: Options) -> (Arc<Store>, TableId) {
    let store = Store::open(options);
    let table = Table { id: TableId(store.next_relation_id().0), bucket_size, ..keyed("t") };
    let id = table.id;
    let mut transaction = store.begin();
    let create = CatalogChange::Create(Relation::Table(Arc::new(table)));
    transaction.change_catalog(create).expect("a new name");
    transaction.commit().expect("nobody else is there");
    (store, id)
}

pub(super) fn quiet() -> Options {
    Options { background: false, ..Options::default() }
}

pub(super) fn key_of(key: i64) -> Key {
    let column: ArrayRef = Arc::new(Int64Array::from(vec![key]));
    key::encode_columns(&[column]).expect("bigint is a key type").remove(0)
}

/// Returns all rows of a view by scanning it.
pub(super) fn contents(view: &TableView) -> BTreeMap<i64, String> {
    contents_of(view, &KeyRange::all())
}

pub(super) fn contents_of(view: &TableView, range: &KeyRange) -> BTreeMap<i64, String> {
    let schema = view.table().arrow_schema();
    let mut rows = BTreeMap::new();
    let mut last = i64::MIN;
    for morsel in view.morsels(range).expect("owned here") {
        let batch = morsel.read(&[0, 1], &schema).expect("readable");
        assert!(batch.num_rows() <= morsel.rows(), "rows() is an upper bound");
        let keys = batch.column(0).as_primitive::<Int64Type>();
        let values = batch.column(1).as_string_view();
        for row in 0..batch.num_rows() {
            assert!(rows.is_empty() || keys.value(row) > last, "rows come in key order");
            last = keys.value(row);
            rows.insert(last, values.value(row).to_owned());
        }
    }
    rows
}

pub(super) fn table_at(snapshot: &Snapshot, id: TableId) -> TableView {
    snapshot.table(id).expect("the table exists")
}
