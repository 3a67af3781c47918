//! Options of `pando predict`.

use clap::{Args, Subcommand};
use dbsim::plan::{Query, Scheme};
use std::path::PathBuf;

/// Options of `pando predict`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Architectures: single-host, cluster-2, cluster-4 and smart-disk are those of the smart disk paper; nvme-server, smart-ssd,
pando-cloud and memory-pool are current hardware. A file can describe another one: --show prints one to start from.

Queries are q1, q3, q6, q12, q13 and q16 of TPC-D, with the cardinalities of the scale factor. The simulation is
deterministic. docs/DBSIM.md has the formulas.

Examples:
  pando predict --query q3 --architecture smart-disk --disks 8 --scale 10 --explain
  pando predict --query q1,q6 --architecture smart-disk --set cpu_mhz=350 --set network_mbit_s=1000
  pando predict --show pando-cloud > mine.toml; pando predict --architecture mine.toml --coefficients columnar
  pando predict calibrate --out here.toml; pando predict --coefficients ./here.toml")]
pub(crate) struct PredictArguments {
    /// Queries, separated by commas [default: all six].
    #[arg(long, value_name = "QUERY", value_delimiter = ',')]
    pub(crate) query: Vec<Query>,
    /// A file with a plan and its cardinalities instead (docs/DBSIM.md has an example).
    #[arg(long, value_name = "FILE", conflicts_with_all = ["query", "scale"])]
    pub(crate) plan: Option<PathBuf>,
    /// The name of an architecture, or a file that describes one.
    #[arg(long, default_value = "smart-disk", value_name = "NAME|FILE")]
    pub(crate) architecture: String,
    /// Total number of disks: a smart disk is one, hosts share them evenly.
    #[arg(long, value_name = "N")]
    pub(crate) disks: Option<usize>,
    /// TPC-D's scale factor; 1 is about 1 GB.
    #[arg(long, default_value_t = 10.0, value_name = "FACTOR", value_parser = parse_scale)]
    pub(crate) scale: f64,
    /// A value of the architecture, like cpu_mhz=350; repeatable.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub(crate) settings: Vec<String>,
    /// Cost coefficients: a name (row-at-a-time, columnar) or a file [default: columnar, and row-at-a-time on the
    /// paper's architectures].
    #[arg(long, value_name = "NAME|FILE")]
    pub(crate) coefficients: Option<String>,
    /// The bundling scheme: none, optimal, excessive or pipelined [default: pipelined, and optimal on the paper's
    /// architectures].
    #[arg(long, value_name = "SCHEME")]
    pub(crate) bundling: Option<Scheme>,
    /// Print the time of each bundle.
    #[arg(long)]
    pub(crate) explain: bool,
    /// Seed of the random numbers.
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    pub(crate) seed: u64,
    /// Print one JSON object for each query.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the file that describes an architecture, and exit.
    #[arg(long, value_name = "NAME")]
    pub(crate) show: Option<String>,
    /// Other commands.
    #[command(subcommand)]
    pub(crate) command: Option<PredictCommand>,
}

/// The subcommands of `pando predict`.
#[derive(Debug, Subcommand)]
pub(crate) enum PredictCommand {
    /// Measure the costs of Pando's operators on this machine, and write a file for --coefficients.
    Calibrate(CalibrateArguments),
}

/// Options of `pando predict calibrate`.
#[derive(Debug, Args)]
pub(crate) struct CalibrateArguments {
    /// The file to write [default: standard output].
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// MHz of this machine's processor [default: from /proc/cpuinfo].
    #[arg(long, value_name = "MHZ", value_parser = parse_mhz)]
    pub(crate) mhz: Option<f64>,
    /// Rows of the measured table.
    #[arg(long, default_value_t = 3_000_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1000..=10_000_000))]
    pub(crate) rows: u64,
    /// Runs of each query.
    #[arg(long, default_value_t = 15, value_name = "N", value_parser = parse_runs)]
    pub(crate) runs: usize,
    /// Loads of the tables. Costs depend on the placement in memory; the mean over all loads counts.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) loads: u32,
}

fn parse_mhz(text: &str) -> Result<f64, String> {
    let mhz = text.parse().ok().filter(|mhz: &f64| (1.0..=100_000.0).contains(mhz));
    mhz.ok_or_else(|| "expected a number of MHz from 1 to 100000, like 2970".to_owned())
}

fn parse_runs(text: &str) -> Result<usize, String> {
    let runs = text.parse().ok().filter(|runs| (1..=1000).contains(runs));
    runs.ok_or_else(|| "expected a number of runs from 1 to 1000".to_owned())
}

/// Greatest scale factor: a thousand times the paper's.
const SCALE_MAX: f64 = 100_000.0;

fn parse_scale(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(scale) if scale > 0.0 && scale <= SCALE_MAX => Ok(scale),
        _ => Err(format!("a scale factor is a number above 0 and up to {SCALE_MAX}, like 10")),
    }
}
