//! Calls of procedures for clients of other servers.

use super::reading::definition;
use super::write::not_owned;
use crate::node::Node;
use bytes::Bytes;
use messages::{Reply, RowsAnswer, Target};
use sdds::{Key, KeyRange};
use std::sync::Arc;
use store::{Error, TransactionId};

/// Executes a call. If this server does not own the key, nothing is done, and the answer names the
/// owner.
pub(super) async fn call(
    node: &Arc<Node>,
    target: &Target,
    key: Key,
    id: TransactionId,
    call: Bytes,
) -> Reply<RowsAnswer> {
    let range = KeyRange::point(&key);
    definition(&node.store.catalog(), target)?;
    match node.fragments()?.call(id, target.table, key, call).await {
        Err(Error::NotOwned { .. }) => not_owned(node, target, range).await,
        result => Ok(RowsAnswer::Called(result?.into())),
    }
}
