//! Isolation levels. In READ COMMITTED, and in READ UNCOMMITTED, which is the same, each statement has
//! a snapshot of its own. REPEATABLE READ is snapshot isolation. SERIALIZABLE validates in addition what was read.

use values::{Error, Result, SqlState};

/// An isolation level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Isolation {
    /// READ UNCOMMITTED
    ReadUncommitted,
    /// READ COMMITTED, the default
    #[default]
    ReadCommitted,
    /// REPEATABLE READ
    RepeatableRead,
    /// SERIALIZABLE
    Serializable,
}

impl Isolation {
    /// The level with a name in lower case.
    ///
    /// # Errors
    /// 22023 if there is no such level.
    pub fn of(name: &str) -> Result<Self> {
        use Isolation::{ReadCommitted, ReadUncommitted, RepeatableRead, Serializable};
        let all = [ReadUncommitted, ReadCommitted, RepeatableRead, Serializable];
        all.into_iter().find(|level| level.name() == name).ok_or_else(|| {
            let message = format!("there is no isolation level \"{name}\"");
            Error::new(SqlState::InvalidParameterValue, message)
        })
    }

    /// Whether each statement reads what is committed when it begins.
    pub fn is_of_statements(self) -> bool {
        matches!(self, Self::ReadUncommitted | Self::ReadCommitted)
    }

    /// Its name, as SHOW displays it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ReadUncommitted => "read uncommitted",
            Self::ReadCommitted => "read committed",
            Self::RepeatableRead => "repeatable read",
            Self::Serializable => "serializable",
        }
    }
}
