//! `pando bench range`: Experiment B, range queries over 1 to 140 buckets.
//!
//! The buckets are distributed round-robin over servers in this process, and the queries run through the last. A query over
//! k buckets concerns k servers, up to all of them. Each server streams its rows, and sends at most eight answers that the
//! coordinator has not consumed.
//!
//! These servers are connected within the process. The three published strategies differ in how connections are made, so
//! [`gathering`] runs them over TCP, with one server for each bucket.

mod gathering;
mod pull;

use crate::endpoint::Endpoint;
use crate::report::Report;
use crate::settling::settle;
use crate::statistics::{Times, ms, us};
use crate::usage::Usage;
use anyhow::{Context, Result, ensure};
use arrow::array::{ArrayRef, Int32Array};
use query::Executors;
use sdds::{Bound, GroupId, KeyRange};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use store::MessageCount;
use store::catalog::{Relation, TableId};
use workloads::{Embedded, InProcess};

/// Options of `pando bench range`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RangeArgs {
    /// Number of servers, all in this process
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=140))]
    pub(crate) servers: u16,
    /// Measured runs of each query
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: u32,
    /// Length of the client's listen backlog, for strategies 1 and 2
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) backlog: u32,
}

const BUCKETS: u16 = 140;
const ROWS_A_BUCKET: u32 = 50;
/// Together with the key, 100 bytes.
const FILLER_BYTES: usize = 96;
/// Rounds in which buckets that are busy, or that were moved by the cluster, are placed again.
const SPREAD_ROUNDS_MAX: u32 = 200;
/// The placement is final after so many rounds without a move: longer than several heartbeats.
const ROUNDS_SETTLED: usize = 20;

/// Numbers of buckets, and the published milliseconds of strategies 1 to 3; `None` if the strategy failed.
const PUBLISHED: [(u16, [Option<f64>; 3]); 8] = [
    (1, [Some(20.0), Some(24.0), Some(251.0)]),
    (5, [Some(40.0), Some(44.0), Some(274.0)]),
    (10, [Some(74.0), Some(476.0), Some(344.0)]),
    (20, [Some(579.0), Some(997.0), Some(492.0)]),
    (40, [Some(1612.0), Some(1755.0), Some(791.0)]),
    (70, [None, Some(2708.0), Some(1404.0)]),
    (100, [None, Some(3653.0), Some(1759.0)]),
    (140, [None, Some(4877.0), Some(2313.0)]),
];

pub(super) async fn run(args: &RangeArgs, report: Report, executors: Executors) -> Result<()> {
    let cluster = InProcess::on_executors(args.servers, &executors).await?;
    load(&cluster).await?;
    spread_buckets(&cluster, table_id(&cluster)?).await?;
    let rows = u32::from(BUCKETS) * ROWS_A_BUCKET;
    let asked = endpoint(&cluster, cluster.servers().len() - 1);
    settle(&asked, "r", rows.into(), cluster.servers().len()).await?;
    report.heading(&format!(
        "{BUCKETS} buckets of {ROWS_A_BUCKET} records on {} servers of one process; every owner streams at most 8 answers \
         ahead.\nS1, S2, S3: published ms, one machine for each server.\n\
         {:>7} {:>7} {:>7} {:>10} {:>10} {:>10} {:>8} {:>9} {:>7} {:>7} {:>7}",
        args.servers, "buckets", "servers", "records", "ms", "ms min", "µs/record", "messages", "KiB", "S1", "S2", "S3"
    ))?;
    for (buckets, published) in PUBLISHED {
        let records = u32::from(buckets) * ROWS_A_BUCKET;
        let sql = format!("SELECT * FROM r WHERE id >= 0 AND id < {records}");
        let (mut times, before) = (Times::default(), Usage::of(&asked, |_| None).await?);
        for _ in 0..args.runs {
            let (time, answered) = asked.query(&sql).await?;
            ensure!(answered == u64::from(records), "{answered} records instead of {records}");
            times.push(time);
        }
        let usage = Usage::of(&asked, |_| None).await?.since(&before, args.runs);
        let figures = Figures { buckets, published, times, traffic: usage.traffic() };
        print(report, args.servers, &figures)?;
    }
    pull::run(&asked, args.servers, args.runs, report).await?;
    gathering::run(args.runs, args.backlog, report).await?;
    gathering::run_terminations(args.runs, args.backlog, report).await
}

/// A session of a server.
fn endpoint(cluster: &InProcess, server: usize) -> Endpoint {
    Endpoint::Session(Embedded { session: cluster.servers()[server].database.session() })
}

/// The id of the table `r`.
fn table_id(cluster: &InProcess) -> Result<TableId> {
    let catalog = cluster.servers()[0].database.session().catalog();
    let found = catalog.relation("public", "r").and_then(|relation| match relation {
        Relation::Table(table) => Some(table.id),
        Relation::View(_) | Relation::Sequence(_) | Relation::Index(_) => None,
    });
    found.context("there is no table r")
}

