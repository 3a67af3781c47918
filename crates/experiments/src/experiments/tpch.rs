//! `pando bench tpch`: the 22 queries, warm, compared with a peer.
//!
//! Runs alternate between Pando and the peer, so that other load on the machine affects both. The duration of a query is
//! from its text to its last row. The first run is not measured: its answers are compared.

use crate::endpoint::Endpoint;
use crate::parquet_files;
use crate::peer::{Peer, PeerArgs};
use crate::report::Report;
use crate::settling::settle;
use crate::statistics::{Times, geometric_mean, ms};
use anyhow::{Context, Result, ensure};
use query::Executors;
use serde_json::json;
use std::time::Duration;
use workloads::{Embedded, Expected, InProcess, tpch};

/// Options of `pando bench tpch`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct TpchArgs {
    /// TPC-H's scale factor
    #[arg(long, default_value_t = 1.0, value_parser = tpch::parse_scale)]
    pub(crate) scale: f64,
    /// Only these queries, such as 1,3,6
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u8).range(1..=22))]
    pub(crate) queries: Vec<u8>,
    /// Measured runs of each query
    #[arg(long, default_value_t = 5)]
    pub(crate) runs: u32,
    /// Bytes of a bucket [default: the database's]
    #[arg(long)]
    pub(crate) bucket_size: Option<u64>,
    /// Servers of a cluster in this process, over which the tables are spread
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) servers: u16,
    /// The peer.
    #[command(flatten)]
    pub(crate) peer: PeerArgs,
}

/// The results of one query.
struct Measured {
    ours: Times,
    theirs: Times,
    rows: u64,
}

pub(super) async fn run(args: &TpchArgs, report: Report, executors: Executors) -> Result<()> {
    let mut peer = args.peer.start()?;
    let cluster = match args.servers {
        1 => None,
        servers => Some(InProcess::on_executors(servers, &executors).await?),
    };
    let pando = cluster.as_ref().map_or_else(Embedded::open, |cluster| Ok(session_of(cluster)))?;
    load(args, &pando, peer.as_mut(), report).await?;
    if let Some(cluster) = &cluster {
        report.progress("waiting until the tables are spread");
        let asked = Endpoint::Session(session_of(cluster));
        let rows = asked.number("SELECT count(*) FROM lineitem").await?;
        settle(&asked, "lineitem", rows, cluster.servers().len()).await?;
    }
    let name = peer.as_ref().map_or("peer", |peer| peer.name.as_str()).to_owned();
    report.heading(&format!(
        "{:>5} {:>12} {name:>18} {:>8} {:>8}",
        "query", "pando ms", "ratio", "rows"
    ))?;
    let queries: Vec<u8> = match &args.queries[..] {
        [] => (1..=tpch::QUERIES).collect(),
        chosen => chosen.to_vec(),
    };
    let (mut measured, mut failures) = (Vec::new(), Vec::new());
    for n in queries {
        match query(args, n, &pando, peer.as_mut()).await {
            Ok(query) => {
                print(report, args, n, &query, &name)?;
                measured.push(query);
            }
            Err(error) => {
                let text = format!("{n:>5} {error:#}");
                report.result(&text, json!({"query": n, "error": format!("{error:#}")}))?;
                failures.push(n.to_string());
            }
        }
    }
    summary(report, args, &measured, &name)?;
    ensure!(
        failures.is_empty(),
        "queries with a wrong answer or an error: {}",
        failures.join(", ")
    );
    Ok(())
}

/// A session of the last server.
fn session_of(cluster: &InProcess) -> Embedded {
    let servers = cluster.servers();
    Embedded { session: servers[servers.len() - 1].database.session() }
}

async fn load(
    args: &TpchArgs,
    pando: &Embedded,
    mut peer: Option<&mut Peer>,
    report: Report,
) -> Result<()> {
    let directory = tempfile::tempdir()?;
    for name in tpch::tables(args.scale).into_iter().map(|table| table.name) {
        report.progress(&format!("loading {name}"));
        let table = || tpch::table(&name, args.scale);
        let ours = match args.bucket_size {
            Some(bytes) => table().with_bucket_size(bytes),
            None => table(),
        };
        pando.load(ours).await?;
        if let Some(peer) = &mut peer {
            let (file, _) = parquet_files::write(table(), directory.path())?;
            peer.load(&name, &file, None)?;
            std::fs::remove_file(file)?;
        }
    }
    Ok(())
}

