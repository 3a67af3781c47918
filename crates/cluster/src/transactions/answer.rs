//! Answers requests about a transaction as a whole.

use super::Transactions;
use crate::messages::{Answer, Reply, Request, invalid_message};
use sdds::Timestamp;
use std::sync::Arc;
use store::{Error, TransactionId};

/// Answers a request of a coordinator, or of a participant of a transaction that is coordinated
/// here.
pub(crate) async fn answer(transactions: &Arc<Transactions>, request: Request) -> Reply {
    match request {
        Request::RollbackTo { transaction, savepoint, step } => {
            let part = transactions.participants.part(transaction)?;
            part.lock().await.rollback_to(savepoint, step);
            Ok(Answer::Done)
        }
        Request::RollBack { transaction } => end(transactions, transaction, None).await,
        Request::Prepare { reader, newest } => {
            let Some(transaction) = reader.transaction else {
                return Err(invalid_message("prepare without a transaction"));
            };
            transactions.store.observe(newest);
            let part = transactions.participants.part(transaction)?;
            let preparing = async move { part.lock().await.prepare(&reader, transaction).await };
            complete(transactions, preparing).await
        }
        Request::Commit { transaction, timestamp } => {
            transactions.low_watermark.lock().learn(timestamp);
            end(transactions, transaction, Some(timestamp)).await
        }
        Request::IsRunning { transaction } => {
            Ok(Answer::Running(transactions.coordinated.is_running(transaction)))
        }
        other => Err(invalid_message(&format!("{} is not about a transaction", other.name()))),
    }
}

async fn end(
    transactions: &Arc<Transactions>,
    transaction: TransactionId,
    outcome: Option<Timestamp>,
) -> Reply {
    let there = Arc::clone(transactions);
    let ending = async move { there.participants.end(transaction, outcome).await };
    complete(transactions, ending).await
}

/// Does something completely, even if the caller does not wait for the answer: a part that was prepared or ended by half
/// would be in the log for ever.
async fn complete(
    transactions: &Transactions,
    work: impl Future<Output = Result<(), Error>> + Send + 'static,
) -> Reply {
    match transactions.calls.tasks.spawn(work).await {
        Some(done) => done.map(|()| Answer::Done),
        None => Err(transactions.calls.stopped_error()),
    }
}
