//! The experiments, one a file.

mod bundling;
mod gathering;
mod keyed;
mod keyed_report;
mod keyed_servers;
mod load;
mod person;
mod person_published;
mod person_servers;
mod predict;
mod range;
mod range_gather;
mod smart_disk;
mod tpch;
mod tpch_data;

pub use smart_disk::coefficients;

use crate::report::Report;
use anyhow::Result;
use tokio::runtime::Handle;

/// What can be measured.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum Experiment {
    /// TPC-H's 22 queries, warm, beside a peer on the same data
    Tpch(tpch::TpchArgs),
    /// TPC-H's queries with plans that are cut into bundles, beside the engine's own pipelining (E2)
    Bundling(bundling::BundlingArgs),
    /// Loading TPC-H's lineitem from a Parquet file, and the memory that it takes then
    Load(load::LoadArgs),
    /// One row by its key through prepared statements: insert, read, update
    Keyed(keyed::KeyedArgs),
    /// Pairs of persons in one city (the join of AMOS-SDDS), counted and fetched
    Person(person::PersonArgs),
    /// Range queries that reach ever more servers (Experiment B)
    Range(range::RangeArgs),
    /// Predictions of the simulator beside real runs (E5)
    Predict(predict::PredictArgs),
    /// Smart disks, clusters and a single host by simulation (Experiment E), and topologies of memory pools (D5)
    SmartDisk(smart_disk::SmartDiskArgs),
    /// Writes TPC-H's tables as Parquet files
    TpchData(tpch_data::TpchDataArgs),
}

impl Experiment {
    /// Whether it runs something and tells how long that takes.
    pub fn measures(&self) -> bool {
        !matches!(self, Self::SmartDisk(_) | Self::TpchData(_))
    }

    pub(crate) async fn run(&self, report: Report, workers: Handle) -> Result<()> {
        match self {
            Self::Tpch(args) => tpch::run(args, report).await,
            Self::Bundling(args) => bundling::run(args, report).await,
            Self::Load(args) => load::run(args, report).await,
            Self::Keyed(args) => keyed::run(args, report, workers).await,
            Self::Person(args) => person::run(args, report, workers).await,
            Self::Range(args) => range::run(args, report, workers).await,
            Self::Predict(args) => predict::run(args, report).await,
            Self::SmartDisk(args) => smart_disk::run(args, report),
            Self::TpchData(args) => tpch_data::run(args, report),
        }
    }
}
