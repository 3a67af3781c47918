//! Advisory locks: the root keeps those of the sessions of all servers, in its lock table.
//!
//! Those of a server that has left the cluster, or has been started again, end: its sessions have ended. When the root is
//! started again, all have ended.

use super::{NodePeers, granted};
use crate::membership::ROOT;
use crate::node::Node;
use crate::root::{Asked, Place, Root};
use crate::timeouts::TIMEOUTS;
use futures::future::{BoxFuture, Either, select};
use messages::{RootAnswer, RootRequest, unexpected};
use protocols::numbers::Order;
use std::pin::pin;
use std::sync::Arc;
use store::Error;
use store::locks::Owner;
use tokio::sync::oneshot;

/// Takes a lock for an owner, at the root. Returns whether it was taken. Who waits for it gives up after a while, and may
/// ask again.
///
/// # Errors
/// 40P01.
pub(crate) async fn lock(
    node: &Arc<Node>,
    root: &Root,
    order: Order,
    owner: Owner,
    place: Place,
    waits: bool,
) -> Result<bool, Error> {
    let wait = match root.lock_number(order, owner, place, waits)? {
        Asked::Taken => return Ok(true),
        Asked::Refused => return Ok(false),
        Asked::Waits(wait) => wait,
    };
    let waited = {
        let waited = pin!(granted(node, owner.party, wait));
        match select(waited, node.calls.tasks.sleep(TIMEOUTS.number)).await {
            Either::Left((done, _)) => done,
            Either::Right(_) => Ok(()),
        }
    };
    let has = root.number_awaited(order, owner, place);
    waited.map(|()| has)
}

/// A request that this server has sent. Dropping it ends it: nobody waits for the answer.
struct Asking<'a> {
    node: &'a Node,
    order: Order,
}

impl<'a> Asking<'a> {
    fn begin(node: &'a Node) -> Self {
        Self { node, order: node.numbers.lock().begin() }
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.node.numbers.lock().end(self.order);
    }
}

impl NodePeers {
    pub(super) async fn send_number(
        &self,
        owner: Owner,
        place: Place,
        waits: bool,
    ) -> Result<bool, Error> {
        loop {
            let asking = Asking::begin(&self.node);
            let Order { number: sent, settled } = asking.order;
            let taken = match &self.node.calls.root {
                Some(root) => lock(&self.node, root, asking.order, owner, place, waits).await?,
                None => {
                    let (number, mode) = place;
                    let request =
                        RootRequest::LockNumber { owner, number, mode, waits, sent, settled };
                    let limit = if waits { TIMEOUTS.run } else { TIMEOUTS.call };
                    match self.node.calls.ask_leader_within(ROOT, &request, limit).await? {
                        RootAnswer::Locked(taken) => taken,
                        other => return Err(unexpected(&other)),
                    }
                }
            };
            if taken || !waits {
                return Ok(taken);
            }
        }
    }

    pub(super) fn end_numbers(&self, owner: Owner, one: Option<Place>) -> BoxFuture<'static, ()> {
        let node = Arc::clone(&self.node);
        if let Some(root) = &node.calls.root {
            root.unlock_numbers(Asking::begin(&node).order, owner, one);
            return Box::pin(std::future::ready(()));
        }
        let order = node.numbers.lock().begin();
        let (tried, first_try) = oneshot::channel::<()>();
        node.calls.tasks.clone().spawn(async move {
            let _asking = Asking { node: &node, order };
            let Order { number: sent, settled } = order;
            let request = RootRequest::UnlockNumbers { owner, one, sent, settled };
            let mut tried = Some(tried);
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
