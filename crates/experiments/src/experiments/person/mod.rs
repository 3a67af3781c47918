//! `pando bench person`: the join of Experiment A (AMOS-SDDS, `PAPERS.md`) on one server, or on several ([`servers`]).
//!
//! Q1 fetches the pairs of persons in the same city, Q2 counts them.

mod published;
mod servers;

use crate::interrupt::until_interrupted;
use crate::parquet_files;
use crate::peer::PeerArgs;
use crate::report::Report;
use crate::statistics::{Times, ms};
use anyhow::{Result, bail, ensure};
use query::Executors;
use serde_json::json;
use workloads::{Embedded, person};

/// Options of `pando bench person`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct PersonArgs {
    /// Number of persons
    #[arg(long, default_value_t = published::ROWS)]
    pub(crate) rows: u32,
    /// Query [default: both]
    #[arg(long, value_enum)]
    pub(crate) query: Option<Query>,
    /// How the pairs are found
    #[arg(long, value_enum, default_value = "engine")]
    pub(crate) strategy: Strategy,
    /// Measured runs of each query; the processor time of all runs together has a resolution of 10 ms
    #[arg(long, default_value_t = 3)]
    pub(crate) runs: u32,
    /// Number of servers, each a process; without a peer
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) servers: Option<u16>,
    /// Run the published scale-up instead: 20,000 persons a server on 1 to 15 servers
    #[arg(long, group = "series", conflicts_with_all = ["rows", "servers"])]
    pub(crate) scale_up: bool,
    /// Run the published speed-up instead: the same persons on 1 to 5 servers
    #[arg(long, group = "series", conflicts_with = "servers")]
    pub(crate) speed_up: bool,
    /// Numbers of servers of the scale-up or the speed-up; growth is relative to the first
    #[arg(long, requires = "series", value_delimiter = ',',
        value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) steps: Vec<u16>,
    /// Run all servers in this process, with sessions instead of connections
    #[arg(long)]
    pub(crate) in_process: bool,
    /// The peer.
    #[command(flatten)]
    pub(crate) peer: PeerArgs,
}

/// A query about pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Query {
    /// The number of pairs (Q2)
    Count,
    /// The pairs (Q1)
    Pairs,
}

/// How pairs are found (A6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Strategy {
    /// The engine joins the table with itself
    Engine,
    /// The servers count the persons of each city, without a join: for --query count
    Storage,
    /// A function of a user imports the persons into the engine, which joins them (strategy I of AMOS-SDDS)
    Internal,
    /// Functions of users find the pairs, in JavaScript (strategy E of AMOS-SDDS)
    External,
}

impl Strategy {
    /// The strategy of a peer, which does not have the functions.
    fn of_peer(self) -> Self {
        match self {
            Self::Engine | Self::Storage => self,
            Self::Internal | Self::External => Self::Engine,
        }
    }

    /// The statements that make its functions.
    pub(super) fn functions(self) -> &'static [&'static str] {
        match self {
            Self::Engine | Self::Storage => &[],
            Self::Internal | Self::External => &person::FUNCTIONS,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::Storage => "storage",
            Self::Internal => "internal",
            Self::External => "external",
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
            (Self::Count, Strategy::Internal) => person::COUNT_INTERNAL,
            (Self::Count, Strategy::External) => person::COUNT_EXTERNAL,
            (Self::Pairs, Strategy::Engine | Strategy::Storage) => person::PAIRS,
            (Self::Pairs, Strategy::Internal) => person::PAIRS_INTERNAL,
            (Self::Pairs, Strategy::External) => person::PAIRS_EXTERNAL,
        }
    }

    /// Rows of the answer if there are `pairs` pairs.
    pub(super) fn rows(self, pairs: u64) -> u64 {
        match self {
            Self::Count => 1,
            Self::Pairs => pairs,
        }
    }
}

impl PersonArgs {
    /// The queries to run.
    pub(super) fn queries(&self) -> Result<Vec<Query>> {
        Ok(match (self.strategy, self.query) {
            (Strategy::Storage, Some(Query::Pairs)) => {
                bail!(
                    "--strategy storage counts pairs but does not list them: use --query count or \
                     --strategy engine"
                )
            }
            (Strategy::Storage, _) => vec![Query::Count],
            (_, None) => vec![Query::Count, Query::Pairs],
            (_, Some(query)) => vec![query],
        })
    }

    /// The numbers of persons and servers of each step; none without servers.
    pub(super) fn steps(&self) -> Vec<(u32, u16)> {
        let or = |default: &[u16]| {
            if self.steps.is_empty() { default.into() } else { self.steps.clone() }
        };
        if self.scale_up {
            let of = |servers| (published::ROWS * u32::from(servers), servers);
            return or(&published::SCALE_UP_STEPS).into_iter().map(of).collect();
        }
        let servers = if self.speed_up {
            or(&published::SPEED_UP_STEPS)
        } else {
            self.servers.into_iter().collect()
        };
        servers.into_iter().map(|servers| (self.rows, servers)).collect()
    }
}

pub(super) async fn run(args: &PersonArgs, report: Report, executors: Executors) -> Result<()> {
    ensure!(args.runs > 0, "--runs must be at least 1");
    let queries = args.queries()?;
    if !args.steps().is_empty() {
        return until_interrupted(servers::run(args, report, &executors)).await;
    }
    let mut peer = args.peer.start()?;
    let pando = Embedded::open()?;
    pando.load(person::table(args.rows)).await?;
    for function in args.strategy.functions() {
        pando.execute(function).await?;
    }
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
                theirs.push(peer.query(query.sql(args.strategy.of_peer()))?.0);
            }
        }
        print(report, args, query, "pando", &ours)?;
        if let Some(peer) = &peer {
            print(report, args, query, &peer.name, &theirs)?;
        }
    }
    Ok(())
}

fn print(report: Report, args: &PersonArgs, query: Query, who: &str, times: &Times) -> Result<()> {
    let query = query.name();
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
    use clap::{Parser, ValueEnum};

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
    fn the_storage_strategy_only_counts() {
        let queries = |line| args(line).expect(line).queries();
        assert_eq!(queries("--strategy storage").expect("counts"), [Query::Count]);
        assert_eq!(queries("").expect("both"), [Query::Count, Query::Pairs]);
        assert_eq!(queries("--query pairs").expect("pairs"), [Query::Pairs]);
        let error = queries("--strategy storage --query pairs").expect_err("refused");
        assert!(error.to_string().contains("--query count"), "{error}");
    }

    #[tokio::test]
    async fn all_strategies_find_the_same_pairs() {
        let pando = Embedded::open().expect("a database");
        pando.load(person::table(173)).await.expect("loaded");
        for function in Strategy::External.functions() {
            pando.execute(function).await.expect("a function");
        }
        for strategy in Strategy::value_variants() {
            let counted = pando.number(Query::Count.sql(*strategy)).await.expect("a number");
            assert_eq!(counted, person::pairs(173), "{strategy:?}");
            let listed = format!(
                "SELECT count(DISTINCT (ssn, ssn1)) FROM ({}) AS pairs WHERE ssn < ssn1",
                Query::Pairs.sql(*strategy)
            );
            let listed = pando.number(&listed).await.expect("a number");
            assert_eq!(listed, person::pairs(173), "{strategy:?}");
        }
    }
}
