//! `pando bench keyed`: single-row statements by key, prepared and without a network.
//!
//! Rows have 134 bytes, as in Experiment C (`PAPERS.md`). Keys come in random order. At the end the resource usage of the
//! idle process is measured. [`servers`] does the same on several servers.

mod report;
mod servers;

use crate::interrupt::until_interrupted;
use crate::process;
use crate::report::Report;
use crate::statistics::{Times, us};
use anyhow::{Result, ensure};
use query::Executors;
use query::{Prepared, ScalarValue};
use serde_json::json;
use std::time::{Duration, Instant};
use workloads::{Embedded, drain};

/// Options of `pando bench keyed`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct KeyedArgs {
    /// Rows of the table
    #[arg(long, default_value_t = 160_000)]
    pub(crate) rows: u32,
    /// Runs of each kind of statement
    #[arg(long, default_value_t = 50_000)]
    pub(crate) operations: u32,
    /// Seconds for which the idle process is measured
    #[arg(long, default_value_t = 5)]
    pub(crate) idle: u64,
    /// Run Experiment C instead, on clusters of so many servers, each a process
    #[arg(long, value_delimiter = ',', conflicts_with_all = ["rows", "operations", "idle"],
        value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) servers: Vec<u16>,
    /// Run all servers in this process, with sessions instead of connections
    #[arg(long, requires = "servers")]
    pub(crate) in_process: bool,
    /// Use clients with images, which send statements to the owners of the rows
    #[arg(long, requires = "servers", conflicts_with = "in_process")]
    pub(crate) images: bool,
    /// Clients of each server; one measurement for each number
    #[arg(long, requires = "servers", value_delimiter = ',', default_values_t = servers::CLIENTS,
        value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) clients: Vec<u16>,
    /// Seed of the random keys
    #[arg(long, requires = "servers", default_value_t = 1)]
    pub(crate) seed: u64,
}

const CREATE: &str =
    "CREATE TABLE x (id integer PRIMARY KEY, value integer NOT NULL, filler varchar(126) NOT NULL)";
const INSERT: &str = "INSERT INTO x VALUES ($1, 0, $2)";
const SELECT: &str = "SELECT * FROM x WHERE id = $1";
const UPDATE: &str = "UPDATE x SET value = value + 1 WHERE id = $1";
/// Together with two integers, 134 bytes.
const FILLER_BYTES: usize = 126;
const MIB: f64 = 1024.0 * 1024.0;

pub(super) async fn run(args: &KeyedArgs, report: Report, executors: Executors) -> Result<()> {
    if !args.servers.is_empty() {
        return until_interrupted(servers::run(args, report, &executors)).await;
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
    // The stride has no common divisor with the number of rows, so each key occurs once.
    let inserted = (0..args.rows).map(|i| vec![key(i, args.rows), filler.clone()]);
    print(report, args, "insert", &measure(&insert, inserted).await?)?;
    let (rows, operations) = (args.rows, args.operations);
    let random_keys = |salt: u64| {
        (0..operations).map(move |i| vec![random_key(u64::from(i) ^ salt, rows).into()])
    };
    let select = pando.session.prepare(SELECT).await?;
    print(report, args, "select", &measure(&select, random_keys(1 << 40)).await?)?;
    let update = pando.session.prepare(UPDATE).await?;
    print(report, args, "update", &measure(&update, random_keys(1 << 41)).await?)?;
    let updated = pando.number("SELECT sum(value) FROM x").await?;
    ensure!(
        updated == u64::from(args.operations),
        "{updated} updates of {} took effect",
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

/// The i-th key of a permutation of the keys 1 to `rows`.
fn key(i: u32, rows: u32) -> ScalarValue {
    let stride = (rows / 2 + 1..).find(|stride| gcd(*stride, rows) == 1).unwrap_or(1);
    let place = u64::from(i) * u64::from(stride) % u64::from(rows);
    ScalarValue::from(place as i32 + 1)
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A pseudo-random key from 1 to `rows`: the hash of a number (SplitMix64).
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
    fn the_permutation_has_each_key_once() {
        for rows in [1, 2, 10, 999] {
            let keys: BTreeSet<String> = (0..rows).map(|i| key(i, rows).to_string()).collect();
            assert_eq!(keys.len(), rows as usize);
            assert!(keys.contains("1") && keys.contains(&rows.to_string()));
        }
    }

    #[test]
    fn random_keys_cover_all_keys() {
        let keys: BTreeSet<i32> = (0..10_000).map(|i| random_key(i, 100)).collect();
        assert_eq!(keys.len(), 100);
    }
}
