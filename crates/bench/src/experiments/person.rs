//! `pando bench person`: the join of Experiment A (AMOS-SDDS, `PAPERS.md`) on one server, or on several
//! (`person_servers`).
//!
//! Q1 fetches the pairs of persons of one city, Q2 counts them.

use super::{person_published, person_servers};
use crate::interrupt::until_interrupted;
use crate::peer::PeerArgs;
use crate::report::Report;
use crate::statistics::{Times, ms};
use crate::{Embedded, parquet_files, person};
use anyhow::{Result, bail, ensure};
use serde_json::json;
use tokio::runtime::Handle;

/// How many persons, what is asked, beside whom.
#[derive(Debug, Clone, clap::Args)]
pub struct PersonArgs {
    /// Persons
    #[arg(long, default_value_t = person_published::ROWS)]
    pub rows: u32,
    /// What is asked; both where it is not said
    #[arg(long, value_enum)]
    pub query: Option<Query>,
    /// What finds the pairs
    #[arg(long, value_enum, default_value = "engine")]
    pub strategy: Strategy,
    /// How often each query is measured; processor time is known to a hundredth of a second for all runs together
    #[arg(long, default_value_t = 3)]
    pub runs: u32,
    /// Servers, each a process; no peer then
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    pub servers: Option<u16>,
    /// The published scale-up instead: 20,000 persons a server on 1 to 15 servers
    #[arg(long, group = "series", conflicts_with_all = ["rows", "servers"])]
    pub scale_up: bool,
    /// The published speed-up instead: the same persons on 1 to 5 servers
    #[arg(long, group = "series", conflicts_with = "servers")]
    pub speed_up: bool,
    /// Other numbers of servers for the scale-up or the speed-up; growth is told relative to the first
    #[arg(long, requires = "series", value_delimiter = ',',
        value_parser = clap::value_parser!(u16).range(1..))]
    pub steps: Vec<u16>,
    /// All servers in this process instead, and sessions instead of connections
    #[arg(long)]
    pub in_process: bool,
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

/// What finds the pairs (A6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Strategy {
    /// The engine joins the table with itself
    Engine,
    /// The persons of each city are counted near the data, and nothing is joined: for --query count
    Storage,
}

impl Strategy {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::Storage => "storage",
        }
    }
}

impl Query {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Pairs => "pairs",
        }
    }

    pub(super) fn sql(self, strategy: Strategy) -> &'static str {
        match (self, strategy) {
            (Self::Count, Strategy::Engine) => person::COUNT,
            (Self::Count, Strategy::Storage) => person::COUNT_BY_CITY,
            (Self::Pairs, _) => person::PAIRS,
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
    pub(super) fn queries(&self) -> Result<Vec<Query>> {
        Ok(match (self.strategy, self.query) {
            (Strategy::Storage, Some(Query::Pairs)) => bail!(
                "--strategy storage counts persons and finds no pairs: ask for --query count, or --strategy engine"
            ),
            (Strategy::Storage, _) => vec![Query::Count],
            (Strategy::Engine, None) => vec![Query::Count, Query::Pairs],
            (Strategy::Engine, Some(query)) => vec![query],
        })
    }

    /// Persons and servers of each step, where there are servers.
    pub(super) fn steps(&self) -> Vec<(u32, u16)> {
        let or = |default: &[u16]| {
            if self.steps.is_empty() { default.into() } else { self.steps.clone() }
        };
        if self.scale_up {
            let of = |servers| (person_published::ROWS * u32::from(servers), servers);
            return or(&person_published::SCALE_UP_STEPS).into_iter().map(of).collect();
        }
        let servers = match self.speed_up {
            true => or(&person_published::SPEED_UP_STEPS),
            false => self.servers.into_iter().collect(),
        };
        servers.into_iter().map(|servers| (self.rows, servers)).collect()
    }
}

pub(super) async fn run(args: &PersonArgs, report: Report, workers: Handle) -> Result<()> {
    ensure!(args.runs > 0, "--runs must be at least 1");
    let queries = args.queries()?;
    if !args.steps().is_empty() {
        return until_interrupted(person_servers::run(args, report, &workers)).await;
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
    report.heading(&format!("{} persons, {expected} pairs", args.rows))?;
    let counted = pando.number(Query::Count.sql(args.strategy)).await?;
    ensure!(counted == expected, "{counted} pairs counted instead of {expected}");
    for query in queries {
        let rows_expected = query.rows(expected);
        let (mut ours, mut theirs) = (Times::default(), Times::default());
        for _ in 0..args.runs {
            let (time, rows) = pando.query(query.sql(args.strategy)).await?;
            ensure!(rows == rows_expected, "{rows} rows instead of {rows_expected}");
            ours.push(time);
            if let Some(peer) = &mut peer {
                theirs.push(peer.query(query.sql(args.strategy))?.0);
            }
        }
        print(report, args, query.name(), ("pando", &ours))?;
        if let Some(peer) = &peer {
            print(report, args, query.name(), (peer.name.as_str(), &theirs))?;
        }
    }
    Ok(())
}

fn print(
    report: Report,
    args: &PersonArgs,
    query: &str,
    (who, times): (&str, &Times),
) -> Result<()> {
    let (median, min) = (ms(times.median()), ms(times.min()));
    let text = format!("{query:<6} {who:<20} {median:>12.2} ms   (min {min:.2})");
    report.result(&text, json!({
        "experiment": "person", "rows": args.rows, "query": query, "who": who, "runs": args.runs,
        "strategy": args.strategy.name(),
        "ms_median": median, "ms_min": min,
    }))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        args: PersonArgs,
    }

    fn args(line: &str) -> Result<PersonArgs, clap::Error> {
        let words = std::iter::once("person").chain(line.split_whitespace());
        Line::try_parse_from(words).map(|line| line.args)
    }

    #[test]
    fn steps_are_persons_and_servers() {
        let steps = |line| args(line).expect(line).steps();
        assert_eq!(steps(""), []);
        assert_eq!(steps("--rows 500 --servers 3"), [(500, 3)]);
        assert_eq!(steps("--scale-up --steps 1,3"), [(20_000, 1), (60_000, 3)]);
        assert_eq!(steps("--speed-up --rows 7 --steps 2,4"), [(7, 2), (7, 4)]);
        assert_eq!(steps("--scale-up").len(), 7);
        for line in ["--steps 1", "--scale-up --speed-up", "--scale-up --rows 5", "--servers 0"] {
            assert!(args(line).is_err(), "{line}");
        }
    }

    #[test]
    fn storage_only_counts() {
        let queries = |line| args(line).expect(line).queries();
        assert_eq!(queries("--strategy storage").expect("counts"), [Query::Count]);
        assert_eq!(queries("").expect("both"), [Query::Count, Query::Pairs]);
        assert_eq!(queries("--query pairs").expect("pairs"), [Query::Pairs]);
        let error = queries("--strategy storage --query pairs").expect_err("it has none");
        assert!(error.to_string().contains("--query count"), "{error}");
    }

    #[tokio::test]
    async fn both_strategies_count_the_same() {
        let pando = Embedded::open().expect("a database");
        pando.load(person::table(173)).await.expect("loaded");
        for strategy in [Strategy::Engine, Strategy::Storage] {
            let counted = pando.number(Query::Count.sql(strategy)).await.expect("a number");
            assert_eq!(counted, person::pairs(173), "{strategy:?}");
        }
    }
}