async fn query(
    args: &TpchArgs,
    n: u8,
    pando: &Embedded,
    mut peer: Option<&mut Peer>,
) -> Result<Measured> {
    let sql = tpch::query(n);
    let answer = pando.answer(sql).await?;
    answer.is_ordered_as(sql)?;
    if let Some(expected) = Expected::at(args.scale) {
        expected.check(n, &answer)?;
    }
    if let Some(peer) = &mut peer {
        answer.agrees_with(&peer.answer(sql)?).with_context(|| format!("against {}", peer.name))?;
    }
    let rows = answer.rows.len() as u64;
    let mut measured = Measured { ours: Times::default(), theirs: Times::default(), rows };
    for _ in 0..args.runs {
        let (time, ours) = pando.query(sql).await?;
        ensure!(ours == rows, "{ours} rows instead of {rows} when run again");
        measured.ours.push(time);
        if let Some(peer) = &mut peer {
            measured.theirs.push(peer.query(sql)?.0);
        }
    }
    Ok(measured)
}

fn print(report: Report, args: &TpchArgs, n: u8, query: &Measured, peer: &str) -> Result<()> {
    let (ours, theirs) = (ms(query.ours.median()), ms(query.theirs.median()));
    let ratio = ratio(query);
    let text = match ratio {
        Some(ratio) => {
            format!("{n:>5} {ours:>12.2} {theirs:>18.2} {ratio:>8.2} {:>8}", query.rows)
        }
        None => format!("{n:>5} {ours:>12.2} {:>18} {:>8} {:>8}", "", "", query.rows),
    };
    let mut values = json!({
        "experiment": "tpch", "scale": args.scale, "servers": args.servers, "query": n, "rows": query.rows, "runs": args.runs,
        "pando_ms_median": ours, "pando_ms_min": ms(query.ours.min()),
    });
    if ratio.is_some() {
        values["peer"] = json!(peer);
        values["peer_ms_median"] = json!(theirs);
        values["peer_ms_min"] = json!(ms(query.theirs.min()));
        values["ratio"] = json!(ratio);
    }
    report.result(&text, values)?;
    Ok(())
}

fn summary(report: Report, args: &TpchArgs, measured: &[Measured], peer: &str) -> Result<()> {
    let ours = mean(measured, |query| query.ours.median());
    let ratios: Option<Vec<f64>> = measured.iter().map(ratio).collect();
    let ratios = ratios.filter(|ratios| !ratios.is_empty());
    let mut values = json!({
        "experiment": "tpch", "scale": args.scale, "query": "geometric mean", "queries": measured.len(),
        "pando_ms_median": ours,
    });
    let text = match ratios {
        Some(ratios) => {
            let (theirs, ratio) =
                (mean(measured, |query| query.theirs.median()), geometric_mean(&ratios));
            values["peer"] = json!(peer);
            values["peer_ms_median"] = json!(theirs);
            values["ratio"] = json!(ratio);
            format!("{:>5} {ours:>12.2} {theirs:>18.2} {ratio:>8.2}", "mean")
        }
        None => format!("{:>5} {ours:>12.2}", "mean"),
    };
    report.result(&text, values)?;
    Ok(())
}

/// The geometric mean of durations, in milliseconds.
fn mean(measured: &[Measured], time: fn(&Measured) -> Duration) -> f64 {
    geometric_mean(&measured.iter().map(|query| ms(time(query))).collect::<Vec<_>>())
}

/// Our median duration divided by the peer's; `None` without a peer.
fn ratio(query: &Measured) -> Option<f64> {
    let theirs = query.theirs.median();
    (!theirs.is_zero()).then(|| ms(query.ours.median()) / ms(theirs))
}
