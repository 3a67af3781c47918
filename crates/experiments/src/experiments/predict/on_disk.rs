//! Compares predictions with PostgreSQL on disk with cold caches (E5): Q3 and Q6.

use super::queries::{self, Query};
use super::rates::Point;
use super::{PredictArgs, SELECTIVITIES, loaded, predicted};
use crate::endpoint::Endpoint;
use crate::report::Report;
use anyhow::{Context, Result, bail};
use dbsim::hardware::{Architecture, catalog};
use serde_json::json;
use std::process::Command;
use std::time::{Duration, Instant};
use workloads::{coefficients, tpch};

/// The queries.
const QUERIES: [&str; 2] = ["Q3", "Q6"];
/// The tables that they read.
const TABLES: [&str; 3] = ["customer", "orders", "lineitem"];

/// Longest time until a restarted server accepts connections.
const RESTART_MAX: Duration = Duration::from_secs(60);

/// Options for a PostgreSQL server.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct OnDiskArgs {
    /// PostgreSQL server on which Q3 and Q6 also run; its tables customer, orders and lineitem are replaced
    #[arg(long, value_name = "URL", requires_all = ["cold", "disk_mb_s"])]
    pub(crate) postgresql: Option<String>,
    /// Shell command that empties its caches before each run: `pg_ctl restart ... && echo 3 > /proc/sys/vm/drop_caches`
    #[arg(long, value_name = "COMMAND")]
    pub(crate) cold: Option<String>,
    /// Read throughput of its disk, in megabytes a second
    #[arg(long, value_name = "MB")]
    pub(crate) disk_mb_s: Option<f64>,
}

/// The points of PostgreSQL; none without a server.
pub(super) async fn points(args: &PredictArgs, report: Report) -> Result<Vec<Point>> {
    let OnDiskArgs { postgresql: Some(url), cold: Some(cold), disk_mb_s: Some(disk) } =
        &args.on_disk
    else {
        return Ok(Vec::new());
    };
    let architecture = one_disk(args.mhz, *disk)?;
    let costs = coefficients("row-at-a-time")?;
    report.heading("\nPostgreSQL on disk, nothing in memory")?;
    let mut points = Vec::new();
    for (scale_at, scale) in args.scales.iter().enumerate() {
        let pando = loaded(*scale, super::USUAL_BUCKET_SIZE, report).await?;
        report.progress(&format!("loading PostgreSQL with scale {scale}"));
        fill(url, *scale).await?;
        let chosen = |query: &&Query| QUERIES.contains(&query.name);
        let all: Vec<&Query> = queries::ALL.iter().filter(chosen).collect();
        let mut shortest = vec![[[f64::INFINITY; 2]; SELECTIVITIES.len()]; all.len()];
        for run in 0..args.runs as usize {
            report.progress(&format!("run {} of {}", run + 1, args.runs));
            for (query, shortest) in all.iter().zip(&mut shortest) {
                for (at, shortest) in shortest.iter_mut().enumerate() {
                    let seconds = from_disk(url, cold, &query.sql(at)).await?;
                    shortest[run % 2] = seconds.min(shortest[run % 2]);
                }
            }
        }
        for (query, shortest) in all.iter().zip(shortest) {
            for ((at, selectivity), halves) in SELECTIVITIES.iter().enumerate().zip(shortest) {
                let name = query.name;
                let measured = halves[0].min(halves[1]);
                let predicted = predicted(&pando, &query.sql(at), &architecture, &costs).await?;
                report.result(
                    &format!(
                        "{name:<5}{selectivity:<8}{scale:>8}{:>28.2}{:>14.2}",
                        1e3 * measured,
                        1e3 * predicted
                    ),
                    json!({"query": name, "selectivity": selectivity, "scale": scale, "on_disk": true, "measured_ms": 1e3 * measured, "predicted_ms": 1e3 * predicted}),
                )?;
                points.push(Point {
                    query: name,
                    place: [scale_at, at, 0],
                    measured,
                    predicted,
                    halves,
                });
            }
        }
    }
    Ok(points)
}

/// An architecture with one core and one disk of this throughput.
fn one_disk(mhz: f64, mb_s: f64) -> Result<Architecture> {
    let settings = [
        "cores=1".to_owned(),
        "disks=1".to_owned(),
        format!("cpu_mhz={mhz}"),
        format!("interconnect_mb_s={mb_s}"),
    ];
    Ok(catalog::named("nvme-server", &settings)?)
}

async fn fill(url: &str, scale: f64) -> Result<()> {
    let postgresql = Endpoint::at(url).await?;
    for name in TABLES {
        postgresql.execute(&format!("DROP TABLE IF EXISTS {name}")).await?;
        postgresql.load(tpch::table(name, scale)).await?;
        postgresql.execute(&format!("VACUUM (ANALYZE) {name}")).await?;
    }
    postgresql.execute("CHECKPOINT").await?;
    Ok(())
}

/// Seconds of a query without parallel workers, after the caches were emptied.
async fn from_disk(url: &str, cold: &str, sql: &str) -> Result<f64> {
    let status = Command::new("sh").args(["-c", cold]).status().context("cannot run a shell")?;
    if !status.success() {
        bail!("`{cold}` failed: {status}");
    }
    let started = Instant::now();
    let postgresql = loop {
        match Endpoint::at(url).await {
            Err(error) if started.elapsed() > RESTART_MAX => return Err(error),
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            Ok(postgresql) => break postgresql,
        }
    };
    postgresql.execute("SET max_parallel_workers_per_gather = 0").await?;
    Ok(postgresql.query(sql).await?.0.as_secs_f64())
}