async fn load(cluster: &InProcess) -> Result<()> {
    let first = endpoint(cluster, 0);
    let create = format!("CREATE TABLE r (id integer PRIMARY KEY, filler varchar({FILLER_BYTES}))");
    first.execute(&create).await?;
    let last = u32::from(BUCKETS) * ROWS_A_BUCKET - 1;
    let insert = format!(
        "INSERT INTO r SELECT i, repeat('x', {FILLER_BYTES}) FROM generate_series(0, {last}) AS g(i)"
    );
    first.execute(&insert).await?;
    Ok(())
}

/// Moves each bucket to its server, from the highest keys down. The rest then stays in one bucket, which the root does not
/// move. Moves that the root orders nevertheless are undone in the next round. Orders from before the last move show up
/// within the next heartbeats.
async fn spread_buckets(cluster: &InProcess, table: TableId) -> Result<()> {
    let ranges = ranges()?;
    let servers = cluster.servers();
    let mut rounds_settled = 0;
    for _ in 0..SPREAD_ROUNDS_MAX {
        let mut misplaced = 0;
        for (bucket, range) in ranges.iter().enumerate().rev() {
            let to = bucket % servers.len();
            if owns(cluster, to, table, range) {
                continue;
            }
            misplaced += 1;
            for from in (0..servers.len()).filter(|from| owns(cluster, *from, table, range)) {
                // The next round repeats a move that fails.
                let _ = servers[from].cluster.give(table, range, GroupId(to as u64)).await;
            }
        }
        rounds_settled = if misplaced == 0 { rounds_settled + 1 } else { 0 };
        if rounds_settled == ROUNDS_SETTLED {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    anyhow::bail!("the buckets could not be distributed over {} servers", servers.len())
}

fn owns(cluster: &InProcess, server: usize, table: TableId, range: &KeyRange) -> bool {
    let owned = cluster.servers()[server].database.store().owned(table);
    owned.iter().any(|owned| owned.low <= range.low && range.high <= owned.high)
}

/// The key range of each bucket. The ranges tile the key space.
fn ranges() -> Result<Vec<KeyRange>> {
    let cuts = (1..BUCKETS).map(|bucket| i32::from(bucket) * ROWS_A_BUCKET.cast_signed());
    let cuts: ArrayRef = Arc::new(Int32Array::from_iter_values(cuts));
    let mut low = Bound::NegInf;
    let mut ranges = Vec::new();
    for cut in store::key::encode_columns(&[cuts])? {
        let high = Bound::At(cut);
        ranges.push(KeyRange { low: std::mem::replace(&mut low, high.clone()), high });
    }
    ranges.push(KeyRange { low, high: Bound::PosInf });
    Ok(ranges)
}

/// The results of one range query.
struct Figures {
    buckets: u16,
    /// Published milliseconds of strategies 1 to 3.
    published: [Option<f64>; 3],
    times: Times,
    traffic: MessageCount,
}

fn print(report: Report, servers: u16, figures: &Figures) -> Result<()> {
    let Figures { buckets, published, times, traffic } = figures;
    let (median, min) = (ms(times.median()), ms(times.min()));
    let records = u32::from(*buckets) * ROWS_A_BUCKET;
    let us_per_record = us(times.median()) / f64::from(records);
    let concerned = servers.min(*buckets);
    let [s1, s2, s3] = published.map(|ms| ms.map_or("fails".to_owned(), |ms| format!("{ms:.0}")));
    let kib = traffic.bytes as f64 / 1024.0;
    let text = format!(
        "{buckets:>7} {concerned:>7} {records:>7} {median:>10.2} {min:>10.2} {us_per_record:>10.2} {:>8} {kib:>9.1} \
         {s1:>7} {s2:>7} {s3:>7}",
        traffic.messages
    );
    report.result(&text, json!({
        "experiment": "range", "servers": servers, "buckets": buckets, "servers_asked": concerned,
        "records": records, "ms_median": median, "ms_min": min, "us_per_record": us_per_record,
        "messages": traffic.messages, "bytes_between": traffic.bytes, "published_ms": published,
    }))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use query::Options;

    #[test]
    fn ranges_tile_the_key_space() {
        let ranges = ranges().expect("keys");
        assert_eq!(ranges.len(), usize::from(BUCKETS));
        assert_eq!(ranges[0].low, Bound::NegInf);
        assert_eq!(ranges[ranges.len() - 1].high, Bound::PosInf);
        assert!(ranges.windows(2).all(|pair| pair[0].high == pair[1].low));
        assert!(ranges.iter().all(|range| range.low < range.high));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn buckets_are_distributed_round_robin() {
        let cluster = InProcess::start(4, Options::default()).await.expect("four servers");
        load(&cluster).await.expect("loaded");
        let table = table_id(&cluster).expect("a table");
        spread_buckets(&cluster, table).await.expect("distributed");
        for (bucket, range) in ranges().expect("keys").iter().enumerate() {
            assert!(owns(&cluster, bucket % 4, table, range), "bucket {bucket}");
        }
        let shares = settle(&endpoint(&cluster, 0), "r", 7000, 4).await.expect("at rest");
        assert_eq!(shares.rows, [1750; 4]);
    }
}
