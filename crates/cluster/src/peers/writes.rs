//! Writes to rows of other servers.

use super::NodePeers;
use super::rows::missing;
use crate::calls::CallError;
use crate::timeouts::TIMEOUTS;
use crate::transactions::unknown_outcome;
use bytes::Bytes;
use messages::{RowsAnswer, RowsRequest, WireWrite, batches, invalid_message, unexpected};
use sdds::{GroupId, Key};
use std::sync::Arc;
use store::catalog::Table;
use store::{Changed, Error, Reader, RowLocks, Write, Written};

impl NodePeers {
    pub(super) async fn send_row_operation(
        &self,
        table: &Arc<Table>,
        key: &Key,
        operation: Bytes,
    ) -> Result<u64, Error> {
        let file = self.node.files.of(table);
        let owner = self.view.other_owner(&file, key).await?;
        let (target, key, operation) = (self.view.target(table), key.clone(), operation.into());
        let request = RowsRequest::RowOperation { target, key: key.clone(), operation };
        self.view.count(&file);
        match self.node.calls.ask_leader(owner, &request).await {
            Ok(RowsAnswer::Written { rows, .. }) => Ok(rows),
            Ok(RowsAnswer::NotOwned { range, adjustment }) => {
                self.view.learn(&file, adjustment);
                Err(Error::NotOwned { range })
            }
            Ok(other) => Err(unexpected(&other)),
            Err(CallError::Unknown(_)) => Err(unknown_outcome()),
            Err(CallError::NotDone(error)) => Err(missing(error, table, &key)),
        }
    }

    pub(super) async fn send_write(
        &self,
        reader: &Reader,
        table: &Arc<Table>,
        owner: GroupId,
        write: Write,
    ) -> Result<Written, Error> {
        let file = self.node.files.of(table);
        let Some(transaction) = reader.transaction else {
            return Err(invalid_message("a write outside of transactions"));
        };
        let (step, _) = self.node.transactions.coordinated.writes(transaction, owner);
        let write = match write {
            Write::Insert(rows) => WireWrite::Insert(batches::write(&rows)?.into()),
            Write::Load(rows) => WireWrite::Load(batches::write(&rows)?.into()),
            Write::Upsert(rows) => WireWrite::Upsert(batches::write(&rows)?.into()),
            Write::Delete(keys) => WireWrite::Delete(keys),
            Write::Require(keys) => WireWrite::Require(keys),
        };
        let reader_locks = reader.locks.is_some();
        let (reader, target) = (self.wire(reader, owner), self.view.target(table));
        let request = RowsRequest::Write { reader, target, write, step };
        self.view.count(&file);
        // A write that locks may wait for long.
        let limit = if reader_locks { TIMEOUTS.run } else { TIMEOUTS.call };
        match self.node.calls.ask_leader_within(owner, &request, limit).await? {
            RowsAnswer::Written { rows, entries } => {
                self.node.transactions.coordinated.has_written(transaction, owner);
                Ok(Written { rows, entries })
            }
            RowsAnswer::NotOwned { range, adjustment } => {
                self.view.learn(&file, adjustment);
                Err(Error::NotOwned { range })
            }
            other => Err(unexpected(&other)),
        }
    }

    pub(super) async fn send_lock(
        &self,
        reader: &Reader,
        table: &Arc<Table>,
        owner: GroupId,
        rows: RowLocks,
    ) -> Result<Vec<bool>, Error> {
        let file = self.node.files.of(table);
        let Some(transaction) = reader.transaction else {
            return Err(invalid_message("a lock outside of transactions"));
        };
        let (step, _) = self.node.transactions.coordinated.writes(transaction, owner);
        let (reader, target) = (self.wire(reader, owner), self.view.target(table));
        let request = RowsRequest::Lock { reader, target, rows, step };
        self.view.count(&file);
        match self.node.calls.ask_leader_within(owner, &request, TIMEOUTS.run).await? {
            RowsAnswer::Locked(locked) => {
                self.node.transactions.coordinated.has_written(transaction, owner);
                Ok(locked)
            }
            RowsAnswer::NotOwned { range, adjustment } => {
                self.view.learn(&file, adjustment);
                Err(Error::NotOwned { range })
            }
            other => Err(unexpected(&other)),
        }
    }

    pub(super) async fn send_pushdown(
        &self,
        reader: &Reader,
        table: &Arc<Table>,
        owner: GroupId,
        pushdown: Bytes,
    ) -> Result<Changed, Error> {
        let file = self.node.files.of(table);
        let Some(transaction) = reader.transaction else {
            return Err(invalid_message("a DML pushdown outside of transactions"));
        };
        let (step, is_first) = self.node.transactions.coordinated.writes(transaction, owner);
        let request = RowsRequest::DmlPushdown {
            reader: self.wire(reader, owner),
            target: self.view.target(table),
            pushdown: pushdown.into(),
            step,
        };
        self.view.count(&file);
        match self.node.calls.ask_leader_within(owner, &request, TIMEOUTS.run).await? {
            RowsAnswer::Changed { rows, rest, entries, adjustment } => {
                self.view.learn(&file, adjustment);
                if rows > 0 {
                    self.node.transactions.coordinated.has_written(transaction, owner);
                } else if is_first && rest.is_empty() {
                    self.node.transactions.coordinated.has_not_begun(transaction, owner);
                }
                Ok(Changed { rows, rest, entries })
            }
            other => Err(unexpected(&other)),
        }
    }
}
