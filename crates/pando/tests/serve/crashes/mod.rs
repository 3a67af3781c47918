//! Servers that are killed at random moments under load. What clients were told is there afterwards, and nothing else.
//!
//! `PANDO_RESTARTS` says how often each server is killed; `make soak` asks for many. `PANDO_SEED` repeats the choices of
//! a run, though not its moments.

mod client;
mod history;
mod work;

use super::harness::{connect, serve};
use client::Client;
use history::Promise;
use std::time::Duration;
use tempfile::TempDir;
use work::{Dice, Work};

const TABLES: &str = "
    CREATE TABLE kept (client int, key int, value bigint, filler text, PRIMARY KEY (client, key)) WITH (bucket_size = '4KiB');
    CREATE TABLE account (id int PRIMARY KEY, value bigint) WITH (bucket_size = '4KiB');
    CREATE TABLE moved (client int PRIMARY KEY, times bigint);
    CREATE TABLE loaded (batch int, place int, filler text, PRIMARY KEY (batch, place)) WITH (bucket_size = '4KiB');
    CREATE SEQUENCE numbers;
    INSERT INTO account SELECT i, 100 FROM generate_series(1, 50) i";

/// The sum of all accounts, which no transaction changes.
const SUM: &str = "5000";

/// What the clients of a server do.
fn clients(seed: u64) -> Vec<Client> {
    let works = [
        Work::Write,
        Work::Write,
        Work::Write,
        Work::Write,
        Work::Move,
        Work::Move,
        Work::Load,
        Work::Define,
    ];
    let clients = works.into_iter().enumerate();
    clients.map(|(number, work)| Client::new(number, work, Dice(seed + number as u64))).collect()
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().expect("a number"))
}

/// Kills a server again and again, and compares what is there with what was promised.
async fn crash(durability: &str, promise: Promise, restarts: u64) {
    let seed = setting("PANDO_SEED", 1);
    let folder = TempDir::new().expect("a folder");
    let data = folder.path().join("data");
    let path = data.to_str().expect("text");
    let settings = ["--data", path, "--durability", durability, "--checkpoint-size", "64KiB"];
    let mut clients = clients(seed * 1_000);
    let mut dice = Dice(seed);
    let mut done = 0;
    for round in 0..=restarts {
        let mut served = serve(&settings);
        let audit = connect(&served, "u", None).await.expect("connected");
        if round == 0 {
            audit.batch_execute(TABLES).await.expect("made");
        } else {
            let sum = work::texts(&audit, "SELECT sum(value) FROM account").await;
            assert_eq!(sum, [SUM], "{durability}, seed {seed}, round {round}: a torn transaction");
        }
        for client in &mut clients {
            done += client.audit(&audit, promise).await.unwrap_or_else(|wrong| {
                panic!("{durability}, seed {seed}, round {round}: {wrong}")
            });
        }
        if round == restarts {
            break;
        }
        let mut running = Vec::new();
        for client in clients.drain(..) {
            let connection = connect(&served, "u", None).await.expect("connected");
            running.push(tokio::spawn(client.work(connection)));
        }
        tokio::time::sleep(Duration::from_millis(20 + dice.below(300))).await;
        served.process.kill().expect("killed");
        served.process.wait().expect("ended");
        for client in running {
            clients.push(client.await.expect("no panic"));
        }
    }
    println!("{durability}: {restarts} restarts, {done} changes kept");
    assert!(done > restarts, "the clients did something");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_survives_every_kill() {
    crash("sync", Promise::Acknowledged, setting("PANDO_RESTARTS", 8)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn async_loses_the_newest_changes_at_most() {
    crash("async", Promise::Prefix, setting("PANDO_RESTARTS", 8)).await;
}
