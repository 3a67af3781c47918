//! What the coordinator of a transaction and its participants ask each other about the transaction as a whole.

use super::ordinals::ordinals;
use super::rows::WireReader;
use sdds::Timestamp;
use serde::{Deserialize, Serialize};
use store::TransactionId;

/// A request about a transaction.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum TransactionRequest {
    /// The coordinator to a participant: roll back to a savepoint, and refuse writes of steps before. Late, the transaction
    /// cannot commit: its coordinator has had no answer.
    RollbackTo {
        /// The transaction.
        transaction: TransactionId,
        /// The savepoint.
        savepoint: u64,
        /// How often its transaction has rolled back to a savepoint before.
        step: u64,
    },
    /// The coordinator to a participant: roll back. Late, the part has ended, and the same outcome was learned.
    RollBack {
        /// The transaction.
        transaction: TransactionId,
    },
    /// The coordinator to a participant: prepare to commit. Late, the part may be prepared of a transaction that is
    /// rolled back already; it asks the root.
    Prepare {
        /// Who reads or writes.
        reader: WireReader,
        /// The commit timestamp will be greater.
        newest: Timestamp,
    },
    /// The coordinator to a participant: commit, as the root has decided. Late, the part has ended, and the same outcome
    /// was learned.
    Commit {
        /// The transaction.
        transaction: TransactionId,
        /// When it becomes visible.
        timestamp: Timestamp,
    },
    /// A participant with an open part to the coordinator: whether the transaction runs. The answer ends no part that was
    /// prepared meanwhile: that asks the root.
    IsRunning {
        /// The transaction.
        transaction: TransactionId,
    },
}

ordinals!(TransactionRequest {
    0 = RollbackTo,
    1 = RollBack,
    2 = Prepare,
    3 = Commit,
    4 = IsRunning,
});

/// The answer to a request about a transaction.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum TransactionAnswer {
    /// To what has no other answer.
    Done,
    /// To [`TransactionRequest::IsRunning`].
    Running(bool),
}

ordinals!(TransactionAnswer { 0 = Done, 1 = Running });
