//! Options of `pando simulate`.

use clap::{Args, Subcommand};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Options of `pando simulate`.
#[derive(Debug, Args)]
pub(crate) struct SimulateArguments {
    #[command(subcommand)]
    pub(crate) what: Simulated,
}

/// What to simulate.
#[derive(Debug, Subcommand)]
pub(crate) enum Simulated {
    /// A file that grows from one bucket while clients work: forwards, hops, messages, bytes of directory.
    Directory(DirectoryArguments),
}

/// Options of `pando simulate directory`.
#[derive(Debug, Args)]
#[command(after_help = "\
The routing code is the one that servers run; only rows, time and the network are simulated. Clients insert
and look up until the file has its buckets. Then it rests, and newcomers who know one server each make as many random
requests as it has buckets. Every answer is checked. The same seed gives the same figures.

Examples:
  pando simulate directory --servers 10000 --buckets 100000 --clients 100
  pando simulate directory --svg forwards.svg   also with other page sizes, as a plot")]
pub(crate) struct DirectoryArguments {
    /// Servers, from the beginning.
    #[arg(long, default_value = "10000", value_name = "N")]
    pub(crate) servers: NonZeroUsize,
    /// Buckets that the file grows to.
    #[arg(long, default_value = "100000", value_name = "N")]
    pub(crate) buckets: NonZeroUsize,
    /// Clients that work at a time.
    #[arg(long, default_value = "100", value_name = "N")]
    pub(crate) clients: NonZeroUsize,
    /// Keys that a bucket holds before it divides.
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub(crate) bucket_keys: u32,
    /// Entries of a page of the directory, which is what an adjustment carries.
    #[arg(long, default_value = "256", value_name = "N")]
    pub(crate) page: NonZeroUsize,
    /// Where the random numbers begin.
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    pub(crate) seed: u64,
    /// Print one JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,
    /// Draw forwards against requests for several page sizes; simulates each.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}
