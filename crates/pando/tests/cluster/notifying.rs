//! LISTEN and NOTIFY over three servers: who listens on one hears what sessions of all have notified, when it has
//! committed, and in the order of each transaction.

use crate::harness::{Server, run, soon, three};
use futures::StreamExt;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_postgres::{AsyncMessage, Client, Config, NoTls, Notification};

/// A client, and what it hears.
async fn listening(server: &Server) -> (Client, UnboundedReceiver<Notification>) {
    let (host, port) = server.pg.split_once(':').expect("host and port");
    let mut config = Config::new();
    config.host(host).port(port.parse().expect("a port")).user("ada").dbname("pando");
    let (client, mut connection) = soon(config.connect(NoTls)).await.expect("connected");
    let (heard, hears) = unbounded_channel();
    tokio::spawn(async move {
        let mut messages =
            futures::stream::poll_fn(move |context| connection.poll_message(context));
        while let Some(Ok(message)) = messages.next().await {
            if let AsyncMessage::Notification(notification) = message {
                let _ = heard.send(notification);
            }
        }
    });
    (client, hears)
}

/// The next notifications: channels and payloads.
async fn next(hears: &mut UnboundedReceiver<Notification>, count: usize) -> Vec<String> {
    let mut all = Vec::new();
    for _ in 0..count {
        let one = soon(hears.recv()).await.expect("connected");
        all.push(format!("{} {}", one.channel(), one.payload()));
    }
    all
}

#[tokio::test]
async fn who_listens_hears_sessions_of_all_servers() {
    let servers = three();
    let (one, mut hears) = listening(&servers[0]).await;
    let (two, three) = (servers[1].connect().await, servers[2].connect().await);
    run(&one, "LISTEN news").await;
    run(&one, "LISTEN \"Other News\"").await;
    for (client, number) in [(&two, 2), (&three, 3), (&one, 1)] {
        run(client, &format!("NOTIFY news, 'from {number}'")).await;
        let pid: i32 =
            client.query_one("SELECT pg_backend_pid()", &[]).await.expect("a row").get(0);
        let one = soon(hears.recv()).await.expect("connected");
        assert_eq!(
            (one.channel(), one.payload(), one.process_id()),
            ("news", &*format!("from {number}"), pid)
        );
    }
    run(&three, "NOTIFY \"Other News\"").await;
    run(&two, "SELECT pg_notify('news', repeat('ä', 3000))").await;
    let heard = next(&mut hears, 2).await;
    assert_eq!(heard, ["Other News ".to_owned(), format!("news {}", "ä".repeat(3_000))]);
}

#[tokio::test]
async fn notifications_come_with_the_commit_in_their_order_and_once() {
    let servers = three();
    let (one, mut hears) = listening(&servers[0]).await;
    let (two, three) = (servers[1].connect().await, servers[2].connect().await);
    run(&one, "LISTEN a").await;
    run(&one, "LISTEN b").await;
    run(&two, "CREATE TABLE t (id int PRIMARY KEY)").await;
    run(&two, "BEGIN").await;
    for (channel, payload) in [("b", "1"), ("a", "2"), ("b", "1"), ("b", "3"), ("c", "4")] {
        run(&two, &format!("NOTIFY {channel}, '{payload}'")).await;
    }
    run(&two, "INSERT INTO t VALUES (1)").await;
    run(&two, "SAVEPOINT s").await;
    run(&two, "NOTIFY a, 'taken back'").await;
    run(&two, "ROLLBACK TO s").await;
    run(&two, "NOTIFY a, '5'").await;
    run(&three, "NOTIFY a, 'before the commit'").await;
    assert_eq!(next(&mut hears, 1).await, ["a before the commit"]);
    run(&two, "COMMIT").await;
    assert_eq!(next(&mut hears, 4).await, ["b 1", "a 2", "b 3", "a 5"]);

    // What is rolled back, or fails, says nothing.
    run(&three, "BEGIN").await;
    run(&three, "NOTIFY a, 'rolled back'").await;
    run(&three, "ROLLBACK").await;
    run(&three, "BEGIN").await;
    run(&three, "NOTIFY a, 'failed'").await;
    three.execute("INSERT INTO t VALUES (1)", &[]).await.expect_err("the key is there");
    run(&three, "COMMIT").await;
    for number in 0..20 {
        run(&three, &format!("NOTIFY b, '{number}'")).await;
    }
    let expected: Vec<String> = (0..20).map(|number| format!("b {number}")).collect();
    assert_eq!(next(&mut hears, 20).await, expected);

    // Who listens in a transaction hears when it has ended.
    run(&one, "BEGIN").await;
    run(&two, "NOTIFY a, 'meanwhile'").await;
    assert!(tokio::time::timeout(Duration::from_millis(300), hears.recv()).await.is_err());
    run(&one, "COMMIT").await;
    assert_eq!(next(&mut hears, 1).await, ["a meanwhile"]);
}

#[tokio::test]
async fn nobody_hears_who_has_ceased_to_listen() {
    let servers = three();
    let (one, mut hears) = listening(&servers[0]).await;
    let (two, mut also_hears) = listening(&servers[1]).await;
    let three = servers[2].connect().await;
    for client in [&one, &two] {
        run(client, "LISTEN a").await;
        run(client, "LISTEN b").await;
    }
    run(&one, "UNLISTEN a").await;
    run(&three, "NOTIFY a, '1'").await;
    run(&three, "NOTIFY b, '2'").await;
    assert_eq!(next(&mut hears, 1).await, ["b 2"]);
    assert_eq!(next(&mut also_hears, 2).await, ["a 1", "b 2"]);
    let channels: Vec<String> = soon(one.query("SELECT pg_listening_channels()", &[]))
        .await
        .expect("rows")
        .iter()
        .map(|row| row.get(0))
        .collect();
    assert_eq!(channels, ["b"]);

    // A LISTEN that is rolled back has never been.
    run(&one, "BEGIN").await;
    run(&one, "LISTEN a").await;
    run(&one, "ROLLBACK").await;
    run(&one, "UNLISTEN *").await;
    run(&two, "NOTIFY a, '3'").await;
    run(&three, "NOTIFY b, '4'").await;
    assert_eq!(next(&mut also_hears, 2).await, ["a 3", "b 4"]);
    assert!(tokio::time::timeout(Duration::from_millis(300), hears.recv()).await.is_err());
}
