//! Calls of procedures, executed by other servers.

use super::NodePeers;
use super::rows::missing;
use crate::calls::CallError;
use crate::timeouts::TIMEOUTS;
use crate::transactions::unknown_outcome;
use bytes::Bytes;
use futures::future::BoxFuture;
use messages::{RowsAnswer, RowsRequest, unexpected};
use sdds::{GroupId, Key};
use std::sync::Arc;
use store::catalog::Table;
use store::{Error, TransactionId};

impl NodePeers {
    pub(super) async fn send_call(
        &self,
        table: &Arc<Table>,
        key: &Key,
        call: Bytes,
        ending: BoxFuture<'_, ()>,
    ) -> Result<Bytes, Error> {
        let file = self.node.files.of(table);
        let owner = self.view.other_owner(&file, key).await?;
        let id = self.node.transactions.new_id();
        let (target, key) = (self.view.target(table), key.clone());
        let request = RowsRequest::Call { target, key: key.clone(), id, call: call.into() };
        self.view.count(&file);
        let calls = &self.node.calls;
        let answer = calls.ask_leader_within(owner, &request, TIMEOUTS.procedure);
        tokio::pin!(answer);
        let answer = tokio::select! {
            biased;
            answer = &mut answer => answer,
            () = ending => tokio::select! {
                biased;
                answer = &mut answer => answer,
                never = self.end_call(owner, id) => match never {},
            },
        };
        match answer {
            Ok(RowsAnswer::Called(result)) => Ok(result.0),
            Ok(RowsAnswer::NotOwned { range, adjustment }) => {
                self.view.learn(&file, adjustment);
                Err(Error::NotOwned { range })
            }
            Ok(other) => Err(unexpected(&other)),
            Err(CallError::Unknown(_)) => Err(unknown_outcome()),
            Err(CallError::NotDone(error)) => Err(missing(error, table, &key)),
        }
    }

    /// Asks a server to end a call, again and again: the call may arrive after the first request.
    async fn end_call(&self, owner: GroupId, id: TransactionId) -> std::convert::Infallible {
        loop {
            // If it is lost, the next one may arrive.
            let _ = self.node.calls.ask_leader(owner, &RowsRequest::EndCall { id }).await;
            self.node.calls.tasks.sleep(TIMEOUTS.end_call).await;
        }
    }
}
