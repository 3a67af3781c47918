//! Errors of backups and restores.

use std::path::PathBuf;

/// An error of a backup or a restore. A backup that fails leaves earlier ones as they were.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The URL is none, or of a kind that holds no backups.
    #[error("\"{url}\" is no place for backups: {reason}")]
    Url {
        /// The URL.
        url: String,
        /// Why.
        reason: String,
    },
    /// The object store refuses access.
    #[error("permission denied: cannot {action} {path}: {reason}")]
    Denied {
        /// What was tried.
        action: &'static str,
        /// The object.
        path: String,
        /// What the object store says.
        reason: String,
    },
    /// The object store failed.
    #[error("cannot {action} {path}: {reason}")]
    Storage {
        /// What was tried.
        action: &'static str,
        /// The object.
        path: String,
        /// What the object store says.
        reason: String,
    },
    /// A file of a backup is not there.
    #[error("the backup is incomplete: {path} is missing")]
    Missing {
        /// The file.
        path: String,
    },
    /// A file of a backup is not what was written.
    #[error("the backup is damaged: {path}: {flaw}")]
    Damaged {
        /// The file.
        path: String,
        /// What is wrong.
        flaw: String,
    },
    /// The backup was made by a newer version.
    #[error(
        "{path} has format {found}, and this version reads up to {known}: use Pando {version} or later"
    )]
    Newer {
        /// The manifest.
        path: String,
        /// Its format.
        found: u32,
        /// The newest format that is known.
        known: u32,
        /// The version of Pando that wrote it.
        version: String,
    },
    /// There is no backup at the URL.
    #[error("there is no backup at {url}")]
    NoBackup {
        /// The URL.
        url: String,
    },
    /// No backup at the URL has the name.
    #[error("there is no backup \"{name}\" at {url}, only: {known}")]
    UnknownBackup {
        /// The name.
        name: String,
        /// The URL.
        url: String,
        /// The backups that are there.
        known: String,
    },
    /// The backup does not have the table.
    #[error("table \"{table}\" is not in backup {backup}")]
    TableMissing {
        /// The table.
        table: String,
        /// The name of the backup.
        backup: String,
    },
    /// Several tables of the backup have the name.
    #[error("table \"{table}\" is in several schemas of the backup: {schemas}")]
    TableAmbiguous {
        /// The table.
        table: String,
        /// The schemas.
        schemas: String,
    },
    /// A table has columns of a type that is not there.
    #[error("type \"{name}\" does not exist, of which the table has values")]
    TypeMissing {
        /// The type.
        name: String,
    },
    /// A table has columns of a type that has changed.
    #[error("type \"{name}\" is not the one of the backup: {difference}")]
    TypeDiffers {
        /// The type.
        name: String,
        /// What has changed.
        difference: String,
    },
    /// The directory to restore to is not empty.
    #[error("{} is not empty: it contains {found}", path.display())]
    NotEmpty {
        /// The directory.
        path: PathBuf,
        /// What is in it.
        found: String,
    },
    /// The directory to restore to cannot be written.
    #[error("cannot {action} {}: {reason}", path.display())]
    Directory {
        /// What was tried.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the operating system says.
        reason: std::io::Error,
    },
    /// It is not supported.
    #[error("{0}")]
    Unsupported(String),
    /// The store refuses it.
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Error {
    /// Returns the SQLSTATE, except of [`Error::Store`], which has its own.
    fn sqlstate(&self) -> &'static str {
        match self {
            Self::Url { .. } => "22023",
            Self::Denied { .. } => "42501",
            Self::Missing { .. } | Self::NoBackup { .. } | Self::UnknownBackup { .. } => "58P01",
            Self::Newer { .. } | Self::Unsupported(_) => "0A000",
            Self::TableMissing { .. } => "42P01",
            Self::TableAmbiguous { .. } => "42P09",
            Self::TypeMissing { .. } => "42704",
            Self::TypeDiffers { .. } => "42804",
            Self::NotEmpty { .. } => "55006",
            Self::Storage { .. } | Self::Directory { .. } => "58030",
            Self::Damaged { .. } => "XX001",
            Self::Store(_) => "XX000",
        }
    }

    /// Returns what the user can do.
    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Url { .. } => Some("Write it like file:///directory or s3://bucket/directory."),
            Self::TableAmbiguous { .. } => Some("Write the table like schema.table."),
            Self::TypeMissing { .. } => Some("Create the type as it was, then restore the table."),
            _ => None,
        }
    }

    /// Returns the error of rows or definitions that Arrow or Parquet refuses.
    pub(crate) fn damaged(path: &str, flaw: impl ToString) -> Self {
        Self::Damaged { path: path.to_owned(), flaw: flaw.to_string() }
    }
}

/// The error with its SQLSTATE and hint.
impl From<Error> for store::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Store(error) => error,
            error => Self::Failed(Box::new(store::Failure {
                sql_state: error.sqlstate().to_owned(),
                message: error.to_string(),
                hint: error.hint().map(ToOwned::to_owned),
                ..store::Failure::default()
            })),
        }
    }
}

impl From<store::catalog::Error> for Error {
    fn from(error: store::catalog::Error) -> Self {
        Self::Store(error.into())
    }
}
