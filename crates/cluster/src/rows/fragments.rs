//! Streams of rows: plan fragments, exchanges, and system tables.

use super::reading::reading_of_fragment;
use crate::node::Node;
use crate::peers::NodePeers;
use bytes::Bytes;
use futures::{StreamExt, stream};
use messages::{Reply, RowsAnswer, WireReader, batches, encode_reply};
use net::{Answers, NetError};
use std::sync::Arc;
use store::{BatchStream, Error, ExchangeId};

/// Runs a plan fragment. Adjustments for the coordinator follow the first rows, as not all of them
/// may be read, and the last.
pub(crate) async fn run(
    node: Arc<Node>,
    reader: WireReader,
    hops: u32,
    fragment: Bytes,
) -> Answers {
    match begin(&node, &reader, hops, fragment).await {
        Ok(answers) => answers,
        Err(error) => failed(error),
    }
}

async fn begin(
    node: &Arc<Node>,
    reader: &WireReader,
    hops: u32,
    fragment: Bytes,
) -> Result<Answers, Error> {
    let peers = NodePeers::serving(node, hops);
    let fragments = node.fragments()?;
    let reading = reading_of_fragment(node, reader, &peers).await?;
    let rows = answers(fragments.run(reading, fragment)).fuse();
    let told = async move {
        let (first, rest) = rows.into_future().await;
        let begin = stream::iter(adjustment(&peers)).chain(stream::iter(first));
        let end = stream::once(async move { adjustment(&peers) }).flat_map(stream::iter);
        begin.chain(rest).chain(end)
    };
    Ok(stream::once(told).flatten().boxed())
}

/// What was learned for the coordinator since the last adjustment, if anything.
fn adjustment(peers: &NodePeers) -> Option<Result<Bytes, NetError>> {
    let adjustment = peers.view.take_adjustment();
    let is_news = adjustment.forwards > 0 || !adjustment.entries.is_empty();
    is_news.then(|| Ok(encode_reply(&Ok(RowsAnswer::Adjustment(adjustment)))))
}

/// The rows of one part of an exchange.
pub(crate) fn take(node: &Node, exchange: ExchangeId, part: u32) -> Answers {
    match node.fragments() {
        Ok(fragments) => answers(fragments.take(exchange, part)),
        Err(error) => failed(error),
    }
}

/// The rows of this server in a system table.
pub(crate) fn describe(node: &Node, name: &str) -> Answers {
    let rows = node.fragments.get().and_then(|fragments| fragments.describe(name));
    let pieces = rows
        .iter()
        .flat_map(batches::pieces)
        .map(|piece| Ok(RowsAnswer::Batch(batches::write(&piece)?.into())));
    let replies: Vec<Reply<RowsAnswer>> = pieces.collect();
    stream::iter(replies).map(|reply| Ok(encode_reply(&reply))).boxed()
}

fn failed(error: Error) -> Answers {
    let bytes = encode_reply::<()>(&Err(error));
    stream::once(async move { Ok(bytes) }).boxed()
}

/// Encodes rows in pieces that are small enough to send.
fn answers(batches: BatchStream) -> Answers {
    let pieces = batches.flat_map(|batch| {
        let pieces: Vec<Reply<RowsAnswer>> = match batch {
            Ok(batch) => batches::pieces(&batch)
                .map(|piece| Ok(RowsAnswer::Batch(batches::write(&piece)?.into())))
                .collect(),
            Err(error) => vec![Err(error)],
        };
        stream::iter(pieces)
    });
    pieces.map(|reply| Ok(encode_reply(&reply))).boxed()
}
