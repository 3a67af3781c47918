//! Interactive sessions whose server ends.

use super::*;
use ::server::Server;
use ::server::config::{Config, Values};
use futures::StreamExt;
use query::{Database, Options};
use std::net::SocketAddr;
use std::time::Duration;

async fn serve(at: &str) -> Server {
    let given = [("pg", at), ("http", "127.0.0.1:0")].map(|(n, v)| (n.to_owned(), v.to_owned()));
    let values = Values::gather(&given, |_| None, None).expect("are settings");
    let config = Config::of(&values).expect("is a configuration");
    let database = Database::open(Options::default()).expect("opens");
    Server::start(&config, database).await.expect("starts")
}

/// Stops a server, waits until the session has received its last message, and starts another one at the same address.
async fn replace(server: Server, remote: &mut Remote) -> Server {
    let at: SocketAddr = server.pg();
    server.stop(Duration::ZERO).await;
    remote.connection.as_mut().expect("is connected").receive_to_end().await;
    serve(&at.to_string()).await
}

async fn conversation() -> (Server, Remote) {
    let server = serve("127.0.0.1:0").await;
    let url = format!("postgres://ada@{}/pando", server.pg());
    let address = Address::of(Some(&url), |_| None).expect("valid");
    let mut remote = Remote::open(address).await.expect("connects");
    remote.converse();
    (server, remote)
}

/// Runs a statement and returns the tags and notices of its answer.
async fn run(remote: &mut Remote, text: &str) -> Result<Vec<String>, SqlError> {
    let mut messages = Vec::new();
    let outcome = async {
        remote.start(text).await?;
        while let Some(answer) = remote.next().await? {
            match answer {
                Answer::Done(done) => messages.push(done.command),
                Answer::Notice(notice) => messages.push(notice.to_string()),
                Answer::Rows(mut rows) => {
                    while let Some(batch) = rows.batches.next().await {
                        batch?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    };
    match outcome.await {
        Ok(()) => Ok(messages),
        Err(error) => Err(remote.recover(error).await),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_without_state_reconnects() {
    let (server, mut remote) = conversation().await;
    assert_eq!(run(&mut remote, "CREATE TABLE t (n int)").await, Ok(vec!["CREATE TABLE".into()]));
    let server = replace(server, &mut remote).await;
    let messages = run(&mut remote, "CREATE TABLE t (n int)").await.expect("is run");
    assert!(
        messages[0].contains("was lost") && messages[0].ends_with("reconnected"),
        "{messages:?}"
    );
    assert!(messages[0].contains("administrator command"), "{messages:?}");
    assert_eq!(messages[1..], ["CREATE TABLE"]);
    server.stop(Duration::ZERO).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_is_not_run_without_its_transaction_or_settings() {
    let (mut server, mut remote) = conversation().await;
    for (first, loss) in [
        ("BEGIN", "The open transaction is rolled back. This statement was not run."),
        ("SET search_path = public", "This statement was not run. Settings,"),
    ] {
        run(&mut remote, first).await.expect("is run");
        server = replace(server, &mut remote).await;
        let lost = run(&mut remote, "CREATE TABLE t (n int)").await.expect_err("is not run");
        assert!(lost.is_loss(), "{lost}");
        assert!(lost.detail.as_deref().is_some_and(|detail| detail.starts_with(loss)), "{lost}");
        assert_eq!(remote.status(), None);
        // The next statement runs on a new connection.
        let messages = run(&mut remote, "CREATE TABLE t (n int)").await.expect("is run");
        assert!(messages[0].contains("reconnected"), "{messages:?}");
        assert_eq!(remote.status(), Some(TransactionStatus::Idle));
    }
    server.stop(Duration::ZERO).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_effect_of_a_lost_statement_is_not_known() {
    let (server, mut remote) = conversation().await;
    let stopping = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(200)).await;
        server.stop(Duration::ZERO).await;
    });
    let long = "SELECT count(*) FROM generate_series(1, 100000000) a, generate_series(1, 100000) b";
    let lost = run(&mut remote, long).await.expect_err("is lost");
    assert!(lost.is_loss(), "{lost}");
    assert_eq!(lost.detail.as_deref(), Some("It is not known whether the statement took effect."));
    stopping.await.expect("stops");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_leaves_the_connection_ready() {
    let (server, mut remote) = conversation().await;
    let refused = run(&mut remote, "SELECT * FROM nix").await.expect_err("is refused");
    assert_eq!(refused.code, "42P01");
    run(&mut remote, "BEGIN").await.expect("is run");
    assert!(run(&mut remote, "SELECT * FROM nix").await.is_err());
    assert_eq!(remote.status(), Some(TransactionStatus::Failed));
    assert_eq!(run(&mut remote, "ROLLBACK").await, Ok(vec!["ROLLBACK".into()]));
    remote.close().await;
    server.stop(Duration::ZERO).await;
}
