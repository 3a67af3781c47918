//! The rows of this server, for the transactions of other servers.
//!
//! - `reading`: the snapshot of a transaction. `get`: rows by key. `entries`: entries of indexes. `fragments`: streams of rows.
//! - `staging`: writes that wait for locks. `locking`: locks for queries. `write`: rows to be written. `pushdown`: rows that this server changes by itself.

mod entries;
mod fragments;
mod get;
mod locking;
mod pushdown;
mod reading;
mod staging;
mod write;

pub(crate) use fragments::{describe, run, take};

use crate::messages::{Answer, Reply, Request, invalid_message};
use crate::node::Node;
use crate::peers::numbers;
use std::sync::Arc;

/// Answers a request to the owner of rows.
pub(crate) async fn answer(node: &Arc<Node>, request: Request) -> Reply {
    match request {
        Request::Get { reader, target, keys, columns } => {
            get::get(node, &reader, &target, &keys, &columns).await
        }
        Request::Entries { reader, target, range, limit } => {
            entries::entries(node, &reader, &target, range, limit).await
        }
        Request::Newest { target, key, columns } => get::newest(node, &target, key, &columns).await,
        Request::Write { reader, target, write, step } => {
            write::write(node, &reader, &target, write, step).await
        }
        Request::Lock { reader, target, rows, step } => {
            locking::lock(node, &reader, &target, &rows, step).await
        }
        Request::LockNumber { owner, number, mode, waits } => {
            let taken = numbers::lock(node, owner, number, mode, waits).await?;
            Ok(Answer::Locked(vec![taken]))
        }
        Request::UnlockNumbers { owner, one } => {
            numbers::unlock(node, owner, one);
            Ok(Answer::Done)
        }
        Request::Unchanged { table, since, now } => {
            Ok(Answer::Unchanged(node.store.unchanged_since(table, since, now).await))
        }
        Request::Waits => Ok(Answer::Waits(node.store.waits())),
        Request::RowOperation { target, key, operation } => {
            write::row_operation(node, &target, key, operation.0).await
        }
        Request::DmlPushdown { reader, target, pushdown, step } => {
            pushdown::answer(node, reader, &target, pushdown.0, step).await
        }
        other => Err(invalid_message(&format!("{} is not about rows", other.name()))),
    }
}
