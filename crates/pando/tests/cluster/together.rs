//! Whatever server a client talks to, it sees one database.

use crate::harness::{ROWS, filled, number, run, three};
use std::process::Command;

#[tokio::test]
async fn any_server_reads_and_changes_what_another_made() {
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
async fn a_transaction_on_all_servers_is_seen_whole_or_not_at_all() {
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
    let refused = one.execute("UPDATE t SET n = 3 WHERE id = 1", &[]).await;
    assert!(refused.is_err() || number(&one, "SELECT n FROM t WHERE id = 1").await == 3);
    let _ = three.batch_execute("ROLLBACK").await;
    assert!(number(&one, "SELECT sum(n)::bigint FROM t").await <= ROWS + 2);
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
    let (is_content, shown, said) = status(&[]);
    assert!(is_content, "{said}");
    for server in &servers {
        assert!(shown.contains(&server.address) && shown.contains(&server.name), "{shown}");
    }
    assert!(shown.contains("public.t"), "{shown}");
    let (is_content, shown, said) = status(&["--json"]);
    assert!(is_content, "{said}");
    let line = shown.lines().find(|line| line.contains("\"two\"")).expect("a line a server");
    assert!(line.starts_with('{') && line.contains("\"state\":\"up\""), "{line}");
}
