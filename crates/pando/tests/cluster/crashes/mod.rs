//! Servers of a cluster with data directories under load: all are killed at once, again and again, and one stands still
//! while it gives its rows away. What clients were told is there afterwards, and nothing else.
//!
//! `PANDO_CLUSTER_RESTARTS` and `PANDO_CLUSTER_STOPS` say how often; `make soak` asks for many. `PANDO_SEED` repeats the
//! choices of the clients, though not the moments.

mod clients;
mod ledger;

use crate::harness::{Server, soon, until};
use crate::restarting::{started_again, three};
use clients::{Client, Found, TABLES};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::task::JoinHandle;

const CLIENTS: usize = 6;

/// How long it may take until everything can be read again.
const HEAL_MAX: Duration = Duration::from_secs(60);

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().expect("a number"))
}

/// A pause that differs from round to round.
fn moment(round: u64, least: u64, most: u64) -> Duration {
    Duration::from_millis(least + round.wrapping_mul(0x9e37_79b9) % (most - least))
}

/// Starts clients, each at one of the servers.
async fn started(
    clients: Vec<Client>,
    servers: &[Server],
    stop: &Arc<AtomicBool>,
) -> Vec<JoinHandle<Client>> {
    let mut running = Vec::new();
    for (at, client) in clients.into_iter().enumerate() {
        let connection = servers[at % servers.len()].connect().await;
        running.push(tokio::spawn(client.work(connection, Arc::clone(stop))));
    }
    running
}

async fn ended(running: Vec<JoinHandle<Client>>) -> Vec<Client> {
    let mut clients = Vec::new();
    for client in running {
        clients.push(soon(client).await.expect("no panic"));
    }
    clients
}

/// Compares what a server reads with what clients were told, and returns the number of acknowledged changes.
async fn audit(server: &Server, clients: &mut [Client]) -> Result<usize, String> {
    let connection = server.connect().await;
    let begun = Instant::now();
    let found = loop {
        match soon(Found::read(&connection)).await {
            Ok(found) => break found,
            Err(error) if begun.elapsed() > HEAL_MAX => return Err(format!("{error:?}")),
            Err(_) => {
                let _ = connection.batch_execute("ROLLBACK").await;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    };
    found.check()?;
    let mut done = 0;
    for client in clients {
        done += client.audit(&found)?;
    }
    Ok(done)
}

/// Waits until all servers have come back.
async fn all_up(servers: &[Server]) {
    for server in servers {
        let client = server.connect().await;
        until(&client, "SELECT count(*) = 3 FROM pando.servers WHERE state = 'up'").await;
    }
}

/// Kills all servers with one command.
fn kill_all(servers: &mut [Server]) {
    let ids: Vec<String> = servers.iter().map(Server::id).collect();
    assert!(Command::new("kill").arg("-KILL").args(&ids).status().expect("kill runs").success());
    for server in servers {
        server.end();
    }
}

async fn beginning(folder: &Path) -> ([Server; 3], Vec<Client>) {
    let servers = three(folder);
    all_up(&servers).await;
    soon(servers[0].connect().await.batch_execute(TABLES)).await.expect("made");
    let client = servers[0].connect().await;
    let spread = "FROM pando.shares WHERE \"table\" = 'account' AND percent > 10";
    until(&client, &format!("SELECT count(*) = 3 {spread}")).await;
    let seed = setting("PANDO_SEED", 1);
    (servers, (0..CLIENTS).map(|number| Client::new(number, seed)).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_survives_every_kill_of_all_servers() {
    let folder = TempDir::new().expect("a folder");
    let (mut servers, mut clients) = beginning(folder.path()).await;
    let root = servers[0].address.clone();
    let mut done = 0;
    let rounds = setting("PANDO_CLUSTER_RESTARTS", 2);
    for round in 0..rounds {
        let stop = Arc::new(AtomicBool::new(false));
        let running = started(clients, &servers, &stop).await;
        tokio::time::sleep(moment(round, 200, 1_500)).await;
        kill_all(&mut servers);
        clients = ended(running).await;
        servers = started_again(folder.path(), &root);
        all_up(&servers).await;
        for server in &servers {
            done = audit(server, &mut clients)
                .await
                .unwrap_or_else(|wrong| panic!("round {round}, read at {}: {wrong}", server.name));
        }
    }
    println!("{rounds} kills of all servers, {done} changes kept");
    assert!(done > rounds as usize, "the clients did something");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_that_stands_still_loses_and_doubles_nothing() {
    let folder = TempDir::new().expect("a folder");
    let (servers, mut clients) = beginning(folder.path()).await;
    let root = servers[0].connect().await;
    let mut done = 0;
    let rounds = setting("PANDO_CLUSTER_STOPS", 1);
    for round in 0..rounds {
        let stop = Arc::new(AtomicBool::new(false));
        let running = started(clients, &servers, &stop).await;
        soon(root.query("SELECT pando.set_weight('three', 0)", &[])).await.expect("set");
        tokio::time::sleep(moment(round, 20, 600)).await;
        servers[2].signal("-STOP");
        // Shorter and longer than calls wait.
        tokio::time::sleep(moment(round + 1, 500, 7_000)).await;
        servers[2].signal("-CONT");
        let empty = "SELECT count(*) = 0 FROM pando.buckets WHERE server = 'three'";
        until(&root, empty).await;
        stop.store(true, Ordering::Relaxed);
        clients = ended(running).await;
        for server in &servers {
            done = audit(server, &mut clients)
                .await
                .unwrap_or_else(|wrong| panic!("round {round}, read at {}: {wrong}", server.name));
        }
        soon(root.query("SELECT pando.set_weight('three', 1)", &[])).await.expect("set");
        let spread = "FROM pando.shares WHERE \"table\" = 'account' AND percent > 10";
        until(&root, &format!("SELECT count(*) = 3 {spread}")).await;
    }
    println!("{rounds} stops of a source, {done} changes kept");
    assert!(done > rounds as usize, "the clients did something");
}
