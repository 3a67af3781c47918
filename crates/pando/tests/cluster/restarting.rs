//! Servers of a cluster that keep their data: they are killed and started again by the same commands.

use crate::harness::{ROWS, Server, filled, number, run, serve, start, until};
use std::path::Path;
use std::thread;
use tempfile::TempDir;

/// Starts a server with a data directory: the first one at an address, or one that joins.
fn kept(folder: &Path, name: &str, option: &str, address: &str) -> Server {
    let data = folder.join(name);
    start(name, &[option, address, "--data", data.to_str().expect("text")])
}

pub(crate) fn three(folder: &Path) -> [Server; 3] {
    let first = kept(folder, "one", "--cluster", "127.0.0.1:0");
    let others = ["two", "three"].map(|name| kept(folder, name, "--join", &first.address));
    let [second, third] = others;
    [first, second, third]
}

fn kill(server: &mut Server) {
    server.signal("-KILL");
    server.end();
}

/// Starts all servers again. Those that join are started first, and wait for the root.
pub(crate) fn started_again(folder: &Path, root: &str) -> [Server; 3] {
    thread::scope(|scope| {
        let join = |name| {
            let (folder, root) = (folder.to_owned(), root.to_owned());
            scope.spawn(move || kept(&folder, name, "--join", &root))
        };
        let (third, second) = (join("three"), join("two"));
        let first = kept(folder, "one", "--cluster", root);
        [first, second.join().expect("started"), third.join().expect("started")]
    })
}

/// Kills a server and starts it again.
pub(crate) fn killed_and_started(folder: &Path, server: &mut Server, root: &str) {
    kill(server);
    *server = kept(folder, &server.name.clone(), "--join", root);
}

#[tokio::test]
async fn a_cluster_comes_back_after_all_its_servers_were_killed() {
    let folder = TempDir::new().expect("a folder");
    let mut servers = three(folder.path());
    let client = servers[1].connect().await;
    filled(&client, 3).await;
    run(&client, "UPDATE t SET n = id % 10").await;
    run(&client, "CREATE VIEW few AS SELECT id FROM t WHERE id <= 3").await;
    run(&client, "CREATE SEQUENCE numbers").await;
    assert_eq!(number(&client, "SELECT nextval('numbers')").await, 1);
    let sum = number(&client, "SELECT sum(n)::bigint FROM t").await;
    let root = servers[0].address.clone();
    servers.iter_mut().for_each(kill);

    let servers = started_again(folder.path(), &root);
    for server in &servers {
        let client = server.connect().await;
        until(&client, "SELECT count(*) = 3 FROM pando.servers WHERE state = 'up'").await;
        assert_eq!(number(&client, "SELECT count(*) FROM t").await, ROWS);
        assert_eq!(number(&client, "SELECT sum(n)::bigint FROM t").await, sum);
        assert_eq!(number(&client, "SELECT count(*) FROM few").await, 3);
    }
    let client = servers[2].connect().await;
    assert!(number(&client, "SELECT nextval('numbers')").await > 1);
    assert_eq!(run(&client, "DELETE FROM t WHERE id % 2 = 0").await, ROWS as u64 / 2);
    run(&client, "ALTER TABLE t ADD COLUMN note text").await;
    assert_eq!(number(&client, "SELECT count(*) FROM t WHERE note IS NULL").await, ROWS / 2);
}

#[tokio::test]
async fn a_killed_server_comes_back_with_its_rows() {
    let folder = TempDir::new().expect("a folder");
    let [first, mut second, third] = three(folder.path());
    let client = first.connect().await;
    filled(&client, 3).await;
    kill(&mut second);
    let error =
        client.query_one("SELECT count(*) FROM t", &[]).await.expect_err("rows are missing");
    assert_eq!(error.code().map(|code| code.code()), Some("08006"), "{error:?}");
    let second = kept(folder.path(), "two", "--join", &third.address);
    let other = second.connect().await;
    until(&other, "SELECT count(*) = 3 FROM pando.servers WHERE state = 'up'").await;
    assert_eq!(number(&client, "SELECT count(*) FROM t").await, ROWS);
    assert_eq!(number(&other, "SELECT count(*) FROM t").await, ROWS);
    assert_eq!(run(&other, "UPDATE t SET n = 1").await, ROWS as u64);
}

/// The error of a server that does not start.
fn refused(arguments: &[&str]) -> String {
    let output = serve(arguments).output().expect("pando runs");
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    String::from_utf8(output.stderr).expect("text")
}

#[tokio::test]
async fn what_does_not_belong_to_the_cluster_is_refused() {
    let folder = TempDir::new().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("text").to_owned();
    let first = kept(folder.path(), "one", "--cluster", "127.0.0.1:0");
    let mut second = kept(folder.path(), "two", "--join", &first.address);
    until(&first.connect().await, "SELECT count(*) = 2 FROM pando.servers WHERE state = 'up'")
        .await;
    kill(&mut second);
    let root = first.address.as_str();
    let says = |arguments: &[&str], part: &str| {
        let message = refused(arguments);
        assert!(message.contains(part), "{message}");
    };
    says(&["--name", "three", "--join", root], "Start it with --data DIRECTORY");
    says(
        &["--name", "two", "--join", root, "--data", &path("wiped")],
        "is a member of the cluster and has data",
    );
    says(&["--name", "other", "--join", root, "--data", &path("two")], "Start it with --name two");
    says(&["--data", &path("two")], "is the data directory of server 1 of a cluster");
    let elsewhere = kept(folder.path(), "elsewhere", "--cluster", "127.0.0.1:0");
    says(
        &["--name", "two", "--join", &elsewhere.address, "--data", &path("two")],
        "is not of this cluster",
    );
    drop(elsewhere);
    says(&["--name", "x", "--join", root, "--data", &path("elsewhere")], "Start it without --join");
    says(&["--data", &path("elsewhere")], "the data directory is of a server of a cluster");
}
