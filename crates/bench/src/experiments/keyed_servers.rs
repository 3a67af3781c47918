//! `pando bench keyed --servers 4,8,16`: Experiment C, keyed reads and updates through every server of a cluster.
//!
//! Two relations lie on all servers. Each client belongs to a server, runs its statements one after another, and asks
//! for random keys: most of them are another server's. With one relation all clients ask for the same, with two each
//! half has its own. All servers share this machine's processors, so that the work done in a second hardly grows with
//! them; what a statement costs says how it would. With `--images` a client only begins with its server, and asks owners.

use super::keyed::{FILLER_BYTES, KeyedArgs, random_key};
use super::keyed_report::{self, Finding, Kind, Measured, Setting};
use crate::endpoint::{Endpoint, KeyedStatement};
use crate::report::Report;
use crate::servers::Servers;
use crate::settling::settle;
use crate::statistics::Times;
use anyhow::{Context, Result, ensure};
use futures::future::try_join_all;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// Clients of each server, where nothing else is said.
pub(super) const CLIENTS: [u16; 3] = [1, 4, 16];
const RELATIONS: [&str; 2] = ["x", "y"];
const ROWS_A_SERVER: u32 = 10_000;
/// Half of a server's rows of one relation.
const BUCKET_BYTES: u32 = ROWS_A_SERVER * 150 / 2;
const STATEMENTS_A_COURSE: u32 = 20;
const COURSES: u32 = 20;
/// Reads by each server of each relation while its image learns.
const LEARNING_READS: u32 = 250;
const KINDS: [Kind; 2] = [Kind::Select, Kind::Update];
const FINDING: &str = "SELECT coalesce(sum(requests), 0), coalesce(sum(forwards), 0) \
                       FROM pando.images WHERE \"table\" IN ('x', 'y')";

/// A client that belongs to a server.
struct Client {
    statement: KeyedStatement,
    /// Where its random keys are.
    keys: u64,
    rows: u32,
}

pub(super) async fn run(args: &KeyedArgs, report: Report, workers: &Handle) -> Result<()> {
    keyed_report::print_heading(report)?;
    let mut all = Vec::new();
    for servers in &args.servers {
        all.extend(on_servers(args, *servers, (report, workers)).await?);
    }
    keyed_report::print_relations(report, &all)?;
    keyed_report::print_scalability(report, &all, &args.servers)?;
    Ok(())
}

/// Measures everything on one cluster.
async fn on_servers(
    args: &KeyedArgs,
    servers: u16,
    (report, workers): (Report, &Handle),
) -> Result<Vec<Measured>> {
    report.progress(&format!("{servers} servers"));
    let cluster = Servers::start(servers, args.in_process, workers).await?;
    let first = cluster.endpoint(0).await?;
    let rows = ROWS_A_SERVER * u32::from(servers);
    load(&first, rows, cluster.len()).await?;
    let begun = finding(&first).await?;
    learn(args, &cluster, rows).await?;
    let learnt = finding(&first).await?;
    let (mut measured, mut updates) = (Vec::new(), 0);
    for relations in 1..=RELATIONS.len() {
        for kind in KINDS {
            for clients in args.clients.iter().copied() {
                let setting = Setting { servers, relations, kind, clients };
                let one = measure(args, (&cluster, &first), setting).await?;
                keyed_report::print(report, &one)?;
                updates += if kind == Kind::Update { one.statements } else { 0 };
                measured.push(one);
            }
        }
    }
    let rest = finding(&first).await?.since(learnt);
    keyed_report::print_finding(report, servers, learnt.since(begun), rest)?;
    let sum = "SELECT (SELECT sum(value) FROM x) + (SELECT sum(value) FROM y)";
    let counted = first.number(sum).await?;
    ensure!(counted == updates, "{counted} updates are there of {updates}");
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

/// Each server reads random rows; the first of them are not where it believes.
async fn learn(args: &KeyedArgs, cluster: &Servers, rows: u32) -> Result<()> {
    for number in 0..cluster.len() {
        let endpoint = cluster.endpoint(number).await?;
        for (index, relation) in RELATIONS.iter().enumerate() {
            let statement = endpoint.prepare(&Kind::Select.sql(relation)).await?;
            let keys = keys_of(args.seed, number * RELATIONS.len() + index);
            let client = Client { statement, keys, rows };
            client.course(LEARNING_READS, u32::MAX).await?;
        }
    }
    Ok(())
}

async fn measure(
    args: &KeyedArgs,
    (cluster, first): (&Servers, &Endpoint),
    setting: Setting,
) -> Result<Measured> {
    let clients = connect(args, cluster, setting).await?;
    let before = cluster.usage(first).await?;
    let (mut took, mut waited) = (Duration::ZERO, Times::default());
    for course in 0..COURSES {
        let start = Instant::now();
        let running = clients.iter().map(|client| {
            let client = Arc::clone(client);
            tokio::spawn(async move { client.course(STATEMENTS_A_COURSE, course).await })
        });
        for times in try_join_all(running.collect::<Vec<_>>()).await? {
            waited.append(times?);
        }
        took += start.elapsed();
    }
    let usage = cluster.usage(first).await?.since(&before, 1);
    let statements = clients.len() as u64 * u64::from(STATEMENTS_A_COURSE * COURSES);
    Ok(Measured { setting, statements, took, waited, usage })
}

/// The clients of all servers, each with its statement.
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
            let statement = match args.images {
                true => with_image(cluster, number, (setting.kind, relation), (keys, rows)).await?,
                false => {
                    cluster.endpoint(number).await?.prepare(&setting.kind.sql(relation)).await?
                }
            };
            clients.push(Arc::new(Client { statement, keys, rows }));
        }
    }
    Ok(clients)
}

/// A statement of a client that begins with a server and has read enough to know who owns what.
async fn with_image(
    cluster: &Servers,
    number: usize,
    (kind, relation): (Kind, &str),
    (keys, rows): (u64, u32),
) -> Result<KeyedStatement> {
    let client = cluster.client_with_image(number).await?;
    let select = client.prepare(&Kind::Select.sql(relation)).await?;
    let reader = Client { statement: KeyedStatement::Image(client.clone(), select), keys, rows };
    reader.course(LEARNING_READS, u32::MAX).await?;
    let statement = client.prepare(&kind.sql(relation)).await?;
    Ok(KeyedStatement::Image(client, statement))
}

impl Client {
    /// Runs statements in series; how long each took.
    async fn course(&self, statements: u32, course: u32) -> Result<Times> {
        let mut times = Times::default();
        for number in 0..statements {
            let at = self.keys ^ (u64::from(course) << 8) ^ u64::from(number);
            let key = random_key(at, self.rows);
            let start = Instant::now();
            let rows = self.statement.run(key).await?;
            times.push(start.elapsed());
            ensure!(rows == 1, "{rows} rows instead of 1 for {key}");
        }
        Ok(times)
    }
}

/// Where a client's keys are in the sequence of a seed: far from any other's.
fn keys_of(seed: u64, client: usize) -> u64 {
    (seed << 56) ^ ((client as u64) << 40)
}

/// What finding rows of the relations has cost all servers.
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
    fn clients_do_not_ask_for_each_others_sequences() {
        let at = |client: usize| {
            (0..COURSES).flat_map(move |course| {
                (0..STATEMENTS_A_COURSE)
                    .map(move |n| keys_of(1, client) ^ (u64::from(course) << 8) ^ u64::from(n))
            })
        };
        let all: BTreeSet<u64> = (0..256).flat_map(at).collect();
        assert_eq!(all.len(), (256 * COURSES * STATEMENTS_A_COURSE) as usize);
    }
}
