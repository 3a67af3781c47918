//! The two terminations (requirement A3): what it costs to know that all have answered, and what not to know it.

use super::{Client, Ending, Sites, Strategy};
use crate::experiments::range::{BUCKETS, PUBLISHED, ROWS_A_BUCKET};
use crate::report::Report;
use crate::statistics::{Times, ms};
use anyhow::Result;
use serde_json::json;
use std::time::Duration;

/// How long a client without knowledge waits for another answer, in milliseconds.
const PATIENCE_MS: [u64; 3] = [2, 10, 50];

/// A mean of several queries.
struct Measured {
    ms: f64,
    /// Of the records that should have come.
    missing_percent: f64,
}

/// Measures both, for ever more buckets.
pub(in super::super) async fn run(runs: u32, backlog: u32, report: Report) -> Result<()> {
    let sites = Sites::start(BUCKETS).await?;
    let heads: String =
        PATIENCE_MS.iter().map(|patience| format!(" {:>18}", format!("{patience} ms"))).collect();
    report.heading(&format!(
        "Termination, S2: deterministic, and probabilistic after so long without an answer, asked of all {BUCKETS}: ms (records missing).\n\
         {:>7} {:>18}{heads}",
        "buckets", "deterministic"
    ))?;
    for (buckets, _) in PUBLISHED {
        let known = measure((runs, backlog), &sites, buckets, Ending::Deterministic).await?;
        let (mut cells, mut figures) = (String::new(), Vec::new());
        for patience_ms in PATIENCE_MS {
            let ending = Ending::Probabilistic(Duration::from_millis(patience_ms));
            let Measured { ms, missing_percent } =
                measure((runs, backlog), &sites, buckets, ending).await?;
            cells += &format!(" {:>18}", format!("{ms:.2} ({missing_percent:.1} %)"));
            figures.push(json!({
                "patience_ms": patience_ms, "ms_median": ms, "missing_percent": missing_percent,
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
    (runs, backlog): (u32, u32),
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
