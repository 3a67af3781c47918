//! Errors of the journal and of the data directory. Each says what to do.

use std::io;
use std::path::{Path, PathBuf};

/// An error of the journal. Nothing has changed then, except after [`Self::Stopped`].
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The file system refused an operation.
    #[error("cannot {action} {}: {reason}", path.display())]
    Io {
        /// What was tried: a verb, such as `read`.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The reason of the operating system.
        reason: String,
    },
    /// Another process has the data directory open.
    #[error("the data directory {} is in use by {holder}; stop it first", path.display())]
    Locked {
        /// The data directory.
        path: PathBuf,
        /// What the other process has said of itself.
        holder: String,
    },
    /// The directory exists and is empty.
    #[error(
        "the data directory {} is empty; mount the disk that should be there, or name a directory \
         that does not exist yet, for example {}, to begin a new database", path.display(),
         path.join("pando").display()
    )]
    Empty {
        /// The directory.
        path: PathBuf,
    },
    /// The directory contains other files.
    #[error(
        "{} is not a data directory of Pando: it contains {found} and no IDENTITY; name another \
         directory", path.display()
    )]
    Foreign {
        /// The directory.
        path: PathBuf,
        /// The name of a file in it.
        found: String,
    },
    /// The creation of the directory was interrupted, or a part of it is missing.
    #[error("the data directory {} is incomplete: {missing}; {advice}", path.display())]
    Incomplete {
        /// The directory.
        path: PathBuf,
        /// What is missing.
        missing: String,
        /// What to do.
        advice: &'static str,
    },
    /// A newer program has written it.
    #[error(
        "{} has format {found}, and this program reads formats up to {known}; start the newer \
         program that has written it", path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format version.
        found: u32,
        /// The newest known format version.
        known: u32,
    },
    /// A file is damaged.
    #[error(
        "{} is damaged at byte {offset}: {flaw}; restore the data directory from a backup or a \
         replica", path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where in the file, in bytes.
        offset: u64,
        /// What is wrong.
        flaw: String,
    },
    /// There is no room on the disk for a command.
    #[error(
        "the disk of {} is full: {bytes} more bytes are needed; delete other files or grow the disk",
        path.display()
    )]
    Full {
        /// The directory of the journal.
        path: PathBuf,
        /// The bytes of the command.
        bytes: u64,
    },
    /// A command is too long.
    #[error(
        "a change of {bytes} bytes exceeds the limit of {limit}; divide it, or load rows with COPY"
    )]
    TooLong {
        /// Its bytes.
        bytes: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The journal has stopped: a write failed, so that it is not known what is on the disk.
    #[error(
        "the log has stopped: {reason}; what was not acknowledged may be lost; check the disk and \
         restart the server"
    )]
    Stopped {
        /// The first failure.
        reason: String,
    },
}

impl Error {
    /// Returns the SQLSTATE.
    pub fn sqlstate(&self) -> &'static str {
        match self {
            Self::Full { .. } => "53100",
            Self::TooLong { .. } => "54000",
            Self::Damaged { .. } => "XX001",
            Self::Locked { .. } => "55006",
            Self::Empty { .. }
            | Self::Foreign { .. }
            | Self::Incomplete { .. }
            | Self::Newer { .. } => "58P01",
            Self::Io { .. } | Self::Stopped { .. } => "58030",
        }
    }

    /// Returns the error of the file system at a path.
    pub fn io(action: &'static str, path: &Path, error: &io::Error) -> Self {
        Self::Io { action, path: path.to_owned(), reason: error.to_string() }
    }

    /// Returns the error of a damaged file.
    pub fn damaged(path: &Path, offset: u64, flaw: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), offset, flaw: flaw.into() }
    }
}
