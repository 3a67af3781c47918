//! Rows that are stored between two bundles of a plan: in memory, on disk, and while somebody cancels.

use futures::TryStreamExt;
use query::arrow::util::display::{ArrayFormatter, FormatOptions};
use query::{Database, Options, Session};

/// The first column of an answer, in order.
async fn column_of(session: &Session, sql: &str) -> Result<Vec<String>, query::Error> {
    let batches: Vec<_> = session.query(sql).await?.stream.try_collect().await?;
    let mut lines = Vec::new();
    for batch in batches {
        let options = FormatOptions::new().with_null("NULL");
        let values = ArrayFormatter::try_new(batch.column(0), &options)?;
        lines.extend((0..batch.num_rows()).map(|row| values.value(row).to_string()));
    }
    lines.sort();
    Ok(lines)
}

async fn column(session: &Session, sql: &str) -> Vec<String> {
    column_of(session, sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"))
}

async fn set(session: &Session, setting: &str) {
    session.execute(&format!("SET {setting}")).await.expect("set");
}

/// How many bytes of a query's bundles go to disk.
async fn spilled(session: &Session, sql: &str) -> Vec<usize> {
    let lines = column(session, &format!("EXPLAIN ANALYZE {sql}")).await;
    let bytes = lines.iter().filter_map(|line| {
        let (_, bytes) = line.strip_suffix(" bytes spilled")?.rsplit_once(' ')?;
        bytes.parse().ok()
    });
    bytes.collect()
}

const GROUPS: &str = "SELECT v % 100 || ': ' || count(*) || ', ' || sum(v) || ', ' || max(t) \
    FROM (SELECT v, 'value ' || v AS t FROM generate_series(1, 400000) AS g (v)) s GROUP BY v % 100";

#[tokio::test]
async fn rows_beyond_the_limit_go_to_disk_and_come_back() {
    let options = Options { threads: Some(2), ..Options::default() };
    let session = Database::open(options).expect("opened").session();
    let expected = column(&session, GROUPS).await;
    set(&session, "pando.bundling = none").await;
    assert_eq!(spilled(&session, GROUPS).await, [0; 2], "there is memory for them");
    assert_eq!(column(&session, GROUPS).await, expected);
    set(&session, "pando.bundle_bytes = 1000000").await;
    let spilled = spilled(&session, GROUPS).await;
    assert!(spilled[0] > 1_000_000 && spilled[1..] == [0], "{spilled:?}");
    assert_eq!(column(&session, GROUPS).await, expected);
}

#[tokio::test]
async fn rows_for_which_there_is_no_memory_go_to_disk() {
    let options = Options { memory_limit: Some(1 << 20), ..Options::default() };
    let session = Database::open(options).expect("opened").session();
    let expected = column(&session, GROUPS).await;
    set(&session, "pando.bundling = none").await;
    assert!(spilled(&session, GROUPS).await[0] > 1 << 20);
    assert_eq!(column(&session, GROUPS).await, expected);
    assert_eq!(column(&session, "SELECT query_bytes FROM pando.memory").await, ["0"]);
}

#[tokio::test]
async fn rows_without_columns_are_counted_where_they_are_stored() {
    let session = Database::open(Options::default()).expect("opened").session();
    session.execute("CREATE TABLE t (id bigint PRIMARY KEY)").await.expect("made");
    let rows = "INSERT INTO t SELECT * FROM generate_series(1, 50000) AS g (v)";
    session.execute(rows).await.expect("written");
    for setting in ["pando.bundling = none", "pando.bundle_bytes = 0"] {
        set(&session, setting).await;
        assert_eq!(column(&session, "SELECT count(*) FROM t WHERE id > 9").await, ["49991"]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_query_is_cancelled_while_it_stores() {
    let database = Database::open(Options::default()).expect("opened");
    let session = database.session();
    set(&session, "pando.bundling = optimal").await;
    let many = "SELECT sum(v) FROM generate_series(1, 300000000) AS g (v)";
    let cancel = session.cancel_handle();
    let read = tokio::spawn(async move { column_of(&session, many).await });
    let bytes = "SELECT query_bytes FROM pando.memory";
    while column(&database.session(), bytes).await == ["0"] {
        assert!(!read.is_finished(), "it has not stored all of them");
        tokio::task::yield_now().await;
    }
    cancel.cancel();
    let error = read.await.expect("read").expect_err("cancelled");
    assert_eq!(error.state().code(), "57014");
    while column(&database.session(), bytes).await != ["0"] {
        tokio::task::yield_now().await;
    }
}
