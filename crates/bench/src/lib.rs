//! Experiments of the papers and comparisons with peers, as `pando bench <experiment>`.
//!
//! Every figure that is printed can be printed again with one command. An experiment makes its own data
//! ([`tpch`], [`person`]), loads it into an embedded Pando and, where there is one, into a peer, takes turns
//! with the peer, checks that both say the same, and prints a line a result: text for people, or
//! with `--json` an object.

mod answer;
mod embedded;
mod endpoint;
mod expected;
mod experiments;
mod in_process;
mod interrupt;
mod parquet_files;
mod peer;
pub mod person;
mod process;
mod processes;
mod report;
mod scaling;
mod servers;
mod settling;
mod source;
mod statistics;
pub mod tpch;
mod usage;

pub use answer::{Answer, Kind, Row};
pub use embedded::Embedded;
pub use expected::Expected;
pub use experiments::{Experiment, coefficients};
pub use in_process::{InProcess, Member};
pub use peer::{PeerArgs, PeerName};
pub use settling::come_to_rest;
pub use source::TableSource;

use anyhow::Result;
use report::Report;
use tokio::runtime::Handle;

/// What `pando bench` is told.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// What to measure.
    #[command(subcommand)]
    pub experiment: Experiment,
    /// Print one JSON object a line
    #[arg(long, global = true)]
    pub json: bool,
}

/// Runs an experiment and prints its results. Servers that are processes are started as `serve` of the program that
/// runs; they end with the experiment, also where a signal ends it. Servers of one process run their statements on the workers, so that however
/// busy these are, the servers hear of each other.
///
/// # Errors
/// Where something cannot be started, and after the last result where answers were wrong.
pub async fn run(args: Args, workers: Handle) -> Result<()> {
    args.experiment.run(Report::new(args.json), workers).await
}
