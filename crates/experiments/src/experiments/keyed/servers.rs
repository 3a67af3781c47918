//! `pando bench keyed --servers 4,8,16`: Experiment C, reads and updates by key through every server of a cluster.
//!
//! Two relations are spread over all servers. Each client is connected to one server and runs statements for random keys
//! one after another; most keys are on other servers. The clients use one relation, or half of them use each of the two.
//! All servers share this machine's processors, so throughput hardly grows with their number. The processor time of a
//! statement shows how it would grow. With `--images`, clients send statements to the owners of the rows.

use super::report::{self as figures, Finding, Kind, Measured, Setting};
use super::{FILLER_BYTES, KeyedArgs, random_key};
use crate::endpoint::{Endpoint, KeyedStatement};
use crate::report::Report;
use crate::servers::Servers;
use crate::settling::settle;
use crate::statistics::Times;
use anyhow::{Context, Result, ensure};
use futures::future::try_join_all;
use query::Executors;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Default numbers of clients of each server.
pub(super) const CLIENTS: [u16; 3] = [1, 4, 16];
const RELATIONS: [&str; 2] = ["x", "y"];
const ROWS_A_SERVER: u32 = 10_000;
/// About half of a server's rows of a relation.
const BUCKET_BYTES: u32 = ROWS_A_SERVER * 150 / 2;
const STATEMENTS_A_ROUND: u32 = 20;
const ROUNDS: u32 = 20;
/// Reads through each server of each relation that correct its image.
const CORRECTING_READS: u32 = 250;
const KINDS: [Kind; 2] = [Kind::Select, Kind::Update];
const FINDING: &str = "SELECT coalesce(sum(requests), 0), coalesce(sum(forwards), 0) \
                       FROM pando.images WHERE \"table\" IN ('x', 'y')";

/// A client of one server.
struct Client {
    statement: KeyedStatement,
    /// Start of its sequence of random keys.
    keys: u64,
    rows: u32,
}

pub(super) async fn run(args: &KeyedArgs, report: Report, executors: &Executors) -> Result<()> {
    figures::print_heading(report)?;
    let mut all = Vec::new();
    for servers in &args.servers {
        all.extend(on_servers(args, *servers, report, executors).await?);
    }
    figures::print_relations(report, &all)?;
    figures::print_scalability(report, &all, &args.servers)?;
    Ok(())
}

/// Runs all measurements on one cluster.
async fn on_servers(
    args: &KeyedArgs,
    servers: u16,
    report: Report,
    executors: &Executors,
) -> Result<Vec<Measured>> {
    report.progress(&format!("{servers} servers"));
    let cluster = Servers::start(servers, args.in_process, executors).await?;
    let first = cluster.endpoint(0).await?;
    let rows = ROWS_A_SERVER * u32::from(servers);
    load(&first, rows, cluster.len()).await?;
    let at_start = finding(&first).await?;
    correct_images(args, &cluster, rows).await?;
    let corrected = finding(&first).await?;
    let (mut measured, mut updates) = (Vec::new(), 0);
    for relations in 1..=RELATIONS.len() {
        for kind in KINDS {
            for clients in args.clients.iter().copied() {
                let setting = Setting { servers, relations, kind, clients };
                let one = measure(args, &cluster, &first, setting).await?;
                figures::print(report, &one)?;
                updates += if kind == Kind::Update { one.statements } else { 0 };
                measured.push(one);
            }
        }
    }
    let rest = finding(&first).await?.since(corrected);
    figures::print_finding(report, servers, corrected.since(at_start), rest)?;
    let sum = "SELECT (SELECT sum(value) FROM x) + (SELECT sum(value) FROM y)";
    let counted = first.number(sum).await?;
    ensure!(counted == updates, "{counted} updates of {updates} took effect");
    Ok(measured)
}

async fn load(first: &Endpoint, rows: u32, servers: usize) -> Result<()> {
    for relation in RELATIONS {
        first
            .execute(&format!(
                "CREATE TABLE {relation} (id integer PRIMARY KEY, value integer NOT NULL, \
                 filler varchar({FILLER_BYTES}) NOT NULL) WITH (bucket_size = {BUCKET_BYTES})"
            ))
            .await?;
        first
            .execute(&format!(
                "INSERT INTO {relation} SELECT i, 0, repeat('x', {FILLER_BYTES}) \
                 FROM generate_series(1, {rows}) AS g(i)"
            ))
            .await?;
        settle(first, relation, rows.into(), servers).await?;
    }
    Ok(())
}

