//! Compares `SET pando.gather = push` and `pull`: from how many servers on pulling is not slower.

use super::ROWS_A_BUCKET;
use crate::endpoint::Endpoint;
use crate::report::Report;
use crate::statistics::{Times, ms};
use anyhow::{Result, ensure};
use serde_json::json;

/// Runs for each run of the other measurements: these queries are short, and the times differ by little.
const RUNS: u32 = 10;

/// Reads the first buckets, each on a different server, for 2 to `servers` servers.
pub(super) async fn run(asked: &Endpoint, servers: u16, runs: u32, report: Report) -> Result<()> {
    report.heading(&format!(
        "\nThe same rows pushed, or pulled from a few servers at a time (SET pando.gather), median ms\n\
         {:>7} {:>10} {:>10} {:>10}",
        "servers", "pushed", "pulled", "ratio"
    ))?;
    let mut break_even = None;
    for count in (2..=servers).filter(|count| count % 2 == 0) {
        let [pushed, pulled] = alternate(asked, count, runs).await?;
        let ratio = ms(pulled.median()) / ms(pushed.median());
        break_even = if ratio <= 1.0 { break_even.or(Some(count)) } else { None };
        let (pushed, pulled) = (ms(pushed.median()), ms(pulled.median()));
        let text = format!("{count:>7} {pushed:>10.2} {pulled:>10.2} {ratio:>10.2}");
        report.result(&text, json!({
            "experiment": "range", "servers_asked": count, "pushed_ms_median": pushed, "pulled_ms_median": pulled,
        }))?;
    }
    let text = match break_even {
        Some(count) => {
            format!("Pulling is not slower from {count} servers on; auto pulls from more than 16.")
        }
        None => {
            format!("Pushing is faster on up to {servers} servers; auto pulls from more than 16.")
        }
    };
    report.result(&text, json!({ "experiment": "range", "pulls_from": break_even }))?;
    Ok(())
}

/// Measures both settings alternately.
async fn alternate(asked: &Endpoint, servers: u16, runs: u32) -> Result<[Times; 2]> {
    let records = u32::from(servers) * ROWS_A_BUCKET;
    let sql = format!("SELECT * FROM r WHERE id >= 0 AND id < {records}");
    let mut times = [Times::default(), Times::default()];
    for _ in 0..runs.saturating_mul(RUNS) {
        for (way, times) in ["push", "pull"].into_iter().zip(&mut times) {
            asked.execute(&format!("SET pando.gather = {way}")).await?;
            let (time, answered) = asked.query(&sql).await?;
            ensure!(answered == u64::from(records), "{answered} records instead of {records}");
            times.push(time);
        }
    }
    asked.execute("RESET pando.gather").await?;
    Ok(times)
}
