//! Clients with images: they learn the owners of rows, and send requests to the owners.

use crate::harness::{ROWS, Server, filled, number, run, soon, three, until};
use client::{Client, Parameters, Statement};
use tokio_postgres::NoTls;

/// Messages between servers so far, without heartbeats.
const MESSAGES: &str = "SELECT sum(messages_sent)::bigint FROM pando.servers";

/// Three servers with the rows of `t`, after all moves, when each server knows the others' addresses for clients.
async fn at_rest() -> ([Server; 3], tokio_postgres::Client) {
    let servers = three();
    let client = servers[0].connect().await;
    filled(&client, 3).await;
    run(&client, "ALTER SYSTEM SET pando.moves = paused").await;
    let under_way =
        "SELECT count(*) = 0 FROM pando.moves WHERE state IN ('copying', 'waiting', 'frozen')";
    until(&client, under_way).await;
    until(&client, "SELECT bool_and(pg IS NOT NULL) FROM pando.servers").await;
    (servers, client)
}

async fn with_image(server: &Server) -> Client {
    let config = server.url().parse().expect("a URL");
    soon(Client::connect(config, NoTls)).await.expect("connected")
}

async fn prepared(client: &Client, sql: &str) -> Statement {
    soon(client.prepare(sql)).await.expect(sql)
}

/// Reads the rows of all keys, and returns their `n`.
async fn read_all(client: &Client, select: &Statement, ids: &[i64]) -> Vec<i64> {
    let given = ids.iter().map(|id| vec![id as _]);
    let rows = soon(client.query_all(select, given)).await.expect("rows");
    rows.iter().map(|rows| rows[0].get(0)).collect()
}

#[tokio::test]
async fn a_client_learns_the_owners_of_rows() {
    let (servers, client) = at_rest().await;
    let with_image = with_image(&servers[2]).await;
    let select = prepared(&with_image, " SELECT n FROM t WHERE id = $1; ").await;
    let update = prepared(&with_image, "UPDATE t SET n = n + $2 WHERE id = $1").await;
    let ids: Vec<i64> = (1..=ROWS).collect();
    assert!(read_all(&with_image, &select, &ids).await.iter().all(|n| *n == 0));

    // The image is correct: no server asks another. The few messages that there may be are not about rows.
    let (messages, before) = (number(&client, MESSAGES).await, with_image.counters());
    assert!(read_all(&with_image, &select, &ids).await.iter().all(|n| *n == 0));
    let sent = number(&client, MESSAGES).await - messages;
    assert!(sent < ROWS / 100, "{sent} messages, {:?}", with_image.counters());
    let after = with_image.counters();
    assert_eq!(after.to_owners - before.to_owners, ids.len() as u64);

    let given: Vec<Parameters<'_>> = ids.iter().map(|id| vec![id as _, id as _]).collect();
    let changed = soon(with_image.execute_all(&update, given)).await.expect("updated");
    assert!(changed.iter().all(|rows| *rows == 1));
    assert_eq!(read_all(&with_image, &select, &ids).await, ids);
    assert_eq!(number(&client, "SELECT sum(n)::bigint FROM t").await, ROWS * (ROWS + 1) / 2);
}

#[tokio::test]
async fn moved_rows_are_found_and_the_image_is_corrected() {
    let (mut servers, client) = at_rest().await;
    let with_image = with_image(&servers[0]).await;
    let select = prepared(&with_image, "SELECT n FROM t WHERE id = $1").await;
    let insert = prepared(&with_image, "INSERT INTO t VALUES ($1, 7)").await;
    let delete = prepared(&with_image, "DELETE FROM t WHERE id = $1").await;
    let ids: Vec<i64> = (1..=ROWS).collect();
    read_all(&with_image, &select, &ids).await;

    run(&client, "ALTER SYSTEM SET pando.moves = running").await;
    run(&client, "SELECT pando.set_weight('two', 0)").await;
    until(&client, "SELECT state = 'empty' FROM pando.servers WHERE name = 'two'").await;
    assert!(read_all(&with_image, &select, &ids).await.iter().all(|n| *n == 0));
    servers[1].signal("-TERM");
    servers[1].end();
    assert!(read_all(&with_image, &select, &ids).await.iter().all(|n| *n == 0));

    for id in [3_i64, ROWS / 2, ROWS] {
        assert_eq!(soon(with_image.execute(&delete, &[&id])).await.expect("deleted"), 1);
        assert_eq!(soon(with_image.execute(&insert, &[&id])).await.expect("inserted"), 1);
        let twice = soon(with_image.execute(&insert, &[&id])).await.expect_err("it exists");
        assert!(
            twice.to_string().contains("duplicate key") || format!("{twice:?}").contains("23505"),
            "{twice:?}"
        );
    }
    assert_eq!(number(&client, "SELECT sum(n)::bigint FROM t").await, 21);
}
