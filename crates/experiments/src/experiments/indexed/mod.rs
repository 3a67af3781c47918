//! `pando bench indexed`: small transactions as applications have them, which need secondary indexes, foreign keys and
//! locks, on a Pando server and on others with PostgreSQL's protocol in the same run.
//!
//! Each client has a connection and runs one transaction after another, with prepared statements. The same [`works`] are
//! done on each server, one server after the other for each number of clients, so that what disturbs the machine disturbs
//! all of them.

mod transactions;
mod works;

use crate::report::Report;
use crate::statistics::{Times, us};
use anyhow::{Context, Result, ensure};
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio_postgres::{Client, NoTls};
use transactions::Running;
use works::{WORKS, Work};

/// Options of `pando bench indexed`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct IndexedArgs {
    /// A server: its name, `=`, and its URL; once for each, the one to compare with last. Its tables whose names begin with
    /// bench_ are replaced
    #[arg(long = "server", value_name = "NAME=URL", required = true)]
    servers: Vec<String>,
    /// Rows of each table at the beginning
    #[arg(long, default_value_t = 10_000)]
    rows: u32,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// Clients; one measurement for each number
    #[arg(long, value_delimiter = ',', default_values_t = [1, 4, 16, 32],
        value_parser = clap::value_parser!(u16).range(1..))]
    clients: Vec<u16>,
    /// Only works with this in their name
    #[arg(long, value_name = "PART")]
    only: Option<String>,
}

/// A server that is measured.
struct Server<'a> {
    name: &'a str,
    url: &'a str,
}

/// The measurement of one work on one server.
struct Measured {
    times: Times,
    per_second: f64,
}

pub(super) async fn run(args: &IndexedArgs, report: Report) -> Result<()> {
    ensure!(args.rows > 0, "--rows must be at least 1");
    let name_and_url = |of: &'_ String| -> Result<(String, String)> {
        let (name, url) = of.split_once('=').context("--server must be NAME=URL")?;
        Ok((name.to_owned(), url.to_owned()))
    };
    let servers = args.servers.iter().map(name_and_url).collect::<Result<Vec<_>>>()?;
    let servers: Vec<Server<'_>> = servers.iter().map(|(name, url)| Server { name, url }).collect();
    report.heading(&format!(
        "{:<12} {:<26} {:>8} {:>10} {:>10} {:>10} {:>8}",
        "server", "transaction", "clients", "median µs", "p99 µs", "a second", "times"
    ))?;
    let wanted = |work: &&Work| args.only.as_ref().is_none_or(|part| work.name.contains(part));
    for work in WORKS.iter().filter(wanted) {
        for clients in &args.clients {
            let mut measured = Vec::with_capacity(servers.len());
            for server in &servers {
                report.progress(&format!("{}: {}, {clients} clients", server.name, work.name));
                let one = one(args, server, work, *clients).await;
                measured.push(one.with_context(|| format!("{}: {}", server.name, work.name))?);
            }
            print(report, (work, *clients), &servers, &measured)?;
        }
    }
    Ok(())
}

/// Does one work on one server.
async fn one(
    args: &IndexedArgs,
    server: &Server<'_>,
    work: &Work,
    clients: u16,
) -> Result<Measured> {
    let first = connect(server.url).await?;
    first.batch_execute(&work.setup(args.rows)).await.context("the tables")?;
    let length = Duration::from_secs_f64(args.seconds);
    let mut running = JoinSet::new();
    for number in 0..clients {
        let client = connect(server.url).await?;
        let transaction = Running::new(client, work, (number, clients), args.rows).await?;
        running.spawn(transaction.until_over(length));
    }
    let start = Instant::now();
    let (mut times, mut taken) = (Times::default(), Vec::new());
    while let Some(ended) = running.join_next().await {
        let done = ended??;
        times.append(done.times);
        taken.extend(done.taken);
    }
    let per_second = times.count() as f64 / start.elapsed().as_secs_f64();
    let all = taken.len();
    taken.sort_unstable();
    taken.dedup();
    ensure!(taken.len() == all, "{} of {all} jobs were taken twice", all - taken.len());
    first.batch_execute(&work.cleanup()).await?;
    Ok(Measured { times, per_second })
}

async fn connect(url: &str) -> Result<Client> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// Prints what was measured on each server, and how many times the throughput of the last one that is.
fn print(
    report: Report,
    (work, clients): (&Work, u16),
    servers: &[Server<'_>],
    measured: &[Measured],
) -> Result<()> {
    let last = measured.last().map_or(f64::NAN, |last| last.per_second);
    for (server, one) in servers.iter().zip(measured) {
        let (median, p99) = (us(one.times.median()), us(one.times.quantile(0.99)));
        let (name, what, a_second) = (server.name, work.name, one.per_second);
        let times = a_second / last;
        let text = format!(
            "{name:<12} {what:<26} {clients:>8} {median:>10.1} {p99:>10.1} {a_second:>10.0} {times:>8.2}"
        );
        report.result(
            &text,
            json!({
                "experiment": "indexed", "server": name, "transaction": what, "clients": clients,
                "us_median": median, "us_p99": p99, "per_second": a_second, "times_last": times,
            }),
        )?;
    }
    Ok(())
}
