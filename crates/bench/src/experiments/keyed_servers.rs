//! `pando bench keyed --servers 4,8,16`: Experiment C, keyed reads and updates through every server of one process.
//!
//! Two relations lie on all servers. Each client belongs to a server, runs its statements one after another, and asks
//! for random keys: most of them are another server's. With one relation all clients ask for the same, with two each
//! half has its own. All servers share this machine's processors.

use super::keyed::{FILLER_BYTES, KeyedArgs, random_key};
use super::on_workers;
use crate::embedded::drain;
use crate::report::Report;
use crate::settling::{settle, table_id};
use crate::statistics::us;
use crate::{Embedded, InProcess};
use anyhow::{Result, ensure};
use futures::future::try_join_all;
use query::Prepared;
use serde_json::json;
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

/// What clients do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Select,
    Update,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Select => "select",
            Self::Update => "update",
        }
    }

    fn sql(self, relation: &str) -> String {
        match self {
            Self::Select => format!("SELECT * FROM {relation} WHERE id = $1"),
            Self::Update => format!("UPDATE {relation} SET value = value + 1 WHERE id = $1"),
        }
    }
}

/// How one measurement was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Setting {
    servers: u16,
    relations: usize,
    kind: Kind,
    /// Of each server.
    clients: u16,
}

/// What was measured.
#[derive(Debug, Clone, Copy)]
struct Measured {
    setting: Setting,
    per_second: f64,
    /// How long a client waits for one statement.
    mean: Duration,
}

/// Requests to other servers on behalf of clients, and how often they were passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Finding {
    requests: u64,
    forwards: u64,
}

impl Finding {
    fn since(self, then: Self) -> Self {
        Self { requests: self.requests - then.requests, forwards: self.forwards - then.forwards }
    }

    /// Forwards of a thousand requests.
    fn per_thousand(self) -> f64 {
        1000.0 * self.forwards as f64 / self.requests.max(1) as f64
    }
}

/// A client that belongs to a server.
struct Client {
    statement: Prepared,
    /// Where its random keys are.
    keys: u64,
    rows: u32,
}

pub(super) async fn run(args: &KeyedArgs, report: Report, workers: Handle) -> Result<()> {
    report.heading(&format!(
        "Servers share this machine's processors. Published: no slower with two relations; over 90 % from 4 to 16.\n\
         {:>7} {:>9} {:<8} {:>14} {:>12} {:>9}",
        "servers", "relations", "", "clients/server", "thousand/s", "µs"
    ));
    let mut all = Vec::new();
    for servers in &args.servers {
        all.extend(on_servers(args, *servers, (report, &workers)).await?);
    }
    scalability(&all, args, report);
    Ok(())
}

/// Measures everything on one cluster.
async fn on_servers(
    args: &KeyedArgs,
    servers: u16,
    (report, workers): (Report, &Handle),
) -> Result<Vec<Measured>> {
    let cluster = InProcess::start(servers.into(), on_workers(workers.clone())).await?;
    let rows = ROWS_A_SERVER * u32::from(servers);
    load(&cluster, rows).await?;
    let begun = finding(&cluster).await?;
    learn(args, &cluster, rows).await?;
    let learnt = finding(&cluster).await?;
    let (mut measured, mut updates) = (Vec::new(), 0);
    for relations in 1..=RELATIONS.len() {
        for kind in KINDS {
            for clients in args.clients.iter().copied() {
                let setting = Setting { servers, relations, kind, clients };
                let one = measure(args, &cluster, setting).await?;
                print(report, &one);
                updates += if kind == Kind::Update { setting.statements() } else { 0 };
                measured.push(one);
            }
        }
    }
    let rest = finding(&cluster).await?.since(learnt);
    print_finding(report, servers, learnt.since(begun), rest);
    let first = Embedded { session: cluster.servers()[0].database.session() };
    let sum = "SELECT (SELECT sum(value) FROM x) + (SELECT sum(value) FROM y)";
    let counted = first.number(sum).await?;
    ensure!(counted == updates, "{counted} updates are there of {updates}");
    Ok(measured)
}

async fn load(cluster: &InProcess, rows: u32) -> Result<()> {
    let first = Embedded { session: cluster.servers()[0].database.session() };
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
        settle(cluster, relation, rows.into()).await?;
    }
    Ok(())
}

/// Each server reads random rows; the first of them are not where it believes.
async fn learn(args: &KeyedArgs, cluster: &InProcess, rows: u32) -> Result<()> {
    for (number, server) in cluster.servers().iter().enumerate() {
        for (index, relation) in RELATIONS.iter().enumerate() {
            let session = server.database.session();
            let statement = session.prepare(&Kind::Select.sql(relation)).await?;
            let keys = keys_of(args.seed, number * RELATIONS.len() + index);
            let client = Client { statement, keys, rows };
            client.course(LEARNING_READS, u32::MAX).await?;
        }
    }
    Ok(())
}

