//! All kinds of statements on a table on three servers.

use crate::random_moves::RandomMoves;
use arrow::array::AsArray;
use futures::TryStreamExt;
use pando::catalog::{Relation, TableId};
use pando::{Database, Options};
use query::ScalarValue;
use workloads::InProcess;

pub(crate) async fn servers() -> InProcess {
    let options = Options { bucket_size: Some(8 << 10), ..Options::default() };
    InProcess::start(3, options).await.expect("three servers")
}

pub(crate) async fn number(database: &Database, sql: &str) -> i64 {
    use arrow::datatypes::Int64Type;
    let rows = database.session().query(sql).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
    let batches: Vec<_> = rows.stream.try_collect().await.unwrap_or_else(|e| panic!("{sql}: {e}"));
    let batch = batches.iter().find(|batch| batch.num_rows() > 0).expect("a row");
    let column = arrow::compute::cast(batch.column(0), &arrow::datatypes::DataType::Int64);
    column.expect("a number").as_primitive::<Int64Type>().value(0)
}

pub(crate) async fn execute(database: &Database, sql: &str) {
    database.session().execute(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
}

/// Waits until every server has rows of a table.
pub(crate) async fn until_spread(servers: &InProcess, table: &str) {
    let first = &servers.servers()[0].database;
    let sql = format!("SELECT count(*) FROM pando.shares WHERE \"table\" = '{table}'");
    let begun = std::time::Instant::now();
    while number(first, &sql).await < servers.servers().len() as i64 {
        assert!(begun.elapsed().as_secs() < 60, "{table} does not spread");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_servers_give_the_same_answers_and_see_all_changes() {
    let servers = servers().await;
    let of = |server: usize| &servers.servers()[server].database;
    execute(of(1), "CREATE TABLE t (id bigint PRIMARY KEY, grp int, v bigint)").await;
    execute(of(2), "INSERT INTO t SELECT i, i % 10, i FROM generate_series(1, 5000) AS g(i)").await;
    until_spread(&servers, "t").await;
    let random_moves = RandomMoves::over(&servers);
    for server in 0..3 {
        assert_eq!(number(of(server), "SELECT count(*) FROM t").await, 5000);
        assert_eq!(number(of(server), "SELECT sum(v)::bigint FROM t").await, 12_502_500);
        assert_eq!(number(of(server), "SELECT v FROM t WHERE id = 4321").await, 4321);
        assert_eq!(
            number(of(server), "SELECT count(*) FROM t WHERE id BETWEEN 100 AND 3000").await,
            2901
        );
        let join = "SELECT count(*) FROM t a JOIN t b ON a.v = b.id WHERE a.grp = 3";
        assert_eq!(number(of(server), join).await, 500);
        let top = "SELECT id FROM t WHERE grp = 7 ORDER BY v DESC LIMIT 1";
        assert_eq!(number(of(server), top).await, 4997);
    }
    execute(of(0), "UPDATE t SET v = v + 1 WHERE grp = 0").await;
    assert_eq!(number(of(1), "SELECT sum(v)::bigint FROM t").await, 12_503_000);
    execute(of(1), "DELETE FROM t WHERE id > 4000").await;
    assert_eq!(number(of(2), "SELECT count(*) FROM t").await, 4000);
    let upsert = "INSERT INTO t VALUES (1, 1, 100), (9999, 9, 9) \
                  ON CONFLICT (id) DO UPDATE SET v = excluded.v";
    execute(of(2), upsert).await;
    assert_eq!(number(of(0), "SELECT v FROM t WHERE id = 1").await, 100);
    assert_eq!(number(of(1), "SELECT count(*) FROM t").await, 4001);
    assert!(random_moves.moves() > 0, "buckets moved meanwhile");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_rows_than_a_message_carries_are_written_to_another_server() {
    let options = Options { bucket_size: Some(1 << 20), ..Options::default() };
    let servers = InProcess::start(2, options).await.expect("two servers");
    let of = |server: usize| &servers.servers()[server].database;
    execute(of(0), "ALTER SYSTEM SET pando.moves = paused").await;
    execute(of(0), "CREATE TABLE t (id bigint PRIMARY KEY, v text)").await;
    let many = "FROM generate_series(1, 20000) AS g(i)";
    let rows = format!("SELECT i, repeat('x', 2048) || i {many}");
    // The first server owns the table: 40 MiB are sent there in one transaction.
    execute(of(1), &format!("INSERT INTO t {rows}")).await;
    assert_eq!(number(of(0), "SELECT count(*) FROM t").await, 20_000);
    execute(of(1), "UPDATE t SET v = v || 'y'").await;
    assert_eq!(number(of(0), "SELECT count(*) FROM t WHERE v LIKE '%y'").await, 20_000);
    let twice =
        format!("INSERT INTO t SELECT i + 20000 - (i / 20000) * 5, repeat('x', 2048) {many}");
    assert!(of(1).session().execute(&twice).await.is_err(), "a key comes twice");
    assert_eq!(number(of(0), "SELECT count(*) FROM t").await, 20_000, "all or nothing");
    let folder = tempfile::TempDir::new().expect("a folder");
    let file = folder.path().join("rows.csv");
    let text: String = (30_000..50_000).map(|id| format!("{id},{}\n", "z".repeat(2048))).collect();
    std::fs::write(&file, text).expect("written");
    execute(of(1), &format!("COPY t FROM '{}' (FORMAT csv)", file.display())).await;
    assert_eq!(number(of(0), "SELECT count(*) FROM t").await, 40_000);
}

/// A value may have 64 MiB, on any server.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_very_large_row_is_written_read_and_moved() {
    const BYTES: i64 = 40 << 20;
    let options = Options { bucket_size: Some(1 << 20), ..Options::default() };
    let servers = InProcess::start(2, options).await.expect("two servers");
    let of = |server: usize| &servers.servers()[server].database;
    execute(of(0), "ALTER SYSTEM SET pando.moves = paused").await;
    execute(of(0), "CREATE TABLE t (id bigint PRIMARY KEY, v text)").await;
    let insert = of(1).session().prepare("INSERT INTO t VALUES ($1, $2)").await.expect("sound");
    for id in 0..3_i64 {
        let value = ScalarValue::Utf8View(Some(id.to_string().repeat(BYTES as usize)));
        insert.execute(&[id.into(), value]).await.expect("inserted");
    }
    let lengths = "SELECT sum(length(v))::bigint FROM t WHERE v LIKE '%1' OR id <> 1";
    assert_eq!(number(of(1), lengths).await, 3 * BYTES);
    execute(of(1), "UPDATE t SET v = v || 'y' WHERE id = 2").await;
    execute(of(0), "ALTER SYSTEM SET pando.moves = running").await;
    until_spread(&servers, "t").await;
    for server in 0..2 {
        assert_eq!(number(of(server), lengths).await, 3 * BYTES + 1);
        assert_eq!(number(of(server), "SELECT count(*) FROM t WHERE v LIKE '2%y'").await, 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_transaction_sees_its_own_writes_on_all_servers() {
    let servers = servers().await;
    let of = |server: usize| &servers.servers()[server].database;
    execute(of(0), "CREATE TABLE t (id bigint PRIMARY KEY, v bigint)").await;
    execute(of(0), "INSERT INTO t SELECT i, 0 FROM generate_series(1, 3000) AS g(i)").await;
    until_spread(&servers, "t").await;
    let session = of(1).session();
    session.begin().await.expect("begun");
    session.execute("UPDATE t SET v = 1 WHERE id % 2 = 0").await.expect("updated");
    let rows = session.query("SELECT sum(v)::bigint FROM t").await.expect("read");
    let batches: Vec<_> = rows.stream.try_collect().await.expect("read");
    let sum = batches[0].column(0).as_primitive::<arrow::datatypes::Int64Type>().value(0);
    assert_eq!(sum, 1500);
    assert_eq!(number(of(2), "SELECT sum(v)::bigint FROM t").await, 0);
    session.commit().await.expect("committed");
    assert_eq!(number(of(2), "SELECT sum(v)::bigint FROM t").await, 1500);
    let session = of(2).session();
    session.begin().await.expect("begun");
    session.execute("DELETE FROM t").await.expect("deleted");
    session.rollback().await.expect("rolled back");
    assert_eq!(number(of(0), "SELECT count(*) FROM t").await, 3000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn definitions_and_sequences_are_the_same_on_all_servers() {
    let servers = servers().await;
    let of = |server: usize| &servers.servers()[server].database;
    execute(of(2), "CREATE TABLE s (id serial PRIMARY KEY, t text)").await;
    for server in [0, 1, 2, 0, 1, 2] {
        execute(of(server), "INSERT INTO s (t) VALUES ('x'), ('y')").await;
    }
    assert_eq!(number(of(1), "SELECT count(DISTINCT id) FROM s").await, 12);
    assert_eq!(number(of(1), "SELECT max(id) FROM s").await, 12);
    execute(of(1), "ALTER TABLE s ADD COLUMN n int DEFAULT 7").await;
    execute(of(0), "INSERT INTO s (t, n) VALUES ('z', 1)").await;
    assert_eq!(number(of(2), "SELECT sum(n)::bigint FROM s").await, 12 * 7 + 1);
    execute(of(0), "CREATE VIEW w AS SELECT n FROM s WHERE n > 5").await;
    assert_eq!(number(of(2), "SELECT count(*) FROM w").await, 12);
    execute(of(2), "TRUNCATE s").await;
    assert_eq!(number(of(0), "SELECT count(*) FROM s").await, 0);
    execute(of(1), "DROP TABLE s CASCADE").await;
    let gone = of(2).session().execute("SELECT * FROM s").await.err().expect("it is gone");
    assert_eq!(gone.state().code(), "42P01");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queries_survive_changes_of_definitions() {
    let servers = servers().await;
    let of = |server: usize| servers.servers()[server].database.clone();
    execute(&of(0), "CREATE TABLE t (id bigint PRIMARY KEY, v bigint)").await;
    execute(&of(0), "INSERT INTO t SELECT i, 1 FROM generate_series(1, 3000) AS g(i)").await;
    until_spread(&servers, "t").await;
    let is_over = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let readers = [1, 2].map(|server| {
        let (database, is_over) = (of(server), std::sync::Arc::clone(&is_over));
        tokio::spawn(async move {
            let mut read = 0;
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                assert_eq!(number(&database, "SELECT sum(v)::bigint FROM t").await, 3000);
                read += 1;
            }
            read
        })
    });
    for round in 0..15 {
        execute(&of(0), &format!("ALTER TABLE t ADD COLUMN c{round} bigint DEFAULT 7")).await;
        execute(&of(0), &format!("ALTER TABLE t DROP COLUMN c{round}")).await;
    }
    is_over.store(true, std::sync::atomic::Ordering::Relaxed);
    for reader in readers {
        assert!(reader.await.expect("no query fails") > 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_reads_rows_that_come_to_its_own_server_while_it_reads() {
    let servers = servers().await;
    let member = |server: usize| &servers.servers()[server];
    execute(&member(0).database, "CREATE TABLE other (id bigint PRIMARY KEY)").await;
    execute(&member(1).database, "CREATE TABLE t (id bigint PRIMARY KEY, v bigint)").await;
    execute(&member(1).database, "INSERT INTO t VALUES (1, 10), (2, 20)").await;
    let table =
        member(0).cluster.store().catalog().relations().find_map(|relation| match relation {
            Relation::Table(table) if table.name == "t" => Some(table.id),
            _ => None,
        });
    let table = table.expect("it was created");
    give_all(&servers, table, 1).await;
    let session = member(0).database.session();
    for setting in ["pando.gather = pull", "pando.pull_window = 1"] {
        session.execute(&format!("SET {setting}")).await.expect("set");
    }
    session.begin().await.expect("begun");
    session.execute("INSERT INTO other VALUES (1)").await.expect("written");
    let rows = session.query("SELECT sum(v)::bigint FROM t").await.expect("planned");
    give_all(&servers, table, 0).await;
    let batches: Vec<_> = rows.stream.try_collect().await.expect("read where they are now");
    let sums = batches.iter().filter(|batch| batch.num_rows() > 0);
    let sums: Vec<i64> = sums
        .map(|batch| batch.column(0).as_primitive::<arrow::datatypes::Int64Type>().value(0))
        .collect();
    assert_eq!(sums, [30]);
    session.commit().await.expect("committed");
}

/// Moves a table to one server, whatever else moves it meanwhile.
async fn give_all(servers: &InProcess, table: TableId, to: usize) {
    let to = servers.servers()[to].cluster.store().group();
    for server in servers.servers() {
        while server.cluster.store().group() != to {
            let buckets = server.cluster.store().bucket_infos(table);
            let Some(bucket) = buckets.first() else { break };
            let _ = server.cluster.give(table, &bucket.range, to).await;
            tokio::task::yield_now().await;
        }
    }
}
