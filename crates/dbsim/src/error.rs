//! What can be wrong with a description or a plan.

use thiserror::Error;

/// Why something cannot be simulated.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Error {
    /// A file of hardware, coefficients or a plan cannot be read; the message names the line.
    #[error("{file}: {message}")]
    File {
        /// The file, or the name of a description that is built in.
        file: String,
        /// What is wrong, with its line.
        message: String,
    },
    /// There is no description, query or setting of this name.
    #[error("unknown {what} `{name}`; expected one of: {known}")]
    Unknown {
        /// What was looked for.
        what: &'static str,
        /// The name.
        name: String,
        /// Names that exist.
        known: String,
    },
    /// A setting does not fit the hardware.
    #[error("{setting}: {message}")]
    Setting {
        /// The setting, as it was given.
        setting: String,
        /// What is wrong with it.
        message: String,
    },
    /// An operator of a plan cannot be run.
    #[error("operator {operator}: {message}")]
    Operator {
        /// The operator's number and name.
        operator: String,
        /// What is wrong with it.
        message: String,
    },
    /// The hardware cannot hold the tables of the plan.
    #[error(
        "the tables need {needed_gb:.0} GB but the storage holds only {held_gb:.0} GB; \
         add sites or disks, or use a smaller scale"
    )]
    TooLarge {
        /// Gigabytes of the tables.
        needed_gb: f64,
        /// Gigabytes that the storage holds.
        held_gb: f64,
    },
}

impl Error {
    /// A file that is not what it should be: the message of the parser has the line.
    pub(crate) fn parse(file: &str, error: &toml::de::Error) -> Self {
        let message = error.to_string().trim_end().to_owned();
        Self::File { file: file.to_owned(), message }
    }

    /// A name that is not among those that exist.
    pub(crate) fn unknown<'a>(
        what: &'static str,
        name: &str,
        known: impl Iterator<Item = &'a str>,
    ) -> Self {
        let known: Vec<&str> = known.collect();
        Self::Unknown { what, name: name.to_owned(), known: known.join(", ") }
    }
}
