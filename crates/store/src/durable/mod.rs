//! The data directory of a store: the journal, files of chunks, and checkpoints.
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

mod checkpoint;
mod chunk_file;
mod chunk_files;
mod cut;
mod manifest;

pub(crate) use checkpoint::Checkpoints;
pub(crate) use chunk_files::{ChunkFiles, ChunkReader, Pins};
pub(crate) use cut::{BucketCut, Cut, TableCut};

use bucket::Chunk;
use journal::{Directory, Journal};
use parking_lot::Mutex;
use std::sync::Arc;

/// The directory of chunk files within a data directory.
pub(crate) const CHUNKS: &str = "chunks";
/// The directory of checkpoints within a data directory.
pub(crate) const CHECKPOINTS: &str = "checkpoints";

/// What a store with a data directory has in addition.
#[derive(Debug)]
pub(crate) struct Durable {
    directory: Arc<Directory>,
    journal: Arc<Journal>,
    chunks: Arc<ChunkFiles>,
    /// Locked while a checkpoint is made.
    checkpoints: Mutex<Checkpoints>,
}

impl Durable {
    pub(crate) fn new(
        directory: Arc<Directory>,
        journal: Arc<Journal>,
        chunks: Arc<ChunkFiles>,
        checkpoints: Checkpoints,
    ) -> Self {
        Self { directory, journal, chunks, checkpoints: Mutex::new(checkpoints) }
    }

    /// Returns the journal.
    pub(crate) fn journal(&self) -> &Arc<Journal> {
        &self.journal
    }

    /// Writes the chunks that have no place yet, durably. Their files are kept while the result is.
    ///
    /// # Errors
    /// 53100 if the disk is full; those of the disk.
    pub(crate) fn write_chunks(&self, chunks: &[Arc<Chunk>]) -> Result<Pins, journal::Error> {
        self.chunks.write(chunks)
    }

    /// Makes a checkpoint of the state that `cut` takes. Returns its size in bytes, without chunks.
    ///
    /// # Errors
    /// 53100 if the disk is full; those of the disk. The checkpoints before are still there.
    pub(crate) fn checkpoint(&self, cut: impl FnOnce() -> Cut) -> Result<u64, journal::Error> {
        let mut checkpoints = self.checkpoints.lock();
        // Taken before the cut: a file that is written later is referred to after the cut.
        let floor = self.chunks.floor();
        checkpoints.make(&self.directory, &self.journal, &self.chunks, floor, cut())
    }

    /// Returns the bytes that the journal has grown by since the last checkpoint.
    pub(crate) fn bytes_since_checkpoint(&self) -> u64 {
        let bytes = self.journal.figures().bytes;
        bytes.saturating_sub(self.checkpoints.lock().journal_bytes())
    }
}
