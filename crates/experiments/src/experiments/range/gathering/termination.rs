//! Compares deterministic and probabilistic termination (requirement A3): duration and missing records.

use super::{Client, Ending, Sites, Strategy};
use crate::experiments::range::{BUCKETS, PUBLISHED, ROWS_A_BUCKET};
use crate::report::Report;
use crate::statistics::{Times, ms};
use anyhow::Result;
use serde_json::json;
use std::time::Duration;

/// Timeouts of probabilistic termination, in milliseconds.
const TIMEOUTS_MS: [u64; 3] = [2, 10, 50];

/// The results of several runs.
struct Measured {
    ms: f64,
    /// Missing records, in percent of all.
    missing_percent: f64,
}

/// Measures both terminations for each number of buckets.
pub(in super::super) async fn run(runs: u32, backlog: u32, report: Report) -> Result<()> {
    let sites = Sites::start(BUCKETS).await?;
    let heads: String =
        TIMEOUTS_MS.iter().map(|timeout| format!(" {:>18}", format!("{timeout} ms"))).collect();
    report.heading(&format!(
        "Termination with S2: deterministic, and probabilistic with a timeout and queries to all {BUCKETS} servers: ms (missing records).\n\
         {:>7} {:>18}{heads}",
        "buckets", "deterministic"
    ))?;
    for (buckets, _) in PUBLISHED {
        let known = measure(runs, backlog, &sites, buckets, Ending::Deterministic).await?;
        let (mut cells, mut figures) = (String::new(), Vec::new());
        for timeout_ms in TIMEOUTS_MS {
            let ending = Ending::Probabilistic(Duration::from_millis(timeout_ms));
            let Measured { ms, missing_percent } =
                measure(runs, backlog, &sites, buckets, ending).await?;
            cells += &format!(" {:>18}", format!("{ms:.2} ({missing_percent:.1} %)"));
            figures.push(json!({
                "patience_ms": timeout_ms, "ms_median": ms, "missing_percent": missing_percent,
            }));
        }
        report.result(
            &format!("{buckets:>7} {:>18.2}{cells}", known.ms),
            json!({
                "experiment": "range terminations", "buckets": buckets, "backlog": backlog,
                "deterministic_ms": known.ms, "probabilistic": figures,
            }),
        )?;
    }
    Ok(())
}

async fn measure(
    runs: u32,
    backlog: u32,
    sites: &Sites,
    buckets: u16,
    ending: Ending,
) -> Result<Measured> {
    let (mut times, mut came) = (Times::default(), 0);
    for _ in 0..runs {
        let client = Client::start(backlog).await?;
        let gathered = client.gather(sites, Strategy::PushWithRetries, buckets, ending).await?;
        times.push(gathered.time);
        came += gathered.records;
    }
    let all = f64::from(runs * u32::from(buckets) * ROWS_A_BUCKET);
    let missing_percent = 100.0 * (1.0 - f64::from(came) / all);
    Ok(Measured { ms: ms(times.median()), missing_percent })
}