/// Reads random rows through each server until its image is correct for most of them.
async fn correct_images(args: &KeyedArgs, cluster: &Servers, rows: u32) -> Result<()> {
    for number in 0..cluster.len() {
        let endpoint = cluster.endpoint(number).await?;
        for (index, relation) in RELATIONS.iter().enumerate() {
            let statement = endpoint.prepare(&Kind::Select.sql(relation)).await?;
            let keys = keys_of(args.seed, number * RELATIONS.len() + index);
            let client = Client { statement, keys, rows };
            client.run(CORRECTING_READS, u32::MAX).await?;
        }
    }
    Ok(())
}

async fn measure(
    args: &KeyedArgs,
    cluster: &Servers,
    first: &Endpoint,
    setting: Setting,
) -> Result<Measured> {
    let clients = connect(args, cluster, setting).await?;
    let before = cluster.usage(first).await?;
    let (mut took, mut waited) = (Duration::ZERO, Times::default());
    for round in 0..ROUNDS {
        let start = Instant::now();
        let running = clients.iter().map(|client| {
            let client = Arc::clone(client);
            tokio::spawn(async move { client.run(STATEMENTS_A_ROUND, round).await })
        });
        for times in try_join_all(running.collect::<Vec<_>>()).await? {
            waited.append(times?);
        }
        took += start.elapsed();
    }
    let usage = cluster.usage(first).await?.since(&before, 1);
    let statements = clients.len() as u64 * u64::from(STATEMENTS_A_ROUND * ROUNDS);
    Ok(Measured { setting, statements, took, waited, usage })
}

/// Connects the clients of all servers and prepares their statements.
async fn connect(
    args: &KeyedArgs,
    cluster: &Servers,
    setting: Setting,
) -> Result<Vec<Arc<Client>>> {
    let rows = ROWS_A_SERVER * u32::from(setting.servers);
    let mut clients = Vec::new();
    for client in 0..usize::from(setting.clients) {
        for number in 0..cluster.len() {
            let at = client * cluster.len() + number;
            let relation = RELATIONS[(client + number) % setting.relations];
            let keys = keys_of(args.seed, at);
            let sql = setting.kind.sql(relation);
            let statement = if args.images {
                let client = cluster.client_with_image(number).await?;
                correct_image(&client, relation, keys, rows).await?;
                let statement = client.prepare(&sql).await?;
                KeyedStatement::Image(client, statement)
            } else {
                cluster.endpoint(number).await?.prepare(&sql).await?
            };
            clients.push(Arc::new(Client { statement, keys, rows }));
        }
    }
    Ok(clients)
}

/// Reads random rows with a client until its image is correct for most of them.
async fn correct_image(
    client: &client::Client,
    relation: &str,
    keys: u64,
    rows: u32,
) -> Result<()> {
    let select = client.prepare(&Kind::Select.sql(relation)).await?;
    let statement = KeyedStatement::Image(client.clone(), select);
    Client { statement, keys, rows }.run(CORRECTING_READS, u32::MAX).await?;
    Ok(())
}

impl Client {
    /// Runs statements one after another, and returns their durations.
    async fn run(&self, statements: u32, round: u32) -> Result<Times> {
        let mut times = Times::default();
        for number in 0..statements {
            let at = self.keys ^ (u64::from(round) << 8) ^ u64::from(number);
            let key = random_key(at, self.rows);
            let start = Instant::now();
            let rows = self.statement.run(key).await?;
            times.push(start.elapsed());
            ensure!(rows == 1, "{rows} rows instead of 1 for {key}");
        }
        Ok(times)
    }
}

/// Start of a client's sequence of keys. The sequences of clients do not overlap.
fn keys_of(seed: u64, client: usize) -> u64 {
    (seed << 56) ^ ((client as u64) << 40)
}

/// Requests and forwards of all servers for rows of the relations.
async fn finding(endpoint: &Endpoint) -> Result<Finding> {
    let rows = endpoint.rows(FINDING).await?;
    let mut numbers = rows.iter().flatten().flatten().map(|cell| cell.parse::<u64>());
    let mut next = || numbers.next().context("pando.images has no sums")?.context("a number");
    Ok(Finding { requests: next()?, forwards: next()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn sequences_of_keys_do_not_overlap() {
        let at = |client: usize| {
            (0..ROUNDS).flat_map(move |round| {
                (0..STATEMENTS_A_ROUND)
                    .map(move |n| keys_of(1, client) ^ (u64::from(round) << 8) ^ u64::from(n))
            })
        };
        let all: BTreeSet<u64> = (0..256).flat_map(at).collect();
        assert_eq!(all.len(), (256 * ROUNDS * STATEMENTS_A_ROUND) as usize);
    }
}
