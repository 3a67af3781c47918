//! Answers requests about a transaction as a whole.

use super::Transactions;
use crate::messages::{Answer, Reply, Request, invalid_message};

/// Answers a request of a coordinator, or of a participant of a transaction that is coordinated
/// here.
pub(crate) async fn answer(transactions: &Transactions, request: Request) -> Reply {
    match request {
        Request::RollbackTo { transaction, savepoint, step } => {
            let part = transactions.participants.part(transaction)?;
            part.lock().await.rollback_to(savepoint, step);
            Ok(Answer::Done)
        }
        Request::RollBack { transaction } => {
            transactions.participants.end(transaction, None).await?;
            Ok(Answer::Done)
        }
        Request::Prepare { reader, has_written, newest } => {
            let Some(transaction) = reader.transaction else {
                return Err(invalid_message("prepare without a transaction"));
            };
            let store = &transactions.store;
            store.observe(newest);
            let part = transactions.participants.part(transaction)?;
            let prepared = part.lock().await.prepare(store, &reader, has_written).await;
            prepared.map(|()| Answer::Done)
        }
        Request::Commit { transaction, timestamp } => {
            transactions.participants.end(transaction, Some(timestamp)).await?;
            transactions.low_watermark.lock().learn(timestamp);
            Ok(Answer::Done)
        }
        Request::IsRunning { transaction } => {
            Ok(Answer::Running(transactions.coordinated.is_running(transaction)))
        }
        other => Err(invalid_message(&format!("{} is not about a transaction", other.name()))),
    }
}
