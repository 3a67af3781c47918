//! `pando bench keyed`: one row by its key, through prepared statements and without a network.
//!
//! Rows have 134 bytes, as in Experiment C (`PAPERS.md`); keys come in random order. Afterwards the process is
//! left alone for a while, to see what it takes when nobody asks. On several servers, and there with PostgreSQL
//! clients, it is `keyed_servers`.

use super::keyed_servers;
use crate::embedded::drain;
use crate::interrupt::until_interrupted;
use crate::report::Report;
use crate::statistics::{Times, us};
use crate::{Embedded, process};
use anyhow::{Result, ensure};
use query::{Prepared, ScalarValue};
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// How many rows there are and how often they are asked for.
#[derive(Debug, Clone, clap::Args)]
pub struct KeyedArgs {
    /// Rows of the table
    #[arg(long, default_value_t = 160_000)]
    pub rows: u32,
    /// How often each kind of statement is run
    #[arg(long, default_value_t = 50_000)]
    pub operations: u32,
    /// How many seconds the process is left alone afterwards
    #[arg(long, default_value_t = 5)]
    pub idle: u64,
    /// Experiment C instead, on clusters of so many servers, each a process
    #[arg(long, value_delimiter = ',', conflicts_with_all = ["rows", "operations", "idle"],
        value_parser = clap::value_parser!(u16).range(1..))]
    pub servers: Vec<u16>,
    /// All servers in this process instead, and sessions instead of connections
    #[arg(long, requires = "servers")]
    pub in_process: bool,
    /// Clients with images of their own, which ask the servers that own the rows
    #[arg(long, requires = "servers", conflicts_with = "in_process")]
    pub images: bool,
    /// Clients of each server, one measurement a number
    #[arg(long, requires = "servers", value_delimiter = ',', default_values_t = keyed_servers::CLIENTS,
        value_parser = clap::value_parser!(u16).range(1..))]
    pub clients: Vec<u16>,
    /// Where the random keys of clients begin
    #[arg(long, requires = "servers", default_value_t = 1)]
    pub seed: u64,
}

const CREATE: &str =
    "CREATE TABLE x (id integer PRIMARY KEY, value integer NOT NULL, filler varchar(126) NOT NULL)";
const INSERT: &str = "INSERT INTO x VALUES ($1, 0, $2)";
const SELECT: &str = "SELECT * FROM x WHERE id = $1";
const UPDATE: &str = "UPDATE x SET value = value + 1 WHERE id = $1";
/// Two integers and this make 134 bytes.
pub(super) const FILLER_BYTES: usize = 126;
const MIB: f64 = 1024.0 * 1024.0;

pub(super) async fn run(args: &KeyedArgs, report: Report, workers: Handle) -> Result<()> {
    if !args.servers.is_empty() {
        return until_interrupted(keyed_servers::run(args, report, &workers)).await;
    }
    ensure!(args.rows > 0, "--rows must be at least 1");
    let pando = Embedded::open()?;
    pando.execute(CREATE).await?;
    let filler = ScalarValue::from("x".repeat(FILLER_BYTES));
    report.heading(&format!(
        "{:<8} {:>10} {:>10} {:>10} {:>12}",
        "", "median µs", "p99 µs", "max µs", "a second"
    ))?;
    let insert = pando.session.prepare(INSERT).await?;
    // A stride without a common divisor with the number of rows accesses each key once.
    let inserted = (0..args.rows).map(|i| vec![key(i, args.rows), filler.clone()]);
    print(report, args, "insert", &measure(&insert, inserted).await?)?;
    let (rows, operations) = (args.rows, args.operations);
    let asked = |salt: u64| {
        (0..operations).map(move |i| vec![random_key(u64::from(i) ^ salt, rows).into()])
    };
    let select = pando.session.prepare(SELECT).await?;
    print(report, args, "select", &measure(&select, asked(1 << 40)).await?)?;
    let update = pando.session.prepare(UPDATE).await?;
    print(report, args, "update", &measure(&update, asked(1 << 41)).await?)?;
    let updated = pando.number("SELECT sum(value) FROM x").await?;
    ensure!(
        updated == u64::from(args.operations),
        "{updated} updates are there of {}",
        args.operations
    );
    idle(args, report).await?;
    Ok(())
}

async fn measure(
    statement: &Prepared,
    parameters: impl Iterator<Item = Vec<ScalarValue>>,
) -> Result<Times> {
    let mut times = Times::default();
    for parameters in parameters {
        let start = Instant::now();
        let rows = drain(statement.execute(&parameters).await?).await?;
        times.push(start.elapsed());
        ensure!(rows == 1, "{rows} rows instead of 1 for {parameters:?}");
    }
    Ok(times)
}

async fn idle(args: &KeyedArgs, report: Report) -> Result<()> {
    let before = process::processor_time();
    tokio::time::sleep(Duration::from_secs(args.idle)).await;
    let used = before.and_then(|before| Some(process::processor_time()? - before));
    if let (Some(used), Some(bytes)) = (used, process::resident_bytes()) {
        let percent = 100.0 * used.as_secs_f64() / args.idle.max(1) as f64;
        let mib = bytes as f64 / MIB;
        let text = format!("idle     {percent:.1} % of a processor, {mib:.0} MiB resident");
        report.result(&text, json!({
            "experiment": "keyed", "operation": "idle", "seconds": args.idle, "cpu_percent": percent,
            "resident_bytes": bytes,
        }))?;
    }
    Ok(())
}

fn print(report: Report, args: &KeyedArgs, operation: &str, times: &Times) -> Result<()> {
    let (median, p99, max) =
        (us(times.median()), us(times.quantile(0.99)), us(times.quantile(1.0)));
    let a_second = times.per_second();
    let text = format!("{operation:<8} {median:>10.2} {p99:>10.2} {max:>10.0} {a_second:>12.0}");
    report.result(
        &text,
        json!({
            "experiment": "keyed", "operation": operation, "rows": args.rows, "us_median": median,
            "us_p99": p99, "us_max": max, "per_second": a_second,
        }),
    )?;
    Ok(())
}

/// The i-th key of a walk through all keys from 1 to `rows`.
fn key(i: u32, rows: u32) -> ScalarValue {
    let stride = (rows / 2 + 1..).find(|stride| gcd(*stride, rows) == 1).unwrap_or(1);
    let place = u64::from(i) * u64::from(stride) % u64::from(rows);
    ScalarValue::from(place as i32 + 1)
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A key that follows from a number as if by chance (SplitMix64).
pub(super) fn random_key(number: u64, rows: u32) -> i32 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) % u64::from(rows)) as i32 + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_walk_visits_each_key_once() {
        for rows in [1, 2, 10, 999] {
            let keys: BTreeSet<String> = (0..rows).map(|i| key(i, rows).to_string()).collect();
            assert_eq!(keys.len(), rows as usize);
            assert!(keys.contains("1") && keys.contains(&rows.to_string()));
        }
    }

    #[test]
    fn random_keys_are_spread_over_all() {
        let keys: BTreeSet<i32> = (0..10_000).map(|i| random_key(i, 100)).collect();
        assert_eq!(keys.len(), 100);
    }
}