async fn measure(args: &KeyedArgs, cluster: &InProcess, setting: Setting) -> Result<Measured> {
    let rows = ROWS_A_SERVER * u32::from(setting.servers);
    let mut clients = Vec::new();
    for client in 0..usize::from(setting.clients) {
        for (number, server) in cluster.servers().iter().enumerate() {
            let at = client * cluster.servers().len() + number;
            let relation = RELATIONS[(client + number) % setting.relations];
            let session = server.database.session();
            let statement = session.prepare(&setting.kind.sql(relation)).await?;
            clients.push(std::sync::Arc::new(Client {
                statement,
                keys: keys_of(args.seed, at),
                rows,
            }));
        }
    }
    let (mut took, mut waited) = (Duration::ZERO, Duration::ZERO);
    for course in 0..COURSES {
        let start = Instant::now();
        let running = clients.iter().map(|client| {
            let client = std::sync::Arc::clone(client);
            tokio::spawn(async move { client.course(STATEMENTS_A_COURSE, course).await })
        });
        for time in try_join_all(running.collect::<Vec<_>>()).await? {
            waited += time?;
        }
        took += start.elapsed();
    }
    let statements = setting.statements();
    let per_second = statements as f64 / took.as_secs_f64();
    let mean = waited.div_f64(statements as f64);
    Ok(Measured { setting, per_second, mean })
}

impl Setting {
    /// Statements of all clients in all courses.
    fn statements(self) -> u64 {
        let clients = u64::from(self.servers) * u64::from(self.clients);
        clients * u64::from(STATEMENTS_A_COURSE) * u64::from(COURSES)
    }
}

impl Client {
    /// Runs statements in series; how long they took.
    async fn course(&self, statements: u32, course: u32) -> Result<Duration> {
        let start = Instant::now();
        for number in 0..statements {
            let at = self.keys ^ (u64::from(course) << 8) ^ u64::from(number);
            let key = random_key(at, self.rows);
            let rows = drain(self.statement.execute(std::slice::from_ref(&key)).await?).await?;
            ensure!(rows == 1, "{rows} rows instead of 1 for {key:?}");
        }
        Ok(start.elapsed())
    }
}

/// Where a client's keys are in the sequence of a seed: far from any other's.
fn keys_of(seed: u64, client: usize) -> u64 {
    (seed << 56) ^ ((client as u64) << 40)
}

/// What finding rows of the relations has cost all servers.
async fn finding(cluster: &InProcess) -> Result<Finding> {
    let tables = [table_id(cluster, RELATIONS[0])?, table_id(cluster, RELATIONS[1])?];
    let mut finding = Finding::default();
    for (_, held) in cluster.servers()[0].cluster.report().await {
        for image in held?.images.iter().filter(|image| tables.contains(&image.table)) {
            finding.requests += image.requests;
            finding.forwards += image.forwards;
        }
    }
    Ok(finding)
}

fn print(report: Report, measured: &Measured) {
    let Setting { servers, relations, kind, clients } = measured.setting;
    let (per_second, mean) = (measured.per_second, us(measured.mean));
    let text = format!(
        "{servers:>7} {relations:>9} {:<8} {clients:>14} {:>12.1} {mean:>9.1}",
        kind.name(),
        per_second / 1e3
    );
    report.result(&text, json!({
        "experiment": "keyed", "servers": servers, "relations": relations, "operation": kind.name(),
        "clients_per_server": clients, "per_second": per_second, "us_mean": mean,
    }));
}

fn print_finding(report: Report, servers: u16, learning: Finding, after: Finding) {
    let text = format!(
        "{servers:>7} forwards of 1,000 requests: {:.2} of the first {}, {:.2} of the next {}",
        learning.per_thousand(),
        learning.requests,
        after.per_thousand(),
        after.requests
    );
    report.result(
        &text,
        json!({
            "experiment": "keyed", "servers": servers, "operation": "find",
            "learning_requests": learning.requests, "learning_forwards": learning.forwards,
            "requests": after.requests, "forwards": after.forwards,
        }),
    );
}

/// Of the work in a second on the first number of servers, the percentage that each server does on the last.
fn scalability(all: &[Measured], args: &KeyedArgs, report: Report) {
    let (Some(&few), Some(&many)) = (args.servers.first(), args.servers.last()) else { return };
    if few == many {
        return;
    }
    for one in all.iter().filter(|one| one.setting.servers == few) {
        let wanted = Setting { servers: many, ..one.setting };
        let Some(other) = all.iter().find(|other| other.setting == wanted) else { continue };
        let percent = percent_scaled((few, one.per_second), (many, other.per_second));
        let Setting { relations, kind, clients, .. } = one.setting;
        let text = format!(
            "{few} to {many} servers: {percent:.0} %  ({relations} relations, {}, {clients} clients/server)",
            kind.name()
        );
        report.result(&text, json!({
            "experiment": "keyed", "operation": kind.name(), "from_servers": few, "to_servers": many,
            "relations": relations, "clients_per_server": clients, "scalability_percent": percent,
        }));
    }
}

/// 100 where twice the servers do twice the work in the same time.
fn percent_scaled(few: (u16, f64), many: (u16, f64)) -> f64 {
    100.0 * (many.1 / f64::from(many.0)) / (few.1 / f64::from(few.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn scalability_is_work_by_server() {
        assert!((percent_scaled((4, 100.0), (16, 400.0)) - 100.0).abs() < 1e-9);
        assert!((percent_scaled((4, 100.0), (16, 100.0)) - 25.0).abs() < 1e-9);
    }

    #[test]
    fn forwards_are_counted_by_thousand_requests() {
        let (then, now) =
            (Finding { requests: 500, forwards: 9 }, Finding { requests: 2500, forwards: 12 });
        assert!((now.since(then).per_thousand() - 1.5).abs() < 1e-9);
        assert!(Finding::default().per_thousand().abs() < 1e-9);
    }

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
