//! Participants that hear nothing of their transactions ask for the outcome.

use super::Transactions;
use crate::messages::{Answer, Request};
use crate::timeouts::TIMEOUTS;
use futures::future::join_all;
use sdds::Timestamp;
use store::TransactionId;

impl Transactions {
    /// Asks for the outcome of silent transactions, and ends those that have ended.
    pub(crate) async fn resolve(&self) {
        let now = self.calls.tasks.now();
        let Some(since) = now.checked_sub(TIMEOUTS.participant_silence) else { return };
        let silent = self.participants.silent(since, now);
        let prepared = silent.prepared.into_iter().map(async |transaction| {
            let asked = self.calls.ask_root(&Request::Outcome { transaction }).await;
            if let Ok(Answer::Outcome(outcome)) = asked {
                tracing::warn!(?transaction, ?outcome, "learned an outcome from the root");
                self.end_part(transaction, outcome).await;
            }
        });
        let open = silent.open.into_iter().map(async |transaction| {
            let request = Request::IsRunning { transaction };
            let asked = self.calls.ask(transaction.coordinator, &request).await;
            let is_over = matches!(asked, Ok(Answer::Running(false)));
            if is_over || self.membership.is_lost(transaction.coordinator) {
                tracing::warn!(?transaction, "ended a transaction that its coordinator abandoned");
                self.end_part(transaction, None).await;
            }
        });
        tokio::join!(join_all(prepared), join_all(open));
    }

    async fn end_part(&self, transaction: TransactionId, outcome: Option<Timestamp>) {
        if let Err(error) = self.participants.end(&self.calls.tasks, transaction, outcome).await {
            tracing::error!(%transaction, %error, "could not end a part of a transaction");
        }
    }
}
