//! Statements fail only if they need a server that has crashed or does not respond.

use crate::harness::{ROWS, filled, id_at, join, number, run, soon, three, until};
use std::time::{Duration, Instant};
use tokio_postgres::Client;
use tokio_postgres::error::DbError;

/// The error of a statement that needs an unavailable server.
async fn assert_misses(client: &Client, sql: &str, server: &str) -> DbError {
    let error = soon(client.execute(sql, &[])).await.expect_err(sql);
    let error = error.as_db_error().unwrap_or_else(|| panic!("{sql}: {error:?}"));
    assert_eq!(error.code().code(), "08006", "{sql}: {error:?}");
    assert!(error.message().contains(server), "{sql}: {error:?}");
    error.clone()
}

/// The same, with checks of the detail and hint on missing rows.
async fn assert_misses_rows(client: &Client, sql: &str, server: &str) {
    let error = assert_misses(client, sql, server).await;
    let has = error.detail().unwrap_or_else(|| panic!("{sql}: {error:?}"));
    assert!(has.starts_with("It has ") && has.ends_with(" of table \"t\"."), "{sql}: {error:?}");
    if let Some((_, id)) = sql.split_once("id = ") {
        assert!(has.contains(&format!("(id)=({id})")) || has.contains(&format!(" {id} ")), "{has}");
    }
    let is_lost = error.message().contains("evicted");
    assert_eq!(
        error.hint().is_some_and(|hint| hint.contains("drop and load")),
        is_lost,
        "{error:?}"
    );
}

#[tokio::test]
async fn a_killed_server_fails_only_statements_that_need_it() {
    let [first, second, mut third] = three();
    let (one, two) = (first.connect().await, second.connect().await);
    filled(&one, 3).await;
    let (here, there) = (id_at(&two).await, id_at(&third.connect().await).await);
    third.signal("-KILL");
    assert!(!third.end().success());
    let needs_it = [
        "SELECT count(*) FROM t".to_owned(),
        format!("SELECT n FROM t WHERE id = {there}"),
        format!("UPDATE t SET n = n + 1 WHERE id = {there}"),
        "UPDATE t SET n = n + 1".to_owned(),
        "UPDATE t SET n = random()".to_owned(),
    ];
    let others = format!("UPDATE t SET n = n + 1 WHERE id = {here}");
    let mut changed = 0;
    for is_evicted in [false, true] {
        if is_evicted {
            until(&one, "SELECT state = 'lost' FROM pando.servers WHERE name = 'three'").await;
        }
        for client in [&one, &two] {
            for sql in &needs_it {
                assert_misses_rows(client, sql, "\"three\"").await;
            }
            changed += 1;
            assert_eq!(run(client, &others).await, 1);
            let n = format!("SELECT n FROM t WHERE id = {here}");
            assert_eq!(number(client, &n).await, changed);
        }
    }
    run(&two, "CREATE TABLE after (id bigint PRIMARY KEY)").await;
    run(&one, "INSERT INTO after SELECT n FROM generate_series(1, 100) n").await;
    run(&one, "DROP TABLE t").await;
    let again = join("three", &first);
    assert_eq!(number(&again.connect().await, "SELECT count(*) FROM after").await, 100);
    filled(&one, 3).await;
}

#[tokio::test]
async fn a_stopped_process_is_waited_for() {
    let [first, _second, third] = three();
    let (one, other) = (first.connect().await, first.connect().await);
    filled(&one, 3).await;
    let (here, there) = (id_at(&one).await, id_at(&third.connect().await).await);
    third.signal("-STOP");
    let waiting = tokio::spawn(async move {
        soon(other.execute(&format!("UPDATE t SET n = 1 WHERE id = {there}"), &[])).await
    });
    let begun = Instant::now();
    // Shorter than the deadline between servers, and longer than a heartbeat's.
    while begun.elapsed() < Duration::from_secs(2) {
        assert_eq!(run(&one, &format!("UPDATE t SET n = 1 WHERE id = {here}")).await, 1);
    }
    assert!(!waiting.is_finished());
    third.signal("-CONT");
    assert_eq!(waiting.await.expect("it ends").expect("it was waited for"), 1);
    assert_eq!(number(&one, "SELECT sum(n)::bigint FROM t").await, 2);
    assert_eq!(number(&third.connect().await, "SELECT count(*) FROM t").await, ROWS);
}

#[tokio::test]
async fn a_server_that_leaves_with_rows_is_evicted_at_once() {
    let [first, _second, mut third] = three();
    let one = first.connect().await;
    filled(&one, 3).await;
    third.signal("-TERM");
    assert!(third.end().success());
    let lost = "SELECT count(*) FROM pando.servers WHERE name = 'three' AND state = 'lost'";
    assert_eq!(number(&one, lost).await, 1);
    assert_misses(&one, "SELECT count(*) FROM t", "rows are lost").await;
    run(&one, "DROP TABLE t").await;
    filled(&one, 2).await;
}

#[tokio::test]
async fn without_the_first_server_statements_fail_with_its_name() {
    let [mut first, second, _third] = three();
    let two = second.connect().await;
    filled(&two, 3).await;
    let here = id_at(&two).await;
    first.signal("-KILL");
    assert!(!first.end().success());
    for sql in [
        "SELECT count(*) FROM t".to_owned(),
        format!("UPDATE t SET n = 1 WHERE id = {here}"),
        "CREATE TABLE after (id bigint PRIMARY KEY)".to_owned(),
    ] {
        assert_misses(&two, &sql, "\"one\"").await;
    }
    assert_eq!(number(&two, "SELECT 1::bigint").await, 1);
    let named = "SELECT count(*) FROM pando.servers WHERE name = 'one' AND state <> 'up'";
    assert_eq!(number(&two, named).await, 1);
    assert!(!two.is_closed(), "the session is still there");
}
