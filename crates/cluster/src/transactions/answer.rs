//! Answers requests about a transaction as a whole.

use super::Transactions;
use messages::{Reply, TransactionAnswer, TransactionRequest, invalid_message};
use sdds::Timestamp;
use std::sync::Arc;
use store::{Error, TransactionId};

/// Answers a request of a coordinator, or of a participant of a transaction that is coordinated
/// here.
pub(crate) async fn answer(
    transactions: &Arc<Transactions>,
    request: TransactionRequest,
) -> Reply<TransactionAnswer> {
    match request {
        TransactionRequest::RollbackTo { transaction, savepoint, step } => {
            let part = transactions.participants.part(transaction)?;
            part.lock().await.rollback_to(savepoint, step);
            Ok(TransactionAnswer::Done)
        }
        TransactionRequest::RollBack { transaction } => end(transactions, transaction, None).await,
        TransactionRequest::Prepare { reader, newest } => {
            let Some(transaction) = reader.transaction else {
                return Err(invalid_message("prepare without a transaction"));
            };
            transactions.store.observe(newest);
            let part = transactions.participants.part(transaction)?;
            let preparing = async move { part.lock().await.prepare(&reader, transaction).await };
            complete(transactions, preparing).await
        }
        TransactionRequest::Commit { transaction, timestamp } => {
            transactions.low_watermark.lock().learn(timestamp);
            end(transactions, transaction, Some(timestamp)).await
        }
        TransactionRequest::IsRunning { transaction } => {
            Ok(TransactionAnswer::Running(transactions.coordinated.is_running(transaction)))
        }
    }
}

async fn end(
    transactions: &Arc<Transactions>,
    transaction: TransactionId,
    outcome: Option<Timestamp>,
) -> Reply<TransactionAnswer> {
    let there = Arc::clone(transactions);
    let ending = async move { there.participants.end(transaction, outcome).await };
    complete(transactions, ending).await
}

/// Does something completely, even if the caller does not wait for the answer: a part that was prepared or ended by half
/// would be in the log for ever.
async fn complete(
    transactions: &Transactions,
    work: impl Future<Output = Result<(), Error>> + Send + 'static,
) -> Reply<TransactionAnswer> {
    match transactions.calls.tasks.spawn(work).await {
        Some(done) => done.map(|()| TransactionAnswer::Done),
        None => Err(transactions.calls.stopped_error()),
    }
}
