//! Participants that hear nothing of their transactions ask for the outcome.

use super::Transactions;
use crate::timeouts::TIMEOUTS;
use futures::future::join_all;
use messages::{RootAnswer, RootRequest, TransactionAnswer, TransactionRequest};
use store::{Error, TransactionId};

impl Transactions {
    /// Asks for the outcome of silent transactions, and ends those that have ended.
    pub(crate) async fn resolve(&self) {
        let silent = self.participants.silent(TIMEOUTS.participant_silence);
        let prepared = silent.prepared.into_iter().map(async |transaction| {
            let asked = self.calls.ask_root(&RootRequest::Outcome { transaction }).await;
            if let Ok(RootAnswer::Outcome(outcome)) = asked {
                tracing::warn!(?transaction, ?outcome, "learned an outcome from the root");
                note(transaction, self.participants.end(transaction, outcome).await);
            }
        });
        let open = silent.open.into_iter().map(async |transaction| {
            let request = TransactionRequest::IsRunning { transaction };
            let asked = self.calls.ask(transaction.coordinator, &request).await;
            let is_over = matches!(asked, Ok(TransactionAnswer::Running(false)));
            if is_over || self.membership.is_lost(transaction.coordinator) {
                tracing::warn!(?transaction, "the coordinator has abandoned a transaction");
                note(transaction, self.participants.abandon(transaction).await);
            }
        });
        tokio::join!(join_all(prepared), join_all(open));
    }
}

fn note(transaction: TransactionId, ended: Result<(), Error>) {
    if let Err(error) = ended {
        tracing::error!(%transaction, %error, "could not end a part of a transaction");
    }
}
