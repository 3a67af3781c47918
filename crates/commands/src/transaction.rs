//! BEGIN, COMMIT, ROLLBACK and savepoints.

use crate::options::{elements, is_on, text};
use crate::{Error, Result};
use grammar::tree::{Node, TransactionStmt, TransactionStmtKind};

/// A statement that controls transactions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transaction {
    /// BEGIN or START TRANSACTION.
    Begin {
        /// Whether it is START TRANSACTION.
        is_start: bool,
        /// The modes, in their order.
        modes: Vec<Mode>,
    },
    /// COMMIT.
    Commit {
        /// AND CHAIN.
        chain: bool,
    },
    /// ROLLBACK.
    Rollback {
        /// AND CHAIN.
        chain: bool,
    },
    /// SAVEPOINT.
    Savepoint(String),
    /// RELEASE SAVEPOINT.
    Release(String),
    /// ROLLBACK TO SAVEPOINT.
    RollbackTo(String),
}

/// A mode of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mode {
    /// The isolation level, in lower case.
    Isolation(String),
    /// READ ONLY or READ WRITE.
    ReadOnly(bool),
    /// DEFERRABLE or NOT DEFERRABLE.
    Deferrable(bool),
}

impl Transaction {
    pub(crate) fn of(statement: &TransactionStmt) -> Result<Self> {
        use TransactionStmtKind as Kind;
        let (name, chain) = (|| statement.savepoint_name.clone(), statement.chain);
        Ok(match statement.kind() {
            Kind::TransStmtBegin => {
                Self::Begin { is_start: false, modes: modes(&statement.options) }
            }
            Kind::TransStmtStart => {
                Self::Begin { is_start: true, modes: modes(&statement.options) }
            }
            Kind::TransStmtCommit => Self::Commit { chain },
            Kind::TransStmtRollback => Self::Rollback { chain },
            Kind::TransStmtSavepoint => Self::Savepoint(name()),
            Kind::TransStmtRelease => Self::Release(name()),
            Kind::TransStmtRollbackTo => Self::RollbackTo(name()),
            Kind::TransStmtPrepare => return Err(Error::missing("PREPARE TRANSACTION")),
            Kind::TransStmtCommitPrepared => return Err(Error::missing("COMMIT PREPARED")),
            Kind::TransStmtRollbackPrepared => return Err(Error::missing("ROLLBACK PREPARED")),
            Kind::Undefined => return Err(crate::names::incomplete()),
        })
    }
}

/// The modes of a list of options.
pub(crate) fn modes(options: &[Node]) -> Vec<Mode> {
    elements(options)
        .filter_map(|element| match element.defname.as_str() {
            "transaction_isolation" => element.arg.as_deref().and_then(text).map(Mode::Isolation),
            "transaction_read_only" => Some(Mode::ReadOnly(is_on(element))),
            "transaction_deferrable" => Some(Mode::Deferrable(is_on(element))),
            _ => None,
        })
        .collect()
}
