//! The experiments.

mod bundling;
mod functions;
mod indexed;
mod isolation;
mod keyed;
mod load;
mod person;
mod predict;
mod range;
mod smart_disk;
mod tpch;
mod tpch_data;

use crate::report::Report;
use anyhow::Result;
use query::Executors;

/// An experiment and its options.
#[derive(Debug, Clone, clap::Subcommand)]
pub(crate) enum Experiment {
    /// TPC-H's 22 queries, warm, compared with a peer on the same data
    Tpch(tpch::TpchArgs),
    /// TPC-H's queries with operator bundles, compared with the engine's pipelining (E2)
    Bundling(bundling::BundlingArgs),
    /// Load time and memory of TPC-H's lineitem from a Parquet file
    Load(load::LoadArgs),
    /// Single-row inserts, reads and updates by key with prepared statements
    Keyed(keyed::KeyedArgs),
    /// Statements by secondary indexes, and inserts into tables with indexes, on servers with PostgreSQL's protocol
    Indexed(indexed::IndexedArgs),
    /// Functions of users in each language, loops in PL/pgSQL and calls, on servers with PostgreSQL's protocol
    Functions(functions::FunctionsArgs),
    /// Pairs of persons in the same city (the join of AMOS-SDDS), counted and fetched
    Person(person::PersonArgs),
    /// Range queries over an increasing number of servers (Experiment B)
    Range(range::RangeArgs),
    /// Waiting times of small statements among large ones, and how long statements take to stop
    Isolation(isolation::IsolationArgs),
    /// Predictions of the simulator compared with real runs (E5)
    Predict(predict::PredictArgs),
    /// Simulation of smart disks, clusters and a single host (Experiment E), and topologies of memory pools (D5)
    SmartDisk(smart_disk::SmartDiskArgs),
    /// Write TPC-H's tables as Parquet files
    TpchData(tpch_data::TpchDataArgs),
}

impl Experiment {
    /// Whether it measures durations on this machine.
    pub(crate) fn measures(&self) -> bool {
        !matches!(self, Self::SmartDisk(_) | Self::TpchData(_))
    }

    /// Runs the experiment. `executors` executes the statements of servers in this process.
    ///
    /// # Errors
    /// If something cannot be started, and after the last result if an answer was wrong.
    pub(crate) async fn run(&self, report: Report, executors: Executors) -> Result<()> {
        match self {
            Self::Tpch(args) => tpch::run(args, report, executors).await,
            Self::Bundling(args) => bundling::run(args, report).await,
            Self::Load(args) => load::run(args, report).await,
            Self::Keyed(args) => keyed::run(args, report, executors).await,
            Self::Indexed(args) => indexed::run(args, report).await,
            Self::Functions(args) => functions::run(args, report).await,
            Self::Person(args) => person::run(args, report, executors).await,
            Self::Range(args) => range::run(args, report, executors).await,
            Self::Isolation(args) => isolation::run(args, report, executors).await,
            Self::Predict(args) => predict::run(args, report).await,
            Self::SmartDisk(args) => smart_disk::run(args, report),
            Self::TpchData(args) => tpch_data::run(args, report),
        }
    }
}
