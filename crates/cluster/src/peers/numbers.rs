//! Advisory locks: the root keeps those of the sessions of all servers, in its lock table.
//!
//! Those of a server that has left the cluster, or has been started again, end: its sessions have ended. When the root is
//! started again, all have ended.

use super::{NodePeers, granted};
use crate::membership::ROOT;
use crate::node::Node;
use crate::timeouts::TIMEOUTS;
use futures::future::{BoxFuture, Either, select};
use messages::{RootAnswer, RootRequest, unexpected};
use std::pin::pin;
use std::sync::Arc;
use store::Error;
use store::locks::{Mode, Owner, Space, Target};
use tokio::sync::oneshot;

/// A lock that is asked for.
type Number = (Space, i64);

/// Takes a lock for an owner, at the root. Returns whether it was taken. Who waits for it gives up after a while, and may
/// ask again.
///
/// # Errors
/// 40P01.
pub(crate) async fn lock(
    node: &Arc<Node>,
    owner: Owner,
    (space, number): Number,
    mode: Mode,
    waits: bool,
) -> Result<bool, Error> {
    let target = Target::Advisory(space, number);
    if node.store.try_lock_for(owner, &target, mode) {
        return Ok(true);
    }
    node.store.unlock_all_of(|server| node.membership.is_lost(server));
    if !waits {
        return Ok(node.store.try_lock_for(owner, &target, mode));
    }
    let Some(wait) = node.store.lock_for(owner, target, mode)? else { return Ok(true) };
    let waited = pin!(granted(node, owner.party, wait));
    match select(waited, node.calls.tasks.sleep(TIMEOUTS.number)).await {
        Either::Left((done, _)) => done.map(|()| true),
        Either::Right(_) => Ok(false),
    }
}

/// Releases a lock of an owner, or all, at the root.
pub(crate) fn unlock(node: &Node, owner: Owner, one: Option<(Number, Mode)>) {
    match one {
        Some(((space, number), mode)) => {
            node.store.unlock_for(owner, &Target::Advisory(space, number), mode);
        }
        None => node.store.unlock_all_for(owner),
    }
}

impl NodePeers {
    pub(super) async fn send_number(
        &self,
        owner: Owner,
        number: Number,
        mode: Mode,
        waits: bool,
    ) -> Result<bool, Error> {
        loop {
            let taken = if self.node.membership.is_here(ROOT) {
                lock(&self.node, owner, number, mode, waits).await?
            } else {
                let request = RootRequest::LockNumber { owner, number, mode, waits };
                let limit = if waits { TIMEOUTS.run } else { TIMEOUTS.call };
                match self.node.calls.ask_leader_within(ROOT, &request, limit).await? {
                    RootAnswer::Locked(taken) => taken,
                    other => return Err(unexpected(&other)),
                }
            };
            if taken || !waits {
                return Ok(taken);
            }
        }
    }

    pub(super) fn end_numbers(
        &self,
        owner: Owner,
        one: Option<(Number, Mode)>,
    ) -> BoxFuture<'static, ()> {
        let node = Arc::clone(&self.node);
        if node.membership.is_here(ROOT) {
            unlock(&node, owner, one);
            return Box::pin(std::future::ready(()));
        }
        let (tried, first_try) = oneshot::channel::<()>();
        node.calls.tasks.clone().spawn(async move {
            let (request, mut tried) = (RootRequest::UnlockNumbers { owner, one }, Some(tried));
            while node.calls.ask_leader(ROOT, &request).await.is_err()
                && !node.calls.stopped.is_cancelled()
            {
                drop(tried.take());
                node.calls.tasks.sleep(TIMEOUTS.retry_pause).await;
            }
        });
        Box::pin(async move {
            let _ = first_try.await;
        })
    }
}
