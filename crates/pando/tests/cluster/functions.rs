//! Functions in other languages, which run at the owners of the rows, while they are replaced and while an owner is killed.

use crate::harness::{ROWS, Server, filled, number, run, soon, until};
use crate::restarting::{killed_and_started, three};
use tempfile::TempDir;
use tokio::task::JoinSet;
use tokio_postgres::Client;

/// Definitions of `kept`, each of which keeps another number of tenths of the rows.
const DEFINITIONS: i64 = 5;

/// The query whose condition the owners evaluate.
const COUNT: &str = "SELECT count(*) FROM t WHERE kept(n)";

async fn define(client: &Client, tenths: i64) {
    let sql = format!(
        "CREATE OR REPLACE FUNCTION kept(n bigint) RETURNS boolean LANGUAGE javascript IMMUTABLE STRICT \
         AS 'return Number(n) % 10 < {tenths}'"
    );
    soon(client.batch_execute(&sql)).await.expect("defined");
}

/// The number of rows that one of the definitions keeps. A plan may name a definition that an owner has no more.
async fn counted(client: &Client) -> i64 {
    loop {
        match soon(client.query_one(COUNT, &[])).await {
            Ok(row) => return row.get(0),
            Err(error) => {
                assert_eq!(error.code().map(|code| code.code()), Some("40001"), "{error:?}");
            }
        }
    }
}

/// Bytes that the servers have sent to each other so far.
async fn bytes(client: &Client) -> i64 {
    number(client, "SELECT sum(bytes_sent)::bigint FROM pando.servers").await
}

/// The bytes that a query moves which keeps no rows: the least of some, as buckets may still move between servers.
async fn least_moved(client: &Client) -> i64 {
    let mut least = i64::MAX;
    for _ in 0..20 {
        let before = bytes(client).await;
        assert_eq!(counted(client).await, 0);
        least = least.min(bytes(client).await - before);
    }
    least
}

async fn everywhere(servers: &[Server], expected: i64) {
    for server in servers {
        let client = server.connect().await;
        until(&client, "SELECT count(*) = 3 FROM pando.servers WHERE state = 'up'").await;
        assert_eq!(counted(&client).await, expected, "at {}", server.name);
    }
}

#[tokio::test]
async fn functions_run_at_the_owners_while_they_are_replaced_and_an_owner_is_killed() {
    let folder = TempDir::new().expect("a folder");
    let mut servers = three(folder.path());
    let client = servers[0].connect().await;
    filled(&client, 3).await;
    run(&client, "UPDATE t SET n = id").await;
    define(&client, 0).await;
    let moved = least_moved(&client).await;
    assert!(moved < ROWS, "{moved} bytes moved for {ROWS} rows of which none is kept");

    define(&client, 1).await;
    let mut readers = JoinSet::new();
    for server in &servers {
        let reader = server.connect().await;
        readers.spawn(async move {
            for _ in 0..40 {
                let kept = counted(&reader).await;
                assert!(kept % (ROWS / 10) == 0 && kept <= ROWS / 10 * DEFINITIONS, "{kept} rows");
            }
        });
    }
    for turn in 0..40 {
        define(&client, turn % DEFINITIONS + 1).await;
    }
    while let Some(reader) = readers.join_next().await {
        reader.expect("no panic");
    }
    everywhere(&servers, ROWS / 10 * DEFINITIONS).await;

    let root = servers[0].address.clone();
    killed_and_started(folder.path(), &mut servers[1], &root);
    everywhere(&servers, ROWS / 10 * DEFINITIONS).await;
    define(&servers[1].connect().await, 2).await;
    everywhere(&servers, ROWS / 5).await;
}
