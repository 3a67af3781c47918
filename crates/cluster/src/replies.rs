//! The answer to a request that has one.

use crate::node::Node;
use futures::{StreamExt, stream};
use messages::{Reply, encode_reply};
use net::{Address, Answers, NetError};
use protocols::planted::{Bug, is_planted};
use serde::Serialize;

/// Sends an answer. A server whose log has stopped says neither that it has done something nor that it has not: the next
/// start decides.
pub(crate) fn send<A: Serialize>(node: &Node, reply: &Reply<A>) -> Answers {
    let stopped = node.store.journal().and_then(|journal| journal.stopped());
    let answer = match stopped.filter(|_| !is_planted(Bug::AnswerAfterFailure)) {
        None => Ok(encode_reply(reply)),
        Some(stopped) => Err(NetError::Failed {
            address: Address::new(node.membership.name.as_str()),
            reason: stopped.to_string(),
        }),
    };
    stream::once(async move { answer }).boxed()
}

/// Answers a request, on another thread if that takes long.
pub(crate) async fn answer<A: Serialize + Send + 'static>(
    node: &Node,
    is_large: bool,
    work: impl Future<Output = Reply<A>> + Send + 'static,
) -> Answers {
    let reply = match is_large {
        true => node.calls.tasks.run_apart(work).await.and_then(|reply| reply),
        false => work.await,
    };
    send(node, &reply)
}
