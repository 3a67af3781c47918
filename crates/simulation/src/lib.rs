//! Servers of a cluster on simulated networks, disks and time, with faults, from a seed.
//!
//! The servers are those of production: crate `cluster` over real stores and journals. One thread runs all of them, in
//! an order that the seed decides; disks are in memory and lose what was not synced.
//!
//! - `config`: what a run is. `dice`: random decisions. `trace`: what happened. `executor`: tasks and time. `network`: messages.
//! - `world`: the servers of a run. `server`: one of them. `faults`: what goes wrong.
//! - `rows`, `workloads`: what clients do, and what has to be true of the answers. `owners`: every key has one owner.
//! - `run`: a run from beginning to end. `crash_points`: faults at every durable step.
//!
//! Not here: SQL, and the code for TCP and real disks. `docs/SIMULATION.md` says how to use it.

mod config;
mod crash_points;
mod dice;
mod executor;
mod faults;
mod network;
mod owners;
mod rows;
mod run;
mod server;
mod trace;
mod workloads;
mod world;

pub use config::{Config, FaultKind};
pub use crash_points::{CrashPoint, VARIANTS};
#[cfg(feature = "planted")]
pub use protocols::planted::{Bug, plant};
pub use run::{Report, run};
pub use store::journal::Durability;
