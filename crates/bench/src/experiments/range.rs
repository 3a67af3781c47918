//! `pando bench range`: Experiment B, a range query that widens from one bucket to 140.
//!
//! Buckets are dealt out to the servers of one process in turn, and the query is asked through the last: so one of k
//! buckets concerns k servers, until all are concerned. Every server streams its rows as it finds them; whoever asks takes
//! them, and a server is at most eight answers ahead of it.
//!
//! This is Pando's own way over links within one process. The three published strategies are about how connections are
//! made, so they run over real ones, with a server of their own for each bucket ([`super::gathering`]).

use super::{gathering, range_gather};
use crate::endpoint::Endpoint;
use crate::report::Report;
use crate::settling::settle;
use crate::statistics::{Times, ms, us};
use crate::usage::Usage;
use crate::{Embedded, InProcess};
use anyhow::{Context, Result, ensure};
use arrow::array::{ArrayRef, Int32Array};
use sdds::{Bound, GroupId, KeyRange};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use store::MessageCount;
use store::catalog::{Relation, TableId};
use tokio::runtime::Handle;

/// On how many servers, how often.
#[derive(Debug, Clone, clap::Args)]
pub struct RangeArgs {
    /// Servers, all in this process
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=140))]
    pub servers: u16,
    /// How often each query is measured
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: u32,
    /// Connections that the client's system keeps until they are taken, for strategies 1 and 2
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub backlog: u32,
}

pub(super) const BUCKETS: u16 = 140;
pub(super) const ROWS_A_BUCKET: u32 = 50;
/// With the key, a row has a hundred bytes.
const FILLER_BYTES: usize = 96;
/// How often buckets that are busy, or were moved meanwhile, are dealt out again.
const SPREAD_ROUNDS_MAX: u32 = 200;
/// In so many rounds nothing has to be given any more: for the time of several heartbeats.
const ROUNDS_SETTLED: usize = 20;

/// Buckets, and the published milliseconds of strategies 1 to 3.
pub(super) const PUBLISHED: [(u16, [Option<f64>; 3]); 8] = [
    (1, [Some(20.0), Some(24.0), Some(251.0)]),
    (5, [Some(40.0), Some(44.0), Some(274.0)]),
    (10, [Some(74.0), Some(476.0), Some(344.0)]),
    (20, [Some(579.0), Some(997.0), Some(492.0)]),
    (40, [Some(1612.0), Some(1755.0), Some(791.0)]),
    (70, [None, Some(2708.0), Some(1404.0)]),
    (100, [None, Some(3653.0), Some(1759.0)]),
    (140, [None, Some(4877.0), Some(2313.0)]),
];

pub(super) async fn run(args: &RangeArgs, report: Report, workers: Handle) -> Result<()> {
    let cluster = InProcess::on_workers(args.servers, &workers).await?;
    load(&cluster).await?;
    spread_buckets(&cluster, table_id(&cluster)?).await?;
    let rows = u32::from(BUCKETS) * ROWS_A_BUCKET;
    let asked = endpoint(&cluster, cluster.servers().len() - 1);
    settle(&asked, "r", rows.into(), cluster.servers().len()).await?;
    report.heading(&format!(
        "{BUCKETS} buckets of {ROWS_A_BUCKET} records on {} servers of one process; every owner streams, at most 8 answers \
         ahead.\nS1, S2, S3: published ms, a machine a server.\n\
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
        print(report, args.servers, (buckets, published), &times, usage.traffic())?;
    }
    range_gather::run(&asked, args.servers, args.runs, report).await?;
    gathering::run(args.runs, args.backlog, report).await?;
    gathering::run_terminations(args.runs, args.backlog, report).await
}

/// A session of one of the servers.
fn endpoint(cluster: &InProcess, server: usize) -> Endpoint {
    Endpoint::Session(Embedded { session: cluster.servers()[server].database.session() })
}

/// The number of the table.
fn table_id(cluster: &InProcess) -> Result<TableId> {
    let catalog = cluster.servers()[0].database.session().catalog();
    let found = catalog.relation("public", "r").and_then(|relation| match relation {
        Relation::Table(table) => Some(table.id),
        Relation::View(_) | Relation::Sequence(_) => None,
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

/// Gives each bucket to its server. Cutting them off from the top leaves the rest in one piece, so that nothing that the
/// root could order would help; what it orders nevertheless is undone by the next round, and what it had ordered before the last
/// bucket was given shows within the next heartbeats.
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
                // Where it cannot be done now, the next round tries again.
                let _ = servers[from].cluster.give(table, range, GroupId(to as u64)).await;
            }
        }
        rounds_settled = if misplaced == 0 { rounds_settled + 1 } else { 0 };
        if rounds_settled == ROUNDS_SETTLED {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    anyhow::bail!("the buckets could not be dealt out to {} servers", servers.len())
}

fn owns(cluster: &InProcess, server: usize, table: TableId, range: &KeyRange) -> bool {
    let owned = cluster.servers()[server].database.store().owned(table);
    owned.iter().any(|owned| owned.low <= range.low && range.high <= owned.high)
}

/// The keys of each bucket; together they are all keys.
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

fn print(
    report: Report,
    servers: u16,
    (buckets, published): (u16, [Option<f64>; 3]),
    times: &Times,
    traffic: MessageCount,
) -> Result<()> {
    let (median, min) = (ms(times.median()), ms(times.min()));
    let records = u32::from(buckets) * ROWS_A_BUCKET;
    let us_per_record = us(times.median()) / f64::from(records);
    let concerned = buckets.min(servers);
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
    fn buckets_tile_all_keys() {
        let ranges = ranges().expect("keys");
        assert_eq!(ranges.len(), usize::from(BUCKETS));
        assert_eq!(ranges[0].low, Bound::NegInf);
        assert_eq!(ranges[ranges.len() - 1].high, Bound::PosInf);
        assert!(ranges.windows(2).all(|pair| pair[0].high == pair[1].low));
        assert!(ranges.iter().all(|range| range.low < range.high));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn buckets_are_dealt_out_in_turn() {
        let cluster = InProcess::start(4, Options::default()).await.expect("four servers");
        load(&cluster).await.expect("loaded");
        let table = table_id(&cluster).expect("a table");
        spread_buckets(&cluster, table).await.expect("dealt");
        for (bucket, range) in ranges().expect("keys").iter().enumerate() {
            assert!(owns(&cluster, bucket % 4, table, range), "bucket {bucket}");
        }
        let shares = settle(&endpoint(&cluster, 0), "r", 7000, 4).await.expect("at rest");
        assert_eq!(shares.rows, [1750; 4]);
    }
}
