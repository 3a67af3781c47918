//! The architecture simulator: predicts the cost of a query on other hardware.
//!
//! A [`Plan`] with real cardinalities is cut into bundles ([`plan::bundle`]) and run on an
//! [`Architecture`]: a single host, a cluster, smart disks with a central unit, Pando's servers, or
//! memory over a fabric (`PAPERS.md` D5 and E). [`Coefficients`] give the processor time of each
//! tuple. Time is simulated: the same plan, architecture and seed give the same [`Report`], to the
//! nanosecond.
//!
//! - [`plan`]: operators, the six queries of TPC-D, bundles.
//! - [`hardware`]: disks, processors, memory and networks, and the files that describe them.
//! - [`engine`]: events, stations with queues, and flows of work through them.
//! - [`model`]: the work of each operator, and the simulation.
//! - [`experiment`]: the tables of the smart disk paper, and topologies of memory pools.
//!
//! Formulas, assumptions and sources: `docs/DBSIM.md`. The simulator runs no queries. Its only
//! dependency in the workspace is `bundling`.

mod coefficients;
mod curve;
pub mod engine;
mod error;
pub mod experiment;
pub mod hardware;
pub mod model;
pub mod plan;
mod windows;

pub use coefficients::{Coefficients, Cost, RUNS};
pub use curve::Curve;
pub use error::Error;
pub use hardware::Architecture;
pub use model::{Report, simulate};
pub use plan::Plan;
pub use windows::Windows;
