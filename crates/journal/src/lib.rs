//! The durable log of one server, and its data directory.
//!
//! A [`Directory`] is a data directory that this process has locked. [`recover`] reads the commands
//! of its journal back, and a [`Journal`] continues it: commands of all groups of the server are
//! appended in one order, and become durable together.
//!
//! ```text
//! directory/journal/0000000001.log   | header | record | record | ...           |
//!                   0000000002.log   | header | record | record | 0 0 0 0 ...   |  <- appended here
//!                   0000000003.log   | 0 0 0 ...                                |  a spare
//! ```
//!
//! Invariants: positions are consecutive; what was reported as durable is read back, or the journal
//! is refused as damaged; a command is read back whole or not at all; after an error of the disk
//! nothing is reported any more.
//!
//! [`survey()`] reads a journal for people: it goes on after damage, and says what there is.
//!
//! Deciding (`record`, `segment`, `scan`, `placing`) is apart from doing (`journal`, `flusher`,
//! `recovery`), and all I/O goes through a [`disk::Disk`]. Not here: what commands mean, and
//! checkpoints (`store`).

mod blocks;
mod directory;
pub mod disk;
mod durability;
mod error;
mod figures;
mod flusher;
mod here;
mod journal;
mod placing;
mod record;
mod recovery;
mod scan;
mod segment;
mod shared;
mod survey;
#[cfg(test)]
mod tests;
mod waiting;
mod writing;

pub use blocks::{BlockWriter, Blocks, Label};
pub use directory::{Directory, NewDirectory, sync_directory, write_file};
pub use durability::Durability;
pub use error::Error;
pub use figures::{CLASSES, Figures, Histogram};
pub use here::{may_wait, waiting_if};
pub use journal::{Body, COMMAND_BYTES_MAX, Journal, Room};
pub use record::{FileSet, Origin, Position};
pub use recovery::{Command, Recovered, recover};
pub use shared::{Flushing, Listener, Options, SEGMENT_BYTES};
pub use survey::{Segment, SegmentState, Survey, survey};
pub use waiting::Wait;
