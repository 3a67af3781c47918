//! What a store keeps in its data directory: the journal of its commands, files of chunks, and
//! checkpoints.
//!
//! ```text
//! DIRECTORY/journal/      every command since the older checkpoint
//!           chunks/       rows of loads and of checkpoints, as Arrow arrays
//!           checkpoints/  the state at a position of the journal: two are kept
//! ```
//!
//! Rules of order. Chunks are durable before a command or checkpoint refers to them. The journal is
//! durable up to the position of a checkpoint before that gets its name. Segments and chunk files are
//! removed when neither of the two checkpoints, nor the journal after the older one, needs them.
//!
//! A [`Command`] is a change of a store; [`encode`] and [`decode`] are its stable form. A [`Cut`] is a
//! state; [`Checkpoints`] keep two. [`inspection`] says what a directory contains and whether it is
//! sound. Not here: deciding and applying commands (`store`), the order and
//! durability of commands (`journal`).

mod checkpoint;
mod chunk_file;
mod chunk_files;
mod cluster_state;
mod command;
mod cut;
mod form;
pub mod inspection;
mod manifest;
mod runs;
mod state;
mod state_form;
#[cfg(test)]
#[path = "../../bucket/src/test_tables.rs"]
mod test_tables;
#[cfg(test)]
mod tests;
mod write_set;
mod writes_form;

pub use checkpoint::{CHECKPOINTS, Checkpoints, Found, KeptCheckpoint};
pub use chunk_files::{CHUNKS, ChunkFiles, ChunkReader, Pins};
pub use cluster_state::{ClusterState, Frozen, PreparedPart};
pub use command::Command;
pub use cut::{BucketCut, Cut, TableCut, TileCut};
pub use form::{DECISION_BYTES_MAX, TIMESTAMP_BYTES, decode, encode};
pub use manifest::{Manifest, Summary};
pub use runs::{Decoder, Flaw};
pub use state::{IdCounters, SequenceState, TEMPORARY_BUCKETS};
pub use write_set::WriteSet;

use bucket::Chunk;
use journal::{Directory, FileSet, Journal};
use parking_lot::Mutex;
use std::sync::Arc;

/// What a store with a data directory has in addition.
#[derive(Debug)]
pub struct Durable {
    directory: Arc<Directory>,
    journal: Arc<Journal>,
    chunks: Arc<ChunkFiles>,
    /// Locked while a checkpoint is made.
    checkpoints: Mutex<Checkpoints>,
    /// A copy of what is kept, for those who do not wait for a checkpoint.
    kept: Mutex<Vec<KeptCheckpoint>>,
}

impl Durable {
    /// Puts the parts of an open data directory together.
    pub fn new(
        directory: Arc<Directory>,
        journal: Arc<Journal>,
        chunks: Arc<ChunkFiles>,
        checkpoints: Checkpoints,
    ) -> Self {
        let kept = Mutex::new(checkpoints.kept().to_vec());
        Self { directory, journal, chunks, checkpoints: Mutex::new(checkpoints), kept }
    }

    /// Returns the identity of the data directory.
    pub fn set(&self) -> FileSet {
        self.directory.set()
    }

    /// Returns the journal.
    pub fn journal(&self) -> &Arc<Journal> {
        &self.journal
    }

    /// Writes the chunks that have no place yet, durably. Their files are kept while the result is.
    ///
    /// # Errors
    /// 53100 if the disk is full; those of the disk.
    pub fn write_chunks(&self, chunks: &[Arc<Chunk>]) -> Result<Pins, journal::Error> {
        self.chunks.write(chunks)
    }

    /// Makes a checkpoint of the state that `cut` takes. Returns its size in bytes, without chunks.
    ///
    /// # Errors
    /// 53100 if the disk is full; those of the disk. The checkpoints before are still there.
    pub fn checkpoint(&self, cut: impl FnOnce() -> Cut) -> Result<u64, journal::Error> {
        let mut checkpoints = self.checkpoints.lock();
        // Taken before the cut: a file that is written later is referred to after the cut.
        let floor = self.chunks.floor();
        let made = checkpoints.make(&self.directory, &self.journal, &self.chunks, floor, cut());
        *self.kept.lock() = checkpoints.kept().to_vec();
        made
    }

    /// Returns the checkpoints that are kept, oldest first.
    pub fn kept_checkpoints(&self) -> Vec<KeptCheckpoint> {
        self.kept.lock().clone()
    }

    /// Returns the bytes that the journal has grown by since the last checkpoint.
    pub fn bytes_since_checkpoint(&self) -> u64 {
        let appended = self.journal.figures().bytes;
        self.checkpoints.lock().journal_growth(appended)
    }
}
