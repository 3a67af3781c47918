//! `pando bench indexed`: statements by a secondary index, and inserts into tables with indexes, on a Pando server and on
//! others with PostgreSQL's protocol in the same run.
//!
//! Each client has a connection and runs one prepared statement after another. The same work is done on each server.

use crate::report::Report;
use crate::statistics::{Times, us};
use anyhow::{Context, Result, ensure};
use serde_json::json;
use std::time::Instant;
use tokio::task::JoinSet;
use tokio_postgres::{Client, NoTls};

/// Options of `pando bench indexed`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct IndexedArgs {
    /// A server: its name, `=`, and its URL; once for each. Its tables bench_0, bench_1 and bench_3 are replaced
    #[arg(long = "server", value_name = "NAME=URL", required = true)]
    servers: Vec<String>,
    /// Rows of each table
    #[arg(long, default_value_t = 20_000)]
    rows: u32,
    /// Statements of each kind
    #[arg(long, default_value_t = 20_000)]
    operations: u32,
    /// Clients; one measurement for each number
    #[arg(long, value_delimiter = ',', default_values_t = [1, 4],
        value_parser = clap::value_parser!(u16).range(1..))]
    clients: Vec<u16>,
}

/// The indexes of the tables `bench_0`, `bench_1` and `bench_3`.
const INDEXES: [&[&str]; 3] =
    [&[], &["(code)"], &["(code)", "(lower(name))", "(value DESC, id) WHERE value >= 0"]];

/// Statements that are measured, on the table with three indexes. `$1` is a number of a row.
const STATEMENTS: [(&str, &str); 6] = [
    ("select by an index", "SELECT * FROM bench_3 WHERE code = $1"),
    ("select two columns", "SELECT id, name FROM bench_3 WHERE code = $1 AND value >= 0"),
    ("select by an expression", "SELECT id FROM bench_3 WHERE lower(name) = 'name' || $1::int4"),
    ("update by an index", "UPDATE bench_3 SET name = 'x' WHERE code = $1"),
    ("update of an index", "UPDATE bench_3 SET value = value + 1 WHERE id = $1"),
    (
        "first rows",
        "SELECT id FROM bench_3 WHERE value >= 0 AND $1::int4 > 0 ORDER BY value DESC LIMIT 5",
    ),
];

pub(super) async fn run(args: &IndexedArgs, report: Report) -> Result<()> {
    ensure!(args.rows > 0, "--rows must be at least 1");
    report.heading(&format!(
        "{:<12} {:<26} {:>8} {:>10} {:>10} {:>12}",
        "server", "statement", "clients", "median µs", "p99 µs", "a second"
    ))?;
    for server in &args.servers {
        let (name, url) = server.split_once('=').context("--server must be NAME=URL")?;
        for clients in &args.clients {
            one(args, report, (name, url), *clients).await?;
        }
    }
    Ok(())
}

/// All measurements with one number of clients.
async fn one(
    args: &IndexedArgs,
    report: Report,
    (name, url): (&str, &str),
    clients: u16,
) -> Result<()> {
    let client = connect(url).await?;
    for indexes in INDEXES {
        let table = format!("bench_{}", indexes.len());
        client.batch_execute(&format!("DROP TABLE IF EXISTS {table}")).await?;
        let columns = "id int PRIMARY KEY, code int NOT NULL, name text, value int";
        client.batch_execute(&format!("CREATE TABLE {table} ({columns})")).await?;
        for index in indexes {
            client.batch_execute(&format!("CREATE INDEX ON {table} {index}")).await?;
        }
        let insert =
            format!("INSERT INTO {table} VALUES ($1, $1 * 7, 'Name' || $1::int4, $1 % 1000)");
        let (times, seconds) = measured(url, &insert, clients, 1..=args.rows).await?;
        let what = format!("insert, {} indexes", indexes.len());
        print(report, (name, clients), &what, (&times, seconds))?;
    }
    for (what, sql) in STATEMENTS {
        let numbers =
            (0..args.operations).map(|number| number.wrapping_mul(2_654_435_761) % args.rows + 1);
        let by_code = sql.contains("code = $1");
        let numbers = numbers.map(|number| if by_code { number * 7 } else { number });
        let numbers: Vec<u32> = numbers.collect();
        let (times, seconds) = measured(url, sql, clients, numbers).await?;
        print(report, (name, clients), what, (&times, seconds))?;
    }
    Ok(())
}

async fn connect(url: &str) -> Result<Client> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// Runs a statement for each number; returns the durations, and the seconds of all together.
async fn measured(
    url: &str,
    sql: &str,
    clients: u16,
    numbers: impl IntoIterator<Item = u32>,
) -> Result<(Times, f64)> {
    let mut shares: Vec<Vec<i32>> = vec![Vec::new(); usize::from(clients)];
    for (at, number) in numbers.into_iter().enumerate() {
        shares[at % usize::from(clients)].push(number as i32);
    }
    let (mut running, start) = (JoinSet::new(), Instant::now());
    for share in shares {
        let client = connect(url).await?;
        let statement = client.prepare(sql).await?;
        running.spawn(async move {
            let mut times = Times::default();
            for number in share {
                let start = Instant::now();
                client.query(&statement, &[&number]).await?;
                times.push(start.elapsed());
            }
            Ok::<_, tokio_postgres::Error>(times)
        });
    }
    let mut times = Times::default();
    while let Some(ended) = running.join_next().await {
        times.append(ended??);
    }
    Ok((times, start.elapsed().as_secs_f64()))
}

fn print(
    report: Report,
    (server, clients): (&str, u16),
    what: &str,
    (times, seconds): (&Times, f64),
) -> Result<()> {
    let (median, p99) = (us(times.median()), us(times.quantile(0.99)));
    let a_second = times.count() as f64 / seconds;
    let text =
        format!("{server:<12} {what:<26} {clients:>8} {median:>10.1} {p99:>10.1} {a_second:>12.0}");
    report.result(
        &text,
        json!({
            "experiment": "indexed", "server": server, "statement": what, "clients": clients,
            "us_median": median, "us_p99": p99, "per_second": a_second,
        }),
    )?;
    Ok(())
}
