//! The architecture simulator: what would a query cost on hardware that one does not own?
//!
//! A [`Plan`] with real cardinalities is cut into bundles ([`plan::bundle`]) and run on an [`Architecture`] (a single host, a
//! cluster, smart disks with a central unit, Pando's servers, memory over a fabric; `PAPERS.md` D5 and E) whose processors take
//! as long for a tuple as [`Coefficients`] say. Time is simulated: the same plan, architecture and seed give the same
//! [`Report`], to the nanosecond.
//!
//! - [`plan`]: operators, the six queries of TPC-D, bundles.
//! - [`hardware`]: what disks, processors, memory and networks are, and files that describe them.
//! - [`engine`]: events, stations with queues, and flows of work through them.
//! - [`model`]: what operators ask of the hardware, and the simulation.
//! - [`experiment`]: the tables of the smart disk paper, and topologies of memory pools.
//!
//! Formulas and assumptions with their sources: `docs/DBSIM.md`. Not here: running queries, and any other crate of ours.

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
