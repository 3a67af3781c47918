//! Clients of any server see one database.

use crate::harness::{ROWS, filled, number, run, three, until};
use std::process::Command;

#[tokio::test]
async fn every_server_reads_and_changes_tables_of_others() {
    let servers = three();
    let [one, two, three] =
        [servers[0].connect().await, servers[1].connect().await, servers[2].connect().await];
    filled(&two, 3).await;
    for client in [&one, &two, &three] {
        assert_eq!(number(client, "SELECT count(*) FROM t").await, ROWS);
    }
    assert_eq!(run(&three, "UPDATE t SET n = n + 1 WHERE id % 2 = 0").await, ROWS as u64 / 2);
    assert_eq!(number(&one, "SELECT sum(n)::bigint FROM t").await, ROWS / 2);
    assert_eq!(run(&one, "DELETE FROM t WHERE id % 100 = 0").await, ROWS as u64 / 100);
    assert_eq!(number(&two, "SELECT count(*) FROM t").await, ROWS - ROWS / 100);
    run(&three, "ALTER TABLE t ADD COLUMN name text DEFAULT 'none'").await;
    run(&one, "INSERT INTO t VALUES (-1, 0, 'a name')").await;
    let named = "SELECT count(*) FROM t WHERE name <> 'none' AND id = $1";
    let prepared = two.prepare(named).await.expect("prepared");
    let row = two.query_one(&prepared, &[&-1i64]).await.expect("a row");
    assert_eq!(row.get::<_, i64>(0), 1);
}

#[tokio::test]
async fn a_transaction_on_all_servers_is_atomic() {
    let servers = three();
    let (one, three) = (servers[0].connect().await, servers[2].connect().await);
    filled(&one, 3).await;
    run(&three, "BEGIN").await;
    run(&three, "UPDATE t SET n = 1").await;
    assert_eq!(number(&three, "SELECT sum(n)::bigint FROM t").await, ROWS);
    assert_eq!(number(&one, "SELECT sum(n)::bigint FROM t").await, 0);
    run(&three, "COMMIT").await;
    assert_eq!(number(&one, "SELECT sum(n)::bigint FROM t").await, ROWS);
    run(&three, "BEGIN").await;
    run(&three, "UPDATE t SET n = 2").await;
    run(&one, "SET lock_timeout = '200ms'").await;
    let refused = one.execute("UPDATE t SET n = 3 WHERE id = 1", &[]).await;
    let refused = refused.expect_err("another transaction has changed the row");
    assert_eq!(refused.code().map(|code| code.code()), Some("55P03"), "{refused}");
    run(&three, "ROLLBACK").await;
    run(&one, "UPDATE t SET n = 3 WHERE id = 1").await;
    assert_eq!(number(&one, "SELECT sum(n)::bigint FROM t").await, ROWS + 2);
}

#[tokio::test]
async fn status_shows_every_server() {
    let servers = three();
    let client = servers[0].connect().await;
    filled(&client, 3).await;
    let status = |more: &[&str]| {
        let mut command: Command = crate::harness::pando(&["status", &servers[2].url()]);
        crate::harness::told(&command.args(more).output().expect("pando runs"))
    };
    let (is_content, shown, stderr) = status(&[]);
    assert!(is_content, "{stderr}");
    for server in &servers {
        assert!(shown.contains(&server.address) && shown.contains(&server.name), "{shown}");
    }
    assert!(shown.contains("public.t") && shown.contains("running"), "{shown}");
    let (is_content, shown, stderr) = status(&["--json"]);
    assert!(is_content, "{stderr}");
    let line = shown.lines().find(|line| line.contains("\"two\"")).expect("a line a server");
    assert!(line.starts_with('{') && line.contains("\"state\":\"up\""), "{line}");
}

#[tokio::test]
async fn moves_can_be_paused_through_any_server() {
    let [first, second, third] = three();
    let (one, two) = (first.connect().await, second.connect().await);
    run(&two, "ALTER SYSTEM SET pando.moves = paused").await;
    run(&two, "ALTER SYSTEM SET pando.move_bytes_per_second = '50MB'").await;
    let three = third.connect().await;
    for client in [&one, &two, &three] {
        let setting = "FROM pando.settings WHERE name = 'pando.moves' AND setting = 'paused'";
        until(client, &format!("SELECT count(*) = 1 {setting}")).await;
        let limit = "SELECT current_setting('pando.move_bytes_per_second')::bigint";
        assert_eq!(number(client, limit).await, 50_000_000);
    }
    let create = "CREATE TABLE t (id bigint PRIMARY KEY, n bigint) WITH (bucket_size = '16KiB')";
    run(&one, create).await;
    run(&three, "INSERT INTO t SELECT n, 0 FROM generate_series(1, 6000) n").await;
    let shares = "FROM pando.shares WHERE \"table\" = 't'";
    assert_eq!(number(&two, &format!("SELECT count(*) {shares}")).await, 1);
    for (sql, code) in [
        ("SET pando.moves = paused", "55P02"),
        ("ALTER SYSTEM SET pando.moves = sometimes", "22023"),
        ("ALTER SYSTEM SET pando.move_bytes_per_second = '10'", "22023"),
        ("ALTER SYSTEM SET work_mem = '4MB'", "0A000"),
        ("ALTER SYSTEM SET pando.nothing = 1", "42704"),
    ] {
        let error = one.execute(sql, &[]).await.expect_err(sql);
        assert_eq!(error.code().map(|state| state.code()), Some(code), "{sql}: {error:?}");
    }
    let inside = one.batch_execute("BEGIN; ALTER SYSTEM RESET pando.moves").await;
    assert_eq!(inside.expect_err("in a block").code().map(|s| s.code()), Some("25001"));
    run(&one, "ROLLBACK").await;
    run(&three, "ALTER SYSTEM RESET pando.moves").await;
    until(&one, &format!("SELECT count(*) = 3 {shares}")).await;
}

#[tokio::test]
async fn every_server_reports_its_state() {
    let [first, second, third] = three();
    let (one, two, three) = (first.connect().await, second.connect().await, third.connect().await);
    filled(&one, 3).await;
    for client in [&one, &two, &three] {
        let of_table = "WHERE \"table\" = 't'";
        let servers = format!("SELECT count(DISTINCT server) = 3 FROM pando.buckets {of_table}");
        until(client, &servers).await;
        until(client, &format!("SELECT sum(rows) = {ROWS} FROM pando.buckets {of_table}")).await;
        let runs = format!("SELECT count(DISTINCT server) = 3 FROM pando.runs {of_table}");
        until(client, &runs).await;
    }
    let sleeping = tokio::spawn(async move { two.execute("SELECT pg_sleep(3)", &[]).await });
    let seen = "WHERE server = 'two' AND text LIKE '%pg_sleep%'";
    until(&three, &format!("SELECT count(*) = 1 FROM pando.queries {seen}")).await;
    sleeping.await.expect("it ends").expect("it has slept");
}
