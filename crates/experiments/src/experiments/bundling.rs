//! `pando bench bundling`: TPC-H's queries with operator bundles (PAPERS E2), compared with the engine's pipelining.
//!
//! Runs alternate between the values of `pando.bundling`, so that other load on the machine affects all of them. The first
//! run of each is not measured: its answer is compared.

use crate::report::Report;
use crate::statistics::{Times, geometric_mean, ms};
use anyhow::Result;
use serde_json::{Map, json};
use workloads::{Embedded, Expected, tpch};

/// The values of `pando.bundling`. The others are compared with the first.
const VALUES: [&str; 4] = ["pipelined", "none", "optimal", "excessive"];

/// Options of `pando bench bundling`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct BundlingArgs {
    /// TPC-H's scale factor
    #[arg(long, default_value_t = 1.0, value_parser = tpch::parse_scale)]
    pub(crate) scale: f64,
    /// Only these queries, such as 1,3,6,12,13,16
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u8).range(1..=22))]
    pub(crate) queries: Vec<u8>,
    /// Measured runs of each query with each value
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: u32,
    /// Bytes that a bundle boundary keeps in memory [default: the setting's]
    #[arg(long)]
    pub(crate) bundle_bytes: Option<u64>,
}

pub(super) async fn run(args: &BundlingArgs, report: Report) -> Result<()> {
    let pando = Embedded::open()?;
    for table in tpch::tables(args.scale) {
        report.progress(&format!("loading {}", table.name));
        pando.load(table).await?;
    }
    if let Some(bytes) = args.bundle_bytes {
        pando.execute(&format!("SET pando.bundle_bytes = {bytes}")).await?;
    }
    let [base, others @ ..] = VALUES;
    let heading = others.map(|value| format!("{:>13} {:>7}", format!("{value} ms"), "ratio"));
    report.heading(&format!(
        "{:>5} {:>13} {}",
        "query",
        format!("{base} ms"),
        heading.join(" ")
    ))?;
    let queries: Vec<u8> = match &args.queries[..] {
        [] => (1..=tpch::QUERIES).collect(),
        chosen => chosen.to_vec(),
    };
    let mut all = VALUES.map(|_| Vec::new());
    for n in queries {
        let times = measured(args, n, &pando).await?;
        print(report, args, &n.to_string(), times)?;
        all.iter_mut().zip(times).for_each(|(all, time)| all.push(time));
    }
    print(report, args, "mean", all.map(|times| geometric_mean(&times)))?;
    Ok(())
}

/// The median duration with each value, in milliseconds.
async fn measured(args: &BundlingArgs, n: u8, pando: &Embedded) -> Result<[f64; VALUES.len()]> {
    let sql = tpch::query(n);
    let (mut times, mut first) = (VALUES.map(|_| Times::default()), None);
    for run in 0..=args.runs {
        for (value, times) in VALUES.iter().zip(&mut times) {
            pando.execute(&format!("SET pando.bundling = {value}")).await?;
            if run > 0 {
                times.push(pando.query(sql).await?.0);
                continue;
            }
            let answer = pando.answer(sql).await?;
            match (&first, Expected::at(args.scale)) {
                (_, Some(expected)) => expected.check(n, &answer)?,
                (Some(first), None) => answer.agrees_with(first)?,
                (None, None) => {}
            }
            first.get_or_insert(answer);
        }
    }
    Ok(times.map(|times| ms(times.median())))
}

fn print(
    report: Report,
    args: &BundlingArgs,
    query: &str,
    times: [f64; VALUES.len()],
) -> Result<()> {
    let [base, others @ ..] = times;
    let shown = others.map(|time| format!("{time:>13.2} {:>7.2}", time / base));
    let mut values = Map::from_iter([
        ("experiment".to_owned(), json!("bundling")),
        ("scale".to_owned(), json!(args.scale)),
        ("query".to_owned(), json!(query)),
        ("runs".to_owned(), json!(args.runs)),
    ]);
    values.extend(VALUES.iter().zip(times).map(|(name, time)| (format!("{name}_ms"), json!(time))));
    report.result(&format!("{query:>5} {base:>13.2} {}", shown.join(" ")), values.into())?;
    Ok(())
}
