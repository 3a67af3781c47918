//! `pando bench person`: the join of Experiment A (AMOS-SDDS, `PAPERS.md`) on one server, or on several
//! (`person_servers`).
//!
//! Q1 fetches the pairs of persons of one city, Q2 counts them.

use super::person_servers;
use crate::peer::PeerArgs;
use crate::report::Report;
use crate::statistics::{Times, ms};
use crate::{Embedded, parquet_files, person};
use anyhow::{Result, ensure};
use serde_json::json;
use tokio::runtime::Handle;

/// How many persons, what is asked, beside whom.
#[derive(Debug, Clone, clap::Args)]
pub struct PersonArgs {
    /// Persons
    #[arg(long, default_value_t = 20_000)]
    pub rows: u32,
    /// What is asked; both where it is not said
    #[arg(long, value_enum)]
    pub query: Option<Query>,
    /// How often each query is measured
    #[arg(long, default_value_t = 3)]
    pub runs: u32,
    /// Servers, all in this process; no peer then
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    pub servers: Option<u16>,
    /// The published scale-up instead: 20,000 persons a server on 1 to 15 servers
    #[arg(long, conflicts_with_all = ["rows", "servers"])]
    pub scale_up: bool,
    /// The numbers of servers of the scale-up
    #[arg(long, requires = "scale_up", value_delimiter = ',', default_values_t = person_servers::STEPS,
        value_parser = clap::value_parser!(u16).range(1..))]
    pub steps: Vec<u16>,
    /// The peer.
    #[command(flatten)]
    pub peer: PeerArgs,
}

/// What can be asked about pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Query {
    /// How many there are (Q2)
    Count,
    /// Which they are (Q1)
    Pairs,
}

impl Query {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Pairs => "pairs",
        }
    }

    pub(super) fn sql(self) -> &'static str {
        match self {
            Self::Count => person::COUNT,
            Self::Pairs => person::PAIRS,
        }
    }

    /// Rows of the answer where there are so many pairs.
    pub(super) fn rows(self, pairs: u64) -> u64 {
        match self {
            Self::Count => 1,
            Self::Pairs => pairs,
        }
    }
}

impl PersonArgs {
    /// What is asked.
    pub(super) fn queries(&self) -> Vec<Query> {
        self.query.map_or(vec![Query::Count, Query::Pairs], |query| vec![query])
    }
}

pub(super) async fn run(args: &PersonArgs, report: Report, workers: Handle) -> Result<()> {
    if args.scale_up || args.servers.is_some() {
        return person_servers::run(args, report, workers).await;
    }
    let mut peer = args.peer.start()?;
    let pando = Embedded::open()?;
    pando.load(person::table(args.rows)).await?;
    if let Some(peer) = &mut peer {
        let directory = tempfile::tempdir()?;
        let (file, _) = parquet_files::write(person::table(args.rows), directory.path())?;
        peer.load("person", &file, None)?;
    }
    let expected = person::pairs(args.rows);
    report.heading(&format!("{} persons, {expected} pairs", args.rows));
    let counted = pando.number(person::COUNT).await?;
    ensure!(counted == expected, "{counted} pairs counted instead of {expected}");
    for query in args.queries() {
        let rows_expected = query.rows(expected);
        let (mut ours, mut theirs) = (Times::default(), Times::default());
        for _ in 0..args.runs {
            let (time, rows) = pando.query(query.sql()).await?;
            ensure!(rows == rows_expected, "{rows} rows instead of {rows_expected}");
            ours.push(time);
            if let Some(peer) = &mut peer {
                theirs.push(peer.query(query.sql())?.0);
            }
        }
        print(report, args, query.name(), ("pando", &ours));
        if let Some(peer) = &peer {
            print(report, args, query.name(), (peer.name.as_str(), &theirs));
        }
    }
    Ok(())
}

fn print(report: Report, args: &PersonArgs, query: &str, (who, times): (&str, &Times)) {
    let (median, min) = (ms(times.median()), ms(times.min()));
    let text = format!("{query:<6} {who:<20} {median:>12.2} ms   (min {min:.2})");
    report.result(&text, json!({
        "experiment": "person", "rows": args.rows, "query": query, "who": who, "runs": args.runs,
        "ms_median": median, "ms_min": min,
    }));
}
