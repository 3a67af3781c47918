//! Isolation levels. Every transaction has snapshot isolation, which is stronger than READ
//! COMMITTED and the same as REPEATABLE READ in PostgreSQL. SHOW displays the level that the client
//! has set.

use values::{Error, Result};

/// A supported isolation level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Isolation {
    /// READ UNCOMMITTED
    ReadUncommitted,
    /// READ COMMITTED
    ReadCommitted,
    /// REPEATABLE READ, the default
    #[default]
    RepeatableRead,
}

impl Isolation {
    /// The level with a name in lower case.
    ///
    /// # Errors
    /// 0A000 for SERIALIZABLE.
    pub fn of(name: &str) -> Result<Self> {
        let all = [Self::ReadUncommitted, Self::ReadCommitted, Self::RepeatableRead];
        all.into_iter().find(|level| level.name() == name).ok_or_else(|| {
            Error::unsupported("isolation level SERIALIZABLE is not supported")
                .with_hint("REPEATABLE READ is snapshot isolation, the highest level there is.")
        })
    }

    /// Its name, as SHOW displays it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ReadUncommitted => "read uncommitted",
            Self::ReadCommitted => "read committed",
            Self::RepeatableRead => "repeatable read",
        }
    }
}
