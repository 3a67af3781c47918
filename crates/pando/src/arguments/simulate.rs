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

/// The simulations.
#[derive(Debug, Subcommand)]
pub(crate) enum Simulated {
    /// A table that grows from one bucket: forwards, hops, messages and the size of the directory.
    Directory(DirectoryArguments),
}

/// Options of `pando simulate directory`.
#[derive(Debug, Args)]
#[command(after_help = "\
The routing code is that of the servers; rows, time and the network are simulated. Clients insert and look up keys until
the table has its buckets. Then new clients, which know one server each, make as many random requests as there are buckets.
Every answer is checked. The simulation is deterministic.

Examples:
  pando simulate directory --servers 10000 --buckets 100000 --clients 100
  pando simulate directory --svg forwards.svg   other page sizes too, as a chart")]
pub(crate) struct DirectoryArguments {
    /// Number of servers.
    #[arg(long, default_value = "10000", value_name = "N")]
    pub(crate) servers: NonZeroUsize,
    /// Buckets at the end.
    #[arg(long, default_value = "100000", value_name = "N")]
    pub(crate) buckets: NonZeroUsize,
    /// Concurrent clients.
    #[arg(long, default_value = "100", value_name = "N")]
    pub(crate) clients: NonZeroUsize,
    /// Keys of a bucket before it splits.
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub(crate) bucket_keys: u32,
    /// Entries of a page of the directory, which is the unit of image adjustments.
    #[arg(long, default_value = "256", value_name = "N")]
    pub(crate) page: NonZeroUsize,
    /// Seed of the random numbers.
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    pub(crate) seed: u64,
    /// Print one JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a chart of forwards by requests for several page sizes, each of which is simulated.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}
