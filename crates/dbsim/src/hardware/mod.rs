//! Hardware: disks, processors, memory and networks, and architectures built from them.
//!
//! A description is a small TOML file; [`catalog`] has the built-in ones. Errors name the line.
//! Sizes and rates are decimal (GB, MB/s, Mbit/s) as in data sheets, except memory and pages (MiB,
//! KiB).

mod architecture;
pub mod catalog;
mod disk;
mod field;
mod network;
mod processor;
mod settings;
mod storage;
mod topology;

pub use architecture::{Architecture, Arrangement, Site};
pub use disk::{Access, Arm, Disk, Seek, Transfer};
pub use network::Link;
pub use processor::Processor;
pub use settings::SETTINGS;
pub use storage::{Bus, Interconnect, Pool};
pub use topology::{Shape, dimensions};

pub(crate) use field::{not_negative, positive};

/// Bytes of a KiB.
pub(crate) const KIB: f64 = 1024.0;
/// Bytes of a MiB.
pub(crate) const MIB: f64 = 1024.0 * 1024.0;
/// Bytes of a decimal megabyte, the unit of rates.
pub(crate) const MB: f64 = 1e6;
