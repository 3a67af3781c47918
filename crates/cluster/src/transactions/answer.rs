//! Answers requests about a transaction as a whole.

use super::Transactions;
use crate::messages::{Answer, Reply, Request, invalid_message};

/// Answers a request of a coordinator, or of a participant of a transaction that is coordinated
/// here.
pub(crate) async fn answer(transactions: &Transactions, request: Request) -> Reply {
    let tasks = &transactions.calls.tasks;
    match request {
        Request::RollbackTo { transaction, savepoint, step } => {
            let part = transactions.participants.part(transaction, tasks.now())?;
            part.lock().await.rollback_to(savepoint, step, tasks.now());
            Ok(Answer::Done)
        }
        Request::RollBack { transaction } => {
            transactions.participants.end(tasks, transaction, None).await?;
            Ok(Answer::Done)
        }
        Request::Prepare { reader, newest } => {
            let Some(transaction) = reader.transaction else {
                return Err(invalid_message("prepare without a transaction"));
            };
            let store = &transactions.store;
            store.observe(newest);
            let part = transactions.participants.part(transaction, tasks.now())?;
            let prepared = part.lock().await.prepare(tasks, store, &reader).await;
            prepared.map(|()| Answer::Done)
        }
        Request::Commit { transaction, timestamp } => {
            transactions.participants.end(tasks, transaction, Some(timestamp)).await?;
            transactions.low_watermark.lock().learn(timestamp);
            Ok(Answer::Done)
        }
        Request::IsRunning { transaction } => {
            Ok(Answer::Running(transactions.coordinated.is_running(transaction)))
        }
        other => Err(invalid_message(&format!("{} is not about a transaction", other.name()))),
    }
}
