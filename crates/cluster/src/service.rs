//! Answers the requests of other servers: decodes them, and passes each to the part that answers its group.

use crate::blocking::LARGE_BYTES;
use crate::moving;
use crate::node::Node;
use crate::peers::numbers;
use crate::replies;
use crate::routing;
use crate::rows;
use crate::transactions;
use bytes::Bytes;
use futures::{StreamExt, stream};
use messages::{Envelope, Reply, Request, RootAnswer, RootRequest, decode, is_background};
use net::Answers;
use protocols::numbers::Order;
use std::sync::Arc;
use store::Error;

/// Answers a request.
pub(crate) fn serve(node: &Arc<Node>, request: Bytes) -> Answers {
    let (node, counters) = (Arc::clone(node), Arc::clone(node.calls.counters()));
    let is_counted = !is_background(&request);
    if is_counted {
        counters.received.count(&request);
    }
    let count = move |answer: &Result<Bytes, _>| {
        if let (true, Ok(answer)) = (is_counted, answer) {
            counters.sent.count(answer);
        }
    };
    stream::once(async move {
        let is_large = request.len() as u64 >= LARGE_BYTES;
        match decode::<Envelope>(&request).and_then(|envelope| open(&node, envelope)) {
            Ok(request) => answer(&node, request, is_large).await,
            Err(error) => replies::send::<()>(&node, &Err(error)),
        }
    })
    .flatten()
    .inspect(count)
    .boxed()
}

/// The request in an envelope, if it is for this server, and both are members.
fn open(node: &Node, envelope: Envelope) -> Result<Request, Error> {
    if node.calls.stopped.is_cancelled() {
        return Err(node.calls.stopped_error());
    }
    node.membership.admit(envelope.from, envelope.to)?;
    Ok(envelope.request)
}

async fn answer(node: &Arc<Node>, request: Request, is_large: bool) -> Answers {
    let there = Arc::clone(node);
    match request {
        Request::Root(request) => {
            replies::answer(node, is_large, async move { to_root(&there, request).await }).await
        }
        Request::Rows(request) => rows::serve(there, request, is_large).await,
        Request::Transaction(request) => {
            let work = async move { transactions::answer(&there.transactions, request).await };
            replies::answer(node, is_large, work).await
        }
        Request::Move(request) => {
            let work = async move { moving::answer(&there.moves, request).await };
            replies::answer(node, is_large, work).await
        }
        Request::Directory(request) => {
            let work = async move { routing::answer(&there.routing, request).await };
            replies::answer(node, is_large, work).await
        }
    }
}

/// Answers a request to the root. Other servers forward those of servers that join or come back: such a server may know any
/// member.
async fn to_root(node: &Arc<Node>, request: RootRequest) -> Reply<RootAnswer> {
    match (&node.calls.root, request) {
        (Some(root), RootRequest::LockNumber { owner, number, mode, waits, sent, settled }) => {
            let order = Order { number: sent, settled };
            let taken = numbers::lock(node, root, order, owner, (number, mode), waits).await?;
            Ok(RootAnswer::Locked(taken))
        }
        (Some(root), RootRequest::UnlockNumbers { owner, one, sent, settled }) => {
            root.unlock_numbers(Order { number: sent, settled }, owner, one);
            Ok(RootAnswer::Done)
        }
        (Some(root), request) => root.answer(&request).await,
        (
            None,
            request @ (RootRequest::Start | RootRequest::Join { .. } | RootRequest::Return { .. }),
        ) => Ok(node.calls.ask_root(&request).await?),
        (None, _) => {
            let reason = "it is not the root server";
            Err(Error::unreachable(node.membership.name.clone(), reason))
        }
    }
}
