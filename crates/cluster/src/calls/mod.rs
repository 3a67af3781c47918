//! Calls to other servers and to the root.
//!
//! `failure`: what a failed call means. `traffic`: counters.

mod failure;
mod traffic;

pub(crate) use failure::CallError;
pub(crate) use traffic::CountingNetwork;

use crate::membership::{Membership, ROOT};
use crate::root::Root;
use crate::runtime::Tasks;
use crate::timeouts::TIMEOUTS;
use bytes::Bytes;
use messages::{Envelope, Question, Reply, Request, RootAnswer, RootRequest, decode, encode};
use net::{Address, Answers, Delivery, Network, ask};
use sdds::{GroupId, ServerId};
use std::sync::Arc;
use std::time::Duration;
use store::Error;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio_util::sync::CancellationToken;

/// Calls other servers by number.
#[derive(Debug)]
pub(crate) struct Calls {
    membership: Arc<Membership>,
    network: CountingNetwork,
    /// Runs the tasks of this server, apart from those of its clients and queries.
    pub(crate) tasks: Tasks,
    /// Set on the root server.
    pub(crate) root: Option<Root>,
    /// Cancelled when this server stops: it then neither calls nor answers.
    pub(crate) stopped: CancellationToken,
}

impl Calls {
    pub(crate) fn new(
        membership: Arc<Membership>,
        network: CountingNetwork,
        tasks: Tasks,
        root: Option<Root>,
    ) -> Self {
        Self { membership, network, tasks, root, stopped: CancellationToken::new() }
    }

    /// Messages of this server so far.
    pub(crate) fn counters(&self) -> &Arc<traffic::Counters> {
        &self.network.counters
    }

    /// The address and name of a server. If it is unknown, the root is asked for newer members
    /// first.
    async fn find(&self, server: ServerId) -> Result<(Address, String), Error> {
        if self.membership.list().get(server).is_none() {
            self.refresh_members().await;
        }
        self.membership.address(server)
    }

    /// Fetches the list of members from the root, if the root can be reached.
    pub(crate) async fn refresh_members(&self) {
        if self.root.is_some() {
            return;
        }
        let asked = Box::pin(self.ask_leader(ROOT, &RootRequest::Members)).await;
        if let Ok(RootAnswer::Members(members)) = asked {
            self.membership.learn(members);
        }
    }

    fn envelope(&self, to: ServerId, request: Request) -> Result<Bytes, Error> {
        encode(&Envelope { from: Some(self.membership.here), to: Some(to), request })
    }

    /// Asks a server and waits for its answer.
    pub(crate) async fn ask<Q: Question>(
        &self,
        to: ServerId,
        request: &Q,
    ) -> Result<Q::Answer, CallError> {
        self.ask_within(to, request, TIMEOUTS.call).await
    }

    /// Asks the server that leads a group, and waits for its answer.
    pub(crate) async fn ask_leader<Q: Question>(
        &self,
        of: GroupId,
        request: &Q,
    ) -> Result<Q::Answer, CallError> {
        self.ask(self.membership.leader_of(of), request).await
    }

    /// As [`Calls::ask_leader`], with another time limit.
    pub(crate) async fn ask_leader_within<Q: Question>(
        &self,
        of: GroupId,
        request: &Q,
        deadline: Duration,
    ) -> Result<Q::Answer, CallError> {
        self.ask_within(self.membership.leader_of(of), request, deadline).await
    }

    /// As [`Calls::ask`], with another time limit.
    pub(crate) async fn ask_within<Q: Question>(
        &self,
        to: ServerId,
        request: &Q,
        deadline: Duration,
    ) -> Result<Q::Answer, CallError> {
        if self.stopped.is_cancelled() {
            return Err(CallError::NotDone(self.stopped_error()));
        }
        let (address, name) = self.find(to).await.map_err(CallError::NotDone)?;
        let bytes = self.envelope(to, request.clone().into()).map_err(CallError::NotDone)?;
        let answer = match ask(&self.network, &address, bytes, deadline).await {
            Ok(answer) => answer,
            Err(error) => return Err(CallError::of(error, &name)),
        };
        // An answer that cannot be decoded is an answer all the same: the request may have been
        // executed.
        decode::<Reply<Q::Answer>>(&answer).map_err(CallError::Unknown)?.map_err(CallError::NotDone)
    }

    /// Calls a server that answers with a stream. Returns its answers, and its name.
    pub(crate) async fn stream(
        &self,
        to: ServerId,
        request: impl Question,
        deadline: Duration,
        delivery: Delivery,
    ) -> Result<(Answers, String), Error> {
        let (address, name) = self.find(to).await?;
        let envelope = self.envelope(to, request.into())?;
        Ok((self.network.call(&address, envelope, deadline, delivery), name))
    }

    /// Asks the root, which may be this server.
    pub(crate) async fn ask_root(&self, request: &RootRequest) -> Result<RootAnswer, CallError> {
        match &self.root {
            Some(root) => root.answer(request).await.map_err(CallError::NotDone),
            None => self.ask_leader(ROOT, request).await,
        }
    }

    /// Asks the root from synchronous code. Blocks the thread.
    pub(crate) fn ask_root_blocking(
        self: &Arc<Self>,
        request: RootRequest,
    ) -> Result<RootAnswer, Error> {
        let (sender, receiver) = std::sync::mpsc::channel();
        let calls = Arc::clone(self);
        self.tasks.spawn(async move {
            let _ = sender.send(calls.ask_root(&request).await);
        });
        let wait = || receiver.recv_timeout(TIMEOUTS.call * 2);
        // On a worker thread the spawned task may be the next in this thread's queue.
        let runs_tasks = Handle::try_current()
            .is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
        let answer = if runs_tasks { tokio::task::block_in_place(wait) } else { wait() };
        let answer = answer.map_err(|_| {
            Error::unreachable(
                self.membership.name_of(self.membership.leader_of(ROOT)),
                "the root server did not answer",
            )
        })?;
        Ok(answer?)
    }

    /// The error of calls from and to this server after it has stopped.
    pub(crate) fn stopped_error(&self) -> Error {
        Error::unreachable(self.membership.name.clone(), "it has stopped")
    }
}
