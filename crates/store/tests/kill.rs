//! A process that commits is killed, again and again: every commit that it has acknowledged is found.
//!
//! The process is this test itself, started again with a directory in its environment. It prints the
//! number of each commit when it is acknowledged.

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::Int64Type;
use catalog::{
    CatalogChange, Column, ColumnId, OnCommit, Relation, RelationId, SqlType, Table,
    TableExtension, TableId,
};
use sdds::{GroupId, KeyRange};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use store::journal::Durability;
use store::{Data, Options, Store};

/// The environment variable with the data directory of the process to be killed.
const DIRECTORY: &str = "PANDO_TEST_KILLED";

/// How often the process is killed.
const ROUNDS: u64 = 6;

fn table(store: &Store) -> Table {
    let column = Column {
        id: ColumnId(0),
        name: "number".to_owned(),
        sql_type: SqlType::BigInt,
        nullable: false,
        default: None,
        identity: None,
        generated: None,
        hidden: false,
        missing: None,
        comment: None,
    };
    Table {
        id: TableId(store.next_relation_id().0),
        schema: "public".to_owned(),
        name: "t".to_owned(),
        columns: vec![column],
        key: vec![ColumnId(0)],
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        bucket_size: 16 << 10,
        colocate_with: None,
        on_commit: OnCommit::PreserveRows,
        home: GroupId(0),
        next_column: 1,
        version: 1,
        materialized: None,
        key_constraint: None,
        is_unlogged: false,
        extension: TableExtension::default(),
        comment: None,
    }
}

fn open(path: &Path, background: bool) -> Arc<Store> {
    let data = Data { checkpoint_bytes: 256 << 10, ..Data::at(path, Durability::Sync) };
    let options = Options { background, ..Options::default() };
    Store::open_durable(&options, data).expect("the directory is valid").0
}

fn table_id(store: &Arc<Store>) -> TableId {
    let found = store.catalog().relation("public", "t").map(Relation::id);
    found.map_or_else(
        || {
            let table = table(store);
            let id = table.id;
            let mut transaction = store.begin();
            let create = CatalogChange::Create(Relation::Table(Arc::new(table)));
            transaction.change_catalog(create).expect("a new name");
            transaction.commit().expect("nobody else is there");
            id
        },
        |RelationId(id)| TableId(id),
    )
}

fn numbers(store: &Arc<Store>, id: TableId) -> BTreeSet<i64> {
    let view = store.snapshot().table(id).expect("the table");
    let schema = view.table().arrow_schema();
    let mut numbers = BTreeSet::new();
    for morsel in view.morsels(&KeyRange::all()).expect("owned here") {
        let batch = morsel.read(&[0], &schema).expect("readable");
        let column = arrow::array::AsArray::as_primitive::<Int64Type>(batch.column(0));
        numbers.extend(column.values().iter().copied());
    }
    numbers
}

/// Commits ascending numbers and prints each, until it is killed.
fn commit_until_killed(path: &Path) {
    let store = open(path, true);
    let id = table_id(&store);
    let first = numbers(&store, id).last().map_or(0, |last| last + 1);
    let mut out = std::io::stdout();
    for number in first.. {
        let column: ArrayRef = Arc::new(Int64Array::from(vec![number]));
        let schema = store.catalog().table_by_id(id).expect("the table").arrow_schema();
        let row = RecordBatch::try_new(schema, vec![column]).expect("one row");
        let mut transaction = store.begin();
        transaction.insert(id, &row).expect("a new number");
        transaction.commit().expect("nobody else is there");
        let printed = writeln!(out, "acknowledged {number}").and_then(|()| out.flush());
        printed.expect("the parent reads");
    }
}

#[test]
fn what_a_killed_process_has_acknowledged_is_found() {
    if let Some(path) = std::env::var_os(DIRECTORY) {
        return commit_until_killed(Path::new(&path));
    }
    let root = tempfile::tempdir().expect("a directory");
    let path = root.path().join("data");
    let mut acknowledged = -1;
    for round in 0..ROUNDS {
        let mut process = Command::new(std::env::current_exe().expect("this test"))
            .args(["--nocapture", "what_a_killed_process_has_acknowledged_is_found"])
            .env(DIRECTORY, &path)
            .stdout(Stdio::piped())
            .spawn()
            .expect("started");
        let out = process.stdout.take().expect("it is piped");
        let mut process = Some(process);
        let mut killed = None;
        for line in BufReader::new(out).lines() {
            let line = line.expect("text");
            let Some((_, number)) = line.split_once("acknowledged ") else { continue };
            acknowledged = number.parse().expect("a number");
            if let Some(mut process) = process.take() {
                killed = Some(std::thread::spawn(move || {
                    std::thread::sleep(Duration::from_millis(100 + round * 130));
                    process.kill().expect("killed");
                    process.wait().expect("ended");
                }));
            }
        }
        killed.expect("it has acknowledged something").join().expect("killed");
        let store = open(&path, false);
        store.check().expect("every invariant holds");
        let id = table_id(&store);
        let found = numbers(&store, id);
        let last = found.last().copied().unwrap_or(-1);
        assert!(last >= acknowledged, "{acknowledged} was acknowledged, {last} is the last");
        assert_eq!(found.len() as i64, last + 1, "no number is missing");
    }
    assert!(acknowledged > 50, "{acknowledged} commits were acknowledged");
}
