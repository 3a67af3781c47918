//! `pando-bench`, which `pando bench` runs: the experiments of the papers, and comparisons with peers.
//!
//! One command reproduces each printed figure. An experiment generates its data, loads it into an embedded Pando and,
//! if there is one, into a peer. It alternates between both, compares their answers, and prints each result as a line
//! of text or, with `--json`, as a JSON object.

mod endpoint;
mod experiments;
mod interrupt;
mod parquet_files;
mod peer;
mod process;
mod processes;
mod report;
mod scaling;
mod servers;
mod settling;
mod statistics;
mod usage;

use clap::Parser;
use experiments::Experiment;
use query::Executors;
use report::Report;
use std::process::ExitCode;

/// Run the experiments of the papers, and comparisons.
#[derive(Debug, Parser)]
#[command(name = "pando-bench", bin_name = "pando bench", version, arg_required_else_help = true)]
struct Arguments {
    /// The experiment.
    #[command(subcommand)]
    experiment: Experiment,
    /// Print one JSON object a line
    #[arg(long, global = true)]
    json: bool,
}

fn main() -> ExitCode {
    program::keep_freed_memory();
    let arguments = Arguments::parse();
    if arguments.experiment.measures() {
        program::warn_if_unoptimised("pando-bench");
    }
    program::run("pando-bench", async || {
        let executors = Executors::new(None)?;
        arguments.experiment.run(Report::new(arguments.json), executors).await?;
        Ok(ExitCode::SUCCESS)
    })
}
