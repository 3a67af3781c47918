//! Measures the strategies, and prints them with the published figures.

use super::{Client, Ending, Sites, Strategy};
use crate::experiments::range::{BUCKETS, PUBLISHED, ROWS_A_BUCKET};
use crate::report::Report;
use crate::statistics::{Times, ms};
use anyhow::{Result, ensure};
use serde_json::json;

const WAYS: [(&str, Strategy); 4] = [
    ("S1", Strategy::PushOnce),
    ("S2", Strategy::PushWithRetries),
    ("S3", Strategy::Pull(1)),
    ("S3 by 8", Strategy::Pull(8)),
];

/// Measures all strategies for each number of buckets.
pub(in super::super) async fn run(runs: u32, backlog: u32, report: Report) -> Result<()> {
    let sites = Sites::start(BUCKETS).await?;
    report.heading(&format!(
        "The published strategies over TCP on loopback, one server for each bucket, a backlog of {}: ms (refused connections).\n\
         {:>7} {:>16} {:>16} {:>16} {:>16} {:>7} {:>7} {:>7}",
        backlog, "buckets", WAYS[0].0, WAYS[1].0, WAYS[2].0, WAYS[3].0, "S1 pub.", "S2 pub.", "S3 pub."
    ))?;
    let mut pull_wins_from = None;
    for (buckets, published) in PUBLISHED {
        let mut measured = [(0.0, 0); WAYS.len()];
        for (measured, (_, strategy)) in measured.iter_mut().zip(WAYS) {
            *measured = measure(runs, backlog, &sites, strategy, buckets).await?;
        }
        let [_, pushed, _, pulled] = measured;
        if pulled.0 < pushed.0 {
            pull_wins_from.get_or_insert(buckets);
        } else {
            pull_wins_from = None;
        }
        let cells: String = measured
            .iter()
            .map(|(ms, refusals)| format!(" {:>16}", format!("{ms:.2} ({refusals})")))
            .collect();
        let pub_cells: String = published
            .iter()
            .map(|ms| format!(" {:>7}", ms.map_or("fails".into(), |ms| format!("{ms:.0}"))))
            .collect();
        let figures: serde_json::Map<_, _> = WAYS
            .iter()
            .zip(&measured)
            .map(|((name, _), (ms, refusals))| {
                ((*name).to_owned(), json!({ "ms_median": ms, "refusals": refusals }))
            })
            .collect();
        report.result(
            &format!("{buckets:>7}{cells}{pub_cells}"),
            json!({
                "experiment": "range strategies", "buckets": buckets, "backlog": backlog,
                "measured": figures, "published_ms": published,
            }),
        )?;
    }
    let wins = pull_wins_from.map_or("for none of these numbers of servers".to_owned(), |n| {
        format!("from {n} servers on")
    });
    report.heading(&format!(
        "Pulling eight at a time is faster than pushing with retries {wins} (published: about 15)."
    ))?;
    Ok(())
}

/// The median duration of a strategy in milliseconds, and its refused connections a query.
async fn measure(
    runs: u32,
    backlog: u32,
    sites: &Sites,
    strategy: Strategy,
    buckets: u16,
) -> Result<(f64, u64)> {
    let (mut times, mut refusals) = (Times::default(), 0);
    for _ in 0..runs {
        // A new client for each run: its backlog is empty.
        let client = Client::start(backlog).await?;
        let gathered = client.gather(sites, strategy, buckets, Ending::Deterministic).await?;
        let records = u32::from(buckets) * ROWS_A_BUCKET;
        ensure!(gathered.records == records, "{} records instead of {records}", gathered.records);
        times.push(gathered.time);
        refusals += gathered.refusals;
    }
    Ok((ms(times.median()), refusals / u64::from(runs)))
}
