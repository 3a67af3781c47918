//! A `pando serve` process with clients.

mod check;
mod composites;
mod crashes;
mod durable;
mod figures;
mod formats;
mod harness;
mod http;
mod limits;
mod messages;
mod mutations;
mod protocol;
mod raw;
mod roles;
mod sandboxes;
mod sessions;
mod sql_seeds;
mod stopped;
mod stopping;
mod stored;
mod system_types;
mod triggers;
mod wire;

use harness::{command, connect, get, serve, signal};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use tokio_postgres::{NoTls, SimpleQueryMessage};

#[tokio::test]
async fn a_client_prepares_copies_and_reads() {
    let served = serve(&[]);
    let client = connect(&served, "anybody", None).await.expect("trusted on this machine");
    client
        .batch_execute("CREATE TABLE t (id bigint PRIMARY KEY, name text, at timestamptz)")
        .await
        .expect("created");
    let insert =
        client.prepare("INSERT INTO t (id, name) VALUES ($1, $2)").await.expect("prepared");
    for id in 0..10i64 {
        let name = (id % 2 == 0).then(|| format!("name {id}"));
        assert_eq!(client.execute(&insert, &[&id, &name]).await.expect("inserted"), 1);
    }
    let rows = client
        .query("SELECT id, name FROM t WHERE id >= $1 ORDER BY id", &[&8i64])
        .await
        .expect("rows");
    let rows: Vec<(i64, Option<String>)> =
        rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert_eq!(rows, [(8, Some("name 8".to_owned())), (9, None)]);
    let sink = client.copy_in("COPY t (id, name) FROM STDIN (FORMAT csv)").await.expect("copying");
    let mut sink = Box::pin(sink);
    futures::SinkExt::send(&mut sink, bytes::Bytes::from_static(b"100,\"a,b\"\n101,\n"))
        .await
        .expect("sent");
    assert_eq!(sink.as_mut().finish().await.expect("copied"), 2);
    let error = client.execute(&insert, &[&100i64, &"again"]).await.expect_err("a duplicate");
    assert_eq!(error.code().map(|code| code.code()), Some("23505"));
    let messages =
        client.simple_query("SELECT count(*) FROM t; SELECT 'two'").await.expect("answers");
    let values = messages.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    });
    assert_eq!(values.collect::<Vec<_>>(), ["12", "two"]);
}

#[tokio::test]
async fn statements_of_one_message_are_one_transaction() {
    let served = serve(&[]);
    let client = connect(&served, "u", None).await.expect("connected");
    client.batch_execute("CREATE TABLE t (id int PRIMARY KEY)").await.expect("created");
    let together = "INSERT INTO t VALUES (1); INSERT INTO t VALUES (1)";
    client.batch_execute(together).await.expect_err("a duplicate");
    let count = client.query_one("SELECT count(*) FROM t", &[]).await.expect("a row");
    assert_eq!(count.get::<_, i64>(0), 0);
}

#[tokio::test]
async fn a_statement_is_cancelled_while_it_keeps_all_workers_busy() {
    let served = serve(&[]);
    let client = connect(&served, "u", None).await.expect("connected");
    let token = client.cancel_token();
    let long = "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 100000) b";
    let statement = client.query_one(long, &[]);
    let cancel = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        token.cancel_query(NoTls).await
    };
    let (answer, cancelled) = tokio::join!(statement, cancel);
    cancelled.expect("asked");
    assert_eq!(answer.expect_err("ended").code().map(|code| code.code()), Some("57014"));
    client.query_one("SELECT 1", &[]).await.expect("the session goes on");
}

#[tokio::test]
async fn a_superuser_needs_the_password() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("password");
    std::fs::write(&file, "sesame\n").expect("written");
    let file = file.to_str().expect("text");
    let served = serve(&["--superuser", "ada", "--superuser-password-file", file]);
    connect(&served, "ada", Some("sesame")).await.expect("the right password");
    for (user, password) in [("ada", "open"), ("eve", "sesame")] {
        let error = connect(&served, user, Some(password)).await.map(drop).expect_err("refused");
        assert_eq!(error.code().map(|code| code.code()), Some("28P01"), "{user}");
    }
}

#[tokio::test]
async fn health_metrics_and_shutdown() {
    let mut served = serve(&["--shutdown-grace", "5s"]);
    let client = connect(&served, "u", None).await.expect("connected");
    client.query_one("SELECT 1", &[]).await.expect("a row");
    assert!(get(&served.http, "/healthz").ends_with("ok\n"));
    let metrics = get(&served.http, "/metrics");
    assert!(metrics.contains("pando_connections_open 1"), "{metrics}");
    assert!(
        metrics.contains("pando_statement_duration_seconds_count{kind=\"select\"} 1"),
        "{metrics}"
    );
    signal(&served, "-TERM");
    assert!(served.process.wait().expect("ended").success());
    let mut rest = String::new();
    served.stdout.read_to_string(&mut rest).expect("text");
    assert_eq!(rest, "");
}

#[test]
fn invalid_settings_are_named() {
    let stderr = |arguments: &[&str]| {
        let output = command(arguments).output().expect("pando runs");
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        String::from_utf8(output.stderr).expect("text")
    };
    assert!(stderr(&["--threads", "none"]).contains("threads = \"none\""));
    assert!(stderr(&["--pg", "0.0.0.0:0", "--http", "127.0.0.1:0"]).contains("--superuser"));
    assert!(stderr(&["--config", "/nowhere/pando.toml"]).contains("/nowhere/pando.toml"));
}

#[test]
fn garbage_ends_only_its_own_connection() {
    let served = serve(&[]);
    for garbage in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        &[0xff; 64],
        &[0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f, 0x16, 3, 1],
        &[0, 0, 0, 4],
        &[0, 0, 0, 9, 0, 3, 0, 0, 0],
    ] {
        let mut stream = TcpStream::connect(&served.pg).expect("a listener");
        stream.write_all(garbage).expect("sent");
        stream.shutdown(std::net::Shutdown::Write).expect("ended");
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
    }
    assert!(get(&served.http, "/healthz").ends_with("ok\n"));
}
