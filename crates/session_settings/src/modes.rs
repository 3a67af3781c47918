//! The modes of one transaction: the settings `transaction_read_only`, `transaction_isolation` and
//! `transaction_deferrable`. They end with the transaction, however they are set, and may not be set at any time in it.

use crate::Settings;
use crate::isolation::Isolation;
use values::{Error, Result, SqlState};

/// The modes that a transaction has set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Modes {
    /// The setting `transaction_read_only`.
    pub(crate) read_only: Option<bool>,
    /// The setting `transaction_isolation`.
    pub(crate) isolation: Option<Isolation>,
    /// The setting `transaction_deferrable`.
    pub(crate) deferrable: Option<bool>,
}

/// What a transaction has done.
#[derive(Debug, Clone, Copy, Default)]
pub struct Progress {
    /// Whether a statement has taken its snapshot.
    pub has_snapshot: bool,
    /// Whether it has a savepoint.
    pub has_savepoint: bool,
}

impl Settings {
    /// Refuses a mode that a transaction sets too late. Other settings are accepted.
    ///
    /// # Errors
    /// 25001 if it is too late, 22023 if the value is invalid.
    pub fn refuse_late_mode(&self, name: &str, value: &str, progress: Progress) -> Result<()> {
        let Progress { has_snapshot, has_savepoint } = progress;
        let wanted = || {
            let mut wanted = self.clone();
            wanted.set(name, &[value.to_owned()]).map(|()| wanted)
        };
        let messages = match name {
            "transaction_isolation" => (wanted()?.isolation() != self.isolation()).then_some((
                "SET TRANSACTION ISOLATION LEVEL must be called before any query",
                "SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction",
            )),
            "transaction_read_only" => (!wanted()?.is_read_only() && self.is_read_only())
                .then_some((
                    "transaction read-write mode must be set before any query",
                    "cannot set transaction read-write mode inside a read-only transaction",
                )),
            "transaction_deferrable" => Some((
                "SET TRANSACTION [NOT] DEFERRABLE must be called before any query",
                "SET TRANSACTION [NOT] DEFERRABLE cannot be called within a subtransaction",
            )),
            _ => None,
        };
        // PostgreSQL looks for a query first where the isolation level changes, for a savepoint first elsewhere.
        let message = match messages {
            Some((queried, _)) if has_snapshot && name == "transaction_isolation" => queried,
            Some((_, nested)) if has_savepoint => nested,
            Some((queried, _)) if has_snapshot => queried,
            _ => return Ok(()),
        };
        Err(Error::new(SqlState::ActiveSqlTransaction, message))
    }

    /// Gives back the modes of a transaction that ends.
    pub(crate) fn with_modes_of(mut self, other: &Self) -> Self {
        self.modes = other.modes;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(settings: &Settings, name: &str, value: &str, progress: Progress) -> Option<String> {
        settings
            .refuse_late_mode(name, value, progress)
            .err()
            .map(|error| error.message().to_owned())
    }

    #[test]
    fn modes_are_refused_after_a_query_and_in_subtransactions() {
        let mut settings = Settings::default();
        let queried = Progress { has_snapshot: true, has_savepoint: false };
        let nested = Progress { has_snapshot: false, has_savepoint: true };
        for progress in [queried, nested] {
            assert!(
                refused(&settings, "transaction_isolation", "serializable", progress).is_some()
            );
            assert!(refused(&settings, "transaction_deferrable", "on", progress).is_some());
            assert_eq!(
                refused(&settings, "transaction_isolation", "read committed", progress),
                None
            );
            assert_eq!(refused(&settings, "transaction_read_only", "on", progress), None);
        }
        settings.modes.read_only = Some(true);
        assert!(refused(&settings, "transaction_read_only", "off", queried).is_some());
        assert_eq!(refused(&settings, "transaction_read_only", "off", Progress::default()), None);
    }
}
