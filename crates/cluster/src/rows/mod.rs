//! The rows of this server, for the transactions of other servers.
//!
//! - `reading`: the snapshot of a transaction. `get`: rows by key. `entries`: entries of indexes. `fragments`: streams of rows.
//! - `staging`: writes that wait for locks. `locking`: locks for queries. `write`: rows to be written. `pushdown`: rows that this server changes by itself.
//! - `calls`: procedures that this server executes.

mod calls;
mod entries;
mod fragments;
mod get;
mod locking;
mod pushdown;
mod reading;
mod staging;
mod write;

use crate::node::Node;
use crate::replies;
use crate::report;
use messages::{Reply, RowsAnswer, RowsRequest, invalid_message};
use net::Answers;
use std::sync::Arc;

/// Answers a request of a statement on another server.
pub(crate) async fn serve(node: Arc<Node>, request: RowsRequest, is_large: bool) -> Answers {
    match request {
        RowsRequest::Run { reader, hops, fragment } => {
            fragments::run(node, reader, hops, fragment.0).await
        }
        RowsRequest::Take { exchange, part } => fragments::take(&node, exchange, part),
        RowsRequest::Describe { name } => fragments::describe(&node, &name),
        request => {
            // A pushdown moves its large pieces of work to other threads itself.
            let is_apart = is_large && !matches!(request, RowsRequest::DmlPushdown { .. });
            let there = Arc::clone(&node);
            replies::answer(&node, is_apart, async move { answer(&there, request).await }).await
        }
    }
}

async fn answer(node: &Arc<Node>, request: RowsRequest) -> Reply<RowsAnswer> {
    match request {
        RowsRequest::Get { reader, target, keys, columns } => {
            get::get(node, &reader, &target, &keys, &columns).await
        }
        RowsRequest::Newest { target, key, columns } => {
            get::newest(node, &target, key, &columns).await
        }
        RowsRequest::Entries { reader, target, range, limit } => {
            entries::entries(node, &reader, &target, range, limit).await
        }
        RowsRequest::Unchanged { table, since, now } => {
            Ok(RowsAnswer::Unchanged(node.store.unchanged_since(table, since, now).await))
        }
        RowsRequest::RowOperation { target, key, operation } => {
            write::row_operation(node, &target, key, operation.0).await
        }
        RowsRequest::Write { reader, target, write, step } => {
            write::write(node, &reader, &target, write, step).await
        }
        RowsRequest::DmlPushdown { reader, target, pushdown, step } => {
            pushdown::answer(node, reader, &target, pushdown.0, step).await
        }
        RowsRequest::Lock { reader, target, rows, step } => {
            locking::lock(node, &reader, &target, &rows, step).await
        }
        RowsRequest::Call { target, key, id, call } => {
            calls::call(node, &target, key, id, call.0).await
        }
        RowsRequest::EndCall { id } => {
            node.fragments()?.end_call(id);
            Ok(RowsAnswer::Done)
        }
        RowsRequest::Waits => Ok(RowsAnswer::Waits(node.store.waits())),
        RowsRequest::Report => Ok(RowsAnswer::Report(Box::new(report::held(node)))),
        RowsRequest::Publish { notifications } => {
            if let Some(fragments) = node.fragments.get() {
                fragments.publish(&notifications);
            }
            Ok(RowsAnswer::Done)
        }
        RowsRequest::Run { .. } | RowsRequest::Take { .. } | RowsRequest::Describe { .. } => {
            Err(invalid_message("a request for a stream of rows"))
        }
    }
}
