//! Isolation levels: what a client asks for is what it is told, and it gets snapshot isolation, which is more than READ
//! COMMITTED and as much as REPEATABLE READ is in PostgreSQL.

use crate::values::error::{Error, Result};

/// A level that can be had.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Isolation {
    ReadUncommitted,
    ReadCommitted,
    #[default]
    RepeatableRead,
}

impl Isolation {
    /// The level of a name.
    ///
    /// # Errors
    /// 0A000 for SERIALIZABLE.
    pub(crate) fn of(name: &str) -> Result<Self> {
        let all = [Self::ReadUncommitted, Self::ReadCommitted, Self::RepeatableRead];
        all.into_iter().find(|level| level.name() == name).ok_or_else(|| {
            Error::unsupported("isolation level SERIALIZABLE is not supported")
                .with_hint("REPEATABLE READ is snapshot isolation, the highest level there is.")
        })
    }

    /// Its name, as SHOW has it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ReadUncommitted => "read uncommitted",
            Self::ReadCommitted => "read committed",
            Self::RepeatableRead => "repeatable read",
        }
    }
}
