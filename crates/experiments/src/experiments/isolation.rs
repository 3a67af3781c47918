//! `pando bench isolation`: how long a small statement waits while large ones run, and how long each large one takes to
//! stop.
//!
//! Sixteen statements of [`endless`] run at once, more than there are processors. Meanwhile one client after another runs
//! `SELECT 1`, reads a row by its key, and logs in. Then each endless statement runs alone and is cancelled.

use crate::endpoint::Endpoint;
use crate::report::Report;
use crate::servers::Servers;
use crate::statistics::{Times, ms};
use anyhow::{Context, Result, bail, ensure};
use query::Executors;
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio_postgres::{Client, NoTls};
use workloads::endless;

/// Options of `pando bench isolation`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct IsolationArgs {
    /// Servers of the cluster
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    servers: u16,
    /// Seconds for which small statements are measured
    #[arg(long, default_value_t = 10)]
    seconds: u64,
}

/// How long an endless statement runs before it is cancelled.
const BEFORE_CANCEL: Duration = Duration::from_millis(500);

pub(super) async fn run(args: &IsolationArgs, report: Report, executors: Executors) -> Result<()> {
    let servers = Servers::start(args.servers, false, &executors).await?;
    let client = connection(&servers).await?;
    client.batch_execute(endless::TABLES).await?;
    report.heading(&format!("{:<40} {:>9} {:>9} {:>9}", "ms", "median", "p99", "longest"))?;
    small_statements(args, report, &servers, "alone").await?;
    let mut large = JoinSet::new();
    for statement in endless::worst() {
        let client = connection(&servers).await?;
        large.spawn(async move { client.simple_query(statement.sql).await.map(drop) });
    }
    tokio::time::sleep(BEFORE_CANCEL).await;
    small_statements(args, report, &servers, "among 16 large statements").await?;
    ensure!(large.len() == 16, "a large statement has ended");
    large.shutdown().await;
    let mut all = Times::default();
    for statement in endless::ALL {
        let time = time_to_stop(&client, statement.sql).await.context(statement.what)?;
        all.push(time);
        let text = format!("stop {:<35} {:>9.1}", statement.what, ms(time));
        let values = json!({"experiment": "isolation", "stopped": statement.what, "ms": ms(time)});
        report.result(&text, values)?;
    }
    print(report, "stop any of these", &all)
}

async fn connection(servers: &Servers) -> Result<Arc<Client>> {
    match servers.endpoint(0).await? {
        Endpoint::Connection(client) => Ok(client),
        Endpoint::Session(_) => bail!("the servers are processes"),
    }
}

/// Runs small statements one after another.
async fn small_statements(
    args: &IsolationArgs,
    report: Report,
    servers: &Servers,
    when: &str,
) -> Result<()> {
    let client = connection(servers).await?;
    let keyed = client.prepare("SELECT k FROM n WHERE i = $1").await?;
    let [mut ones, mut rows, mut log_ins] = [(); 3].map(|()| Times::default());
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(args.seconds) {
        let start = Instant::now();
        client.simple_query("SELECT 1").await?;
        ones.push(start.elapsed());
        let start = Instant::now();
        client.query_one(&keyed, &[&7]).await?;
        rows.push(start.elapsed());
        let start = Instant::now();
        connection(servers).await?;
        log_ins.push(start.elapsed());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    for (what, times) in [("SELECT 1", ones), ("a row by its key", rows), ("log-in", log_ins)] {
        print(report, &format!("{what}, {when}"), &times)?;
    }
    Ok(())
}

/// The time from the cancel request to the error.
async fn time_to_stop(client: &Client, sql: &str) -> Result<Duration> {
    let token = client.cancel_token();
    let running = async { (client.simple_query(sql).await.map(drop), Instant::now()) };
    let cancel = async {
        tokio::time::sleep(BEFORE_CANCEL).await;
        let asked = Instant::now();
        token.cancel_query(NoTls).await.map(|()| asked)
    };
    let ((ended, at), asked) = tokio::join!(running, cancel);
    match ended {
        Err(error) if error.code().is_some_and(|code| code.code() == "57014") => {
            Ok(at.saturating_duration_since(asked?))
        }
        Err(error) => Err(error.into()),
        Ok(()) => bail!("it has ended by itself"),
    }
}

fn print(report: Report, what: &str, times: &Times) -> Result<()> {
    let [median, p99, longest] = [0.5, 0.99, 1.0].map(|part| ms(times.quantile(part)));
    let text = format!("{what:<40} {median:>9.2} {p99:>9.2} {longest:>9.2}");
    let values = json!({
        "experiment": "isolation", "what": what, "ms_median": median, "ms_p99": p99,
        "ms_longest": longest,
    });
    Ok(report.result(&text, values)?)
}
