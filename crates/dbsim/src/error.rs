//! Errors in descriptions, settings and plans.

use thiserror::Error;

/// The reason why a plan cannot be simulated.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Error {
    /// A file of hardware, coefficients or a plan is invalid; the message names the line.
    #[error("{file}: {message}")]
    File {
        /// The file, or the name of a built-in description.
        file: String,
        /// The error, with its line.
        message: String,
    },
    /// No description, query or setting has this name.
    #[error("unknown {what} `{name}`; expected one of: {known}")]
    Unknown {
        /// The kind of object.
        what: &'static str,
        /// The name.
        name: String,
        /// The existing names, separated by commas.
        known: String,
    },
    /// A setting is invalid for the hardware.
    #[error("{setting}: {message}")]
    Setting {
        /// The setting, as it was given.
        setting: String,
        /// The error.
        message: String,
    },
    /// An operator of a plan is invalid.
    #[error("operator {operator}: {message}")]
    Operator {
        /// The operator's number and name.
        operator: String,
        /// The error.
        message: String,
    },
    /// The tables of the plan exceed the storage.
    #[error(
        "the tables need {needed_gb:.0} GB but the storage holds only {held_gb:.0} GB; \
         add sites or disks, or use a smaller scale"
    )]
    TooLarge {
        /// Size of the tables in GB.
        needed_gb: f64,
        /// Capacity of the storage in GB.
        held_gb: f64,
    },
}

impl Error {
    /// An invalid file. The parser's message names the line.
    pub(crate) fn parse(file: &str, error: &toml::de::Error) -> Self {
        let message = error.to_string().trim_end().to_owned();
        Self::File { file: file.to_owned(), message }
    }

    /// An unknown name.
    pub(crate) fn unknown<'a>(
        what: &'static str,
        name: &str,
        known: impl Iterator<Item = &'a str>,
    ) -> Self {
        let known: Vec<&str> = known.collect();
        Self::Unknown { what, name: name.to_owned(), known: known.join(", ") }
    }
}
