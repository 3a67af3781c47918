//! Errors of reading and writing files.

use crate::error::{Error, SqlState};
use std::io::{self, ErrorKind};

/// An error of reading or writing a file: 53100 if the disk is full, else 58030.
pub fn of_file(message: String, error: &io::Error) -> Error {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => disk_full(message),
        _ => Error::new(SqlState::IoError, message),
    }
}

pub(super) fn disk_full(message: String) -> Error {
    Error::new(SqlState::DiskFull, message).with_hint(
        "Free disk space. Rows that do not fit into memory are in the directory of temporary files (TMPDIR).",
    )
}

/// Whether the message of a system error means that the disk is full (ENOSPC).
pub(super) fn is_of_full_disk(message: &str) -> bool {
    message.ends_with("(os error 28)")
}

pub(super) fn object_store_error(error: &object_store::Error) -> Error {
    match error {
        object_store::Error::NotFound { path, .. } => {
            Error::new(SqlState::UndefinedFile, format!("file \"{path}\" does not exist"))
        }
        other => Error::new(SqlState::IoError, other.to_string()),
    }
}
