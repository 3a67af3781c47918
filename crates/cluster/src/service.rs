//! Answers the requests of other servers: decodes them, and passes them to the part that they are
//! about.

use crate::blocking::LARGE_BYTES;
use crate::membership::evicted;
use crate::messages::{
    Answer, Envelope, Reply, Request, decode, encode_reply, invalid_message, is_background,
};
use crate::moving;
use crate::node::Node;
use crate::report;
use crate::routing;
use crate::rows;
use crate::transactions;
use bytes::Bytes;
use futures::{StreamExt, stream};
use net::{Address, Answers, NetError};
use protocols::planted::{Bug, is_planted};
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
            Ok(Request::Run { reader, hops, fragment }) => {
                rows::run(node, reader, hops, fragment.0).await
            }
            Ok(Request::Take { exchange, part }) => rows::take(&node, exchange, part),
            Ok(Request::Describe { name }) => rows::describe(&node, &name),
            // Moves its large pieces of work to other threads itself.
            Ok(request @ Request::DmlPushdown { .. }) => one(&node, answer(&node, request).await),
            Ok(request) if is_large => {
                let there = Arc::clone(&node);
                let work = async move { answer(&there, request).await };
                one(&node, node.calls.tasks.run_apart(work).await.and_then(|reply| reply))
            }
            Ok(request) => one(&node, answer(&node, request).await),
            Err(error) => one(&node, Err(error)),
        }
    })
    .flatten()
    .inspect(count)
    .boxed()
}

/// The answer to a request. A server whose log has stopped says neither that it has done something nor that it has not:
/// the next start decides.
fn one(node: &Node, reply: Reply) -> Answers {
    let stopped = node.store.journal().and_then(|journal| journal.stopped());
    let answer = match stopped.filter(|_| !is_planted(Bug::AnswerAfterFailure)) {
        None => Ok(encode_reply(&reply)),
        Some(stopped) => Err(NetError::Failed {
            address: Address::new(node.membership.name.as_str()),
            reason: stopped.to_string(),
        }),
    };
    stream::once(async move { answer }).boxed()
}

/// The request in an envelope, if it is for this server, and its sender is not evicted.
fn open(node: &Node, envelope: Envelope) -> Result<Request, Error> {
    if node.calls.stopped.is_cancelled() {
        return Err(node.calls.stopped_error());
    }
    if envelope.to.is_some_and(|to| to != node.membership.here) {
        let reason = "another server has its address now";
        return Err(Error::unreachable(node.membership.name.clone(), reason));
    }
    match envelope.from.filter(|from| node.membership.is_lost(*from)) {
        Some(lost) => Err(evicted(&node.membership.name_of(lost))),
        None => Ok(envelope.request),
    }
}

async fn answer(node: &Arc<Node>, request: Request) -> Reply {
    match request {
        Request::Get { .. }
        | Request::Entries { .. }
        | Request::Newest { .. }
        | Request::Write { .. }
        | Request::Lock { .. }
        | Request::Waits
        | Request::LockNumber { .. }
        | Request::UnlockNumbers { .. }
        | Request::Unchanged { .. }
        | Request::RowOperation { .. }
        | Request::DmlPushdown { .. } => rows::answer(node, request).await,
        Request::Run { .. } | Request::Take { .. } | Request::Describe { .. } => {
            Err(invalid_message("a request for a stream of rows"))
        }
        Request::RollbackTo { .. }
        | Request::RollBack { .. }
        | Request::Prepare { .. }
        | Request::Commit { .. }
        | Request::IsRunning { .. } => transactions::answer(&node.transactions, request).await,
        Request::ListOwned { .. } | Request::FindOwners { .. } | Request::Directory { .. } => {
            routing::answer(&node.routing, request).await
        }
        Request::MoveIn { .. }
        | Request::MovePiece { .. }
        | Request::MoveAdopt { .. }
        | Request::MoveDrop { .. }
        | Request::MoveOutcome { .. } => moving::answer(&node.moves, request).await,
        Request::Publish { notifications } => {
            if let Some(fragments) = node.fragments.get() {
                fragments.publish(&notifications);
            }
            Ok(Answer::Done)
        }
        Request::Report => Ok(Answer::Report(Box::new(report::held(node)))),
        Request::Join { .. }
        | Request::Return { .. }
        | Request::Heartbeat(_)
        | Request::Now
        | Request::Next { .. }
        | Request::Members
        | Request::Decide { .. }
        | Request::Outcome { .. }
        | Request::SequenceNext { .. }
        | Request::SequenceSet { .. }
        | Request::SequenceLast { .. }
        | Request::Leave { .. }
        | Request::ChangeMoves { .. }
        | Request::SetWeight { .. } => to_root(node, request).await,
    }
}

/// Answers a request to the root. Other servers forward [`Request::Join`] and [`Request::Return`] only: such a server may
/// know any member.
async fn to_root(node: &Node, request: Request) -> Reply {
    match &node.calls.root {
        Some(root) => root.answer(&request).await,
        None if matches!(request, Request::Join { .. } | Request::Return { .. }) => {
            Ok(node.calls.ask_root(&request).await?)
        }
        None => {
            let reason = "it is not the root server";
            Err(Error::unreachable(node.membership.name.clone(), reason))
        }
    }
}
