//! `pando bench person --servers N` and `--scale-up`: the join of Experiment A on servers of one process.
//!
//! The table is loaded through the first server and asked through the last; whoever asks reads every pair. All servers
//! share this machine's processors: more of them do not make the join faster here, but what each has to do, and what
//! they have to say to each other, is what it would be on machines of their own.

use super::on_workers;
use super::person::{PersonArgs, Query};
use crate::report::Report;
use crate::settling::{Shares, settle};
use crate::statistics::{Times, ms};
use crate::traffic::Said;
use crate::{Embedded, InProcess, person};
use anyhow::{Result, ensure};
use serde_json::json;
use tokio::runtime::Handle;

/// The published numbers of servers.
pub(super) const STEPS: [u16; 7] = [1, 3, 5, 8, 10, 12, 15];
const ROWS_A_SERVER: u32 = 20_000;
/// Bytes that a person takes in a bucket, about.
const ROW_BYTES: u64 = 45;
const BUCKETS_A_SERVER: u64 = 2;
const BUCKET_BYTES_MIN: u64 = 4 << 10;
const MIB: f64 = 1024.0 * 1024.0;

/// Servers, and the published seconds for so many and 20,000 persons each (I-strategy) for Q1 and Q2.
const SCALE_UP: [(u16, f64, f64); 7] = [
    (1, 61.0, 51.0),
    (3, 301.0, 185.0),
    (5, 684.0, 335.0),
    (8, 1817.0, 986.0),
    (10, 2555.0, 1270.0),
    (12, 3901.0, 2022.0),
    (15, 5564.0, 2624.0),
];
/// The published seconds of Q1 for 20,000 persons on 1 to 5 servers (I-strategy, the city indexed).
const SPEED_UP: [f64; 5] = [60.0, 39.0, 37.0, 36.0, 32.0];

/// What one query took on one cluster.
struct Measured {
    rows: u32,
    servers: u16,
    query: Query,
    pairs: u64,
    times: Times,
    /// Of one run.
    said: Said,
    shares: Shares,
}

pub(super) async fn run(args: &PersonArgs, report: Report, workers: Handle) -> Result<()> {
    ensure!(args.runs > 0, "--runs must be at least 1");
    report.heading(&format!(
        "Servers share this machine's processors. Published: AMOS-SDDS, I-strategy, a machine a server.\n\
         {:<6} {:>8} {:>7} {:>11} {:>12} {:>13} {:>11} {:>9} {:>12} {:>9}",
        "", "persons", "servers", "pairs", "ms", "pairs/s", "published s", "calls", "MiB between", "fullest %"
    ));
    match args.servers {
        Some(servers) => measure(args, args.rows, servers, (report, &workers)).await,
        None => {
            for servers in &args.steps {
                measure(args, ROWS_A_SERVER * u32::from(*servers), *servers, (report, &workers))
                    .await?;
            }
            Ok(())
        }
    }
}

/// Measures what is asked on one cluster.
async fn measure(
    args: &PersonArgs,
    rows: u32,
    servers: u16,
    (report, workers): (Report, &Handle),
) -> Result<()> {
    let options = on_workers(workers.clone());
    let (cluster, traffic) = InProcess::start_counted(servers.into(), options).await?;
    let door = |server: usize| Embedded { session: cluster.servers()[server].database.session() };
    let mut table = person::table(rows);
    table.create_sql += &format!(" WITH (bucket_size = {})", bucket_bytes(rows, servers));
    door(0).load(table).await?;
    let shares = settle(&cluster, "person", rows.into()).await?;
    let (pairs, asked) = (person::pairs(rows), door(usize::from(servers) - 1));
    let counted = asked.number(person::COUNT).await?;
    ensure!(counted == pairs, "{counted} pairs counted instead of {pairs}");
    for query in args.queries() {
        let (mut times, before) = (Times::default(), traffic.said());
        for _ in 0..args.runs {
            let (time, answered) = asked.query(query.sql()).await?;
            let expected = query.rows(pairs);
            ensure!(answered == expected, "{answered} rows instead of {expected}");
            times.push(time);
        }
        let said = traffic.said().since(before, args.runs.into());
        let shares = shares.clone();
        print(report, &Measured { rows, servers, query, pairs, times, said, shares });
    }
    Ok(())
}

fn print(report: Report, measured: &Measured) {
    let Measured { rows, servers, query, pairs, times, said, shares } = measured;
    let (median, min) = (ms(times.median()), ms(times.min()));
    let pairs_per_second = *pairs as f64 / times.median().as_secs_f64();
    let published = published(*rows, *servers, *query);
    let fullest = shares.fullest_percent();
    let text = format!(
        "{:<6} {rows:>8} {servers:>7} {pairs:>11} {median:>12.1} {pairs_per_second:>13.0} {:>11} {:>9} \
         {:>12.1} {fullest:>9.1}",
        query.name(),
        published.map_or(String::new(), |seconds| format!("{seconds:.0}")),
        said.calls,
        said.bytes as f64 / MIB,
    );
    report.result(&text, json!({
        "experiment": "person", "rows": rows, "servers": servers, "query": query.name(), "who": "pando",
        "pairs": pairs, "ms_median": median, "ms_min": min, "pairs_per_second": pairs_per_second,
        "published_seconds": published, "calls": said.calls, "bytes_between": said.bytes,
        "buckets": shares.buckets, "fullest_percent": fullest,
    }));
}

/// The bucket size with which each server has about two.
fn bucket_bytes(rows: u32, servers: u16) -> u64 {
    let buckets = u64::from(servers) * BUCKETS_A_SERVER;
    (u64::from(rows) * ROW_BYTES / buckets).max(BUCKET_BYTES_MIN)
}

/// The published seconds, where this was published.
fn published(rows: u32, servers: u16, query: Query) -> Option<f64> {
    if rows == ROWS_A_SERVER * u32::from(servers) {
        let step = SCALE_UP.iter().find(|(of, _, _)| *of == servers)?;
        return Some(if query == Query::Pairs { step.1 } else { step.2 });
    }
    let is_speed_up = rows == ROWS_A_SERVER && query == Query::Pairs;
    SPEED_UP.get(usize::from(servers) - 1).copied().filter(|_| is_speed_up)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_figures_are_found() {
        assert_eq!(published(300_000, 15, Query::Pairs), Some(5564.0));
        assert_eq!(published(100_000, 5, Query::Count), Some(335.0));
        assert_eq!(published(20_000, 5, Query::Pairs), Some(32.0));
        assert_eq!(published(20_000, 5, Query::Count), None);
        assert_eq!(published(20_000, 6, Query::Pairs), None);
        assert_eq!(published(40_000, 2, Query::Pairs), None);
        assert!(STEPS.iter().eq(SCALE_UP.iter().map(|(servers, _, _)| servers)));
    }

    #[test]
    fn buckets_are_never_too_small() {
        assert_eq!(bucket_bytes(20_000, 1), 450_000);
        assert_eq!(bucket_bytes(10, 15), 4 << 10);
    }
}
