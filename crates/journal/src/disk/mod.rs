//! What the journal and checkpoints need of a file system.
//!
//! There are two disks: [`RealDisk`], and [`MemoryDisk`] for tests and simulations, which loses what
//! was not synced when it crashes, and fails on request. Paths are those of the caller on both.

mod memory;
mod real;

pub use memory::{Fault, MemoryDisk};
pub use real::RealDisk;

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

/// A file system. Files and directories that it creates can be read by their owner only.
///
/// What a function has changed survives a power cut only after the following `sync`: of the file for
/// its contents ([`DiskFile::sync`]), of the directory for its name ([`Disk::sync_directory`]).
pub trait Disk: fmt::Debug + Send + Sync {
    /// Creates a file of `bytes` zeros, for which room is allocated.
    ///
    /// # Errors
    /// [`io::ErrorKind::StorageFull`]; the file may remain then. Errors of the file system.
    fn create(&self, path: &Path, bytes: u64) -> io::Result<Arc<dyn DiskFile>>;

    /// Opens a file for writing.
    ///
    /// # Errors
    /// Errors of the file system.
    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>>;

    /// Returns the contents of a file.
    ///
    /// # Errors
    /// Errors of the file system.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Returns the first bytes of a file, at most `bytes`.
    ///
    /// # Errors
    /// Errors of the file system.
    fn read_start(&self, path: &Path, bytes: usize) -> io::Result<Vec<u8>>;

    /// Returns the contents of a file that does not change any more, without reading it whole if the
    /// file system can.
    ///
    /// # Errors
    /// Errors of the file system.
    fn map(&self, path: &Path) -> io::Result<Arc<dyn Contents>>;

    /// Returns when a file was written last. Disks without a clock return 1970.
    ///
    /// # Errors
    /// Errors of the file system.
    fn modified(&self, path: &Path) -> io::Result<SystemTime>;

    /// Returns the names in a directory, sorted.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`]; errors of the file system.
    fn list(&self, directory: &Path) -> io::Result<Vec<String>>;

    /// Creates a directory, whose parent exists.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`]; errors of the file system.
    fn create_directory(&self, path: &Path) -> io::Result<()>;

    /// Renames a file, and replaces the one that has the name.
    ///
    /// # Errors
    /// Errors of the file system.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// Errors of the file system.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes the names in a directory durable.
    ///
    /// # Errors
    /// Errors of the file system.
    fn sync_directory(&self, path: &Path) -> io::Result<()>;

    /// Locks a file, which is created if needed, against other processes, and writes the holder into
    /// it. Dropping the lock releases it; so does the end of the process. If another process has it,
    /// its holder is returned.
    ///
    /// # Errors
    /// Errors of the file system.
    fn lock(&self, path: &Path, holder: &str) -> io::Result<Locking>;

    /// Locks a file against [`Self::lock`] of other processes, without changing it. Several readers may
    /// have it at a time, if the disk knows shared locks.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`]; errors of the file system.
    fn lock_to_read(&self, path: &Path) -> io::Result<Locking>;
}

/// Whether an error says that there is no room on the disk, or for this user.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// The outcome of locking a file.
#[derive(Debug)]
pub enum Locking {
    /// It is locked.
    Locked(Box<dyn Lock>),
    /// Another process has locked it, which has written this into it.
    HeldBy(String),
}

/// A lock on a file.
pub trait Lock: fmt::Debug + Send + Sync {}

/// The contents of a file.
pub trait Contents: fmt::Debug + Send + Sync {
    /// Returns the bytes.
    fn bytes(&self) -> &[u8];
}

impl Contents for Vec<u8> {
    fn bytes(&self) -> &[u8] {
        self
    }
}

/// A file that is open for writing.
pub trait DiskFile: fmt::Debug + Send + Sync {
    /// Writes bytes at an offset.
    ///
    /// # Errors
    /// Errors of the file system. Any part may have been written then.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Makes the contents durable. After an error nothing is known about what was written since the
    /// previous success, and a repetition that succeeds does not change that.
    ///
    /// # Errors
    /// Errors of the file system.
    fn sync(&self) -> io::Result<()>;
}
