//! Two-phase commit of a transaction, with the root's timestamp as the decision.
//!
//! ```text
//!  coordinator            participants              root
//!   |---- prepare ----------> check, hold             |
//!   |<--- ready --------------|                       |
//!   |---- decide ------------------------------------>| the commit, at a timestamp
//!   |---- commit at it ------> visible                |
//! ```
//!
//! A prepared participant that does not learn the outcome asks the root, which answers with the
//! timestamp or aborts the transaction: all servers see the same outcome. A coordinator that does
//! not learn the decision becomes a participant.
//!
//! What happens when is decided by a state machine, [`protocols::coordinator`]. Here is how it is done.

use super::Transactions;
use crate::blocking;
use crate::calls::CallError;
use crate::runtime::Task;
use crate::timeouts::TIMEOUTS;
use futures::future::join_all;
use messages::{RootAnswer, RootRequest, TransactionRequest, WireReader, unexpected};
use protocols::coordinator::{Answer as Decision, Coordinator, Effect, Event, Parts, Reply};
use sdds::{GroupId, Timestamp};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{Error, Prepared, Reader, RequiredLocks, TransactionId};

/// How often a server is told an outcome. A server that does not hear it asks the root.
const TELL_TRIES: u32 = 3;

impl Transactions {
    /// Commits a transaction. Completes even if the caller is dropped.
    pub(crate) async fn commit(
        self: &Arc<Self>,
        reader: &Reader,
        here: Option<Prepared>,
        locks: Option<RequiredLocks>,
    ) -> Result<Timestamp, Error> {
        let Some(transaction) = reader.transaction else { return Ok(reader.timestamp) };
        let is_alone = reader.changes.is_empty() && self.coordinated.groups(transaction).is_empty();
        if is_alone && self.calls.root.is_some() {
            // There is no await point at which the caller could be dropped.
            return self.run_commit(reader, transaction, here, locks).await;
        }
        let (owned, reader) = (Arc::clone(self), reader.clone());
        let running = async move { owned.run_commit(&reader, transaction, here, locks).await };
        let running = self.calls.tasks.spawn(running);
        running.await.unwrap_or_else(|| Err(unknown_outcome()))
    }

    async fn run_commit(
        self: &Arc<Self>,
        reader: &Reader,
        transaction: TransactionId,
        here: Option<Prepared>,
        locks: Option<RequiredLocks>,
    ) -> Result<Timestamp, Error> {
        let _ended = Ending { transactions: self, transaction };
        let (others, members) = self.participants_of(reader, transaction).await;
        let parts =
            Parts { others: others.keys().copied().collect(), is_here: here.is_some(), members };
        let committing =
            Committing { transactions: self, reader, transaction, others, members, here, locks };
        committing.run(parts).await
    }

    /// The other groups that take part in a commit, and whether the transaction has certainly written there. If it
    /// changes the catalog, all members take part, and the version of their list is returned.
    async fn participants_of(
        &self,
        reader: &Reader,
        transaction: TransactionId,
    ) -> (BTreeMap<GroupId, bool>, Option<u64>) {
        let mut others = self.coordinated.groups(transaction);
        let mut members = None;
        if !reader.changes.is_empty() {
            self.calls.refresh_members().await;
            let known = self.membership.list();
            known.present().for_each(|member| {
                others.entry(known.group_of(member.server)).or_default();
            });
            members = Some(known.version);
        }
        others.remove(&self.membership.own_group());
        // A server without writes of the transaction may have left since it was asked.
        let has_left = |group| self.membership.has_left(self.membership.leader_of(group));
        others.retain(|group, has_written| *has_written || !has_left(*group));
        (others, members)
    }

    /// Tells the server of a group the outcome, in a task of its own.
    fn tell(&self, group: GroupId, request: TransactionRequest) -> Task<()> {
        let calls = Arc::clone(&self.calls);
        self.calls.tasks.spawn(async move {
            for _ in 0..TELL_TRIES {
                if calls.ask_leader(group, &request).await.is_ok() {
                    return;
                }
            }
        })
    }

    /// Rolls a transaction back on all servers where it has written, without waiting for them.
    pub(crate) fn roll_back(&self, transaction: TransactionId) {
        let groups = self.coordinated.end(transaction);
        self.send_roll_back(transaction, groups.into_keys());
    }

    fn send_roll_back(
        &self,
        transaction: TransactionId,
        groups: impl IntoIterator<Item = GroupId>,
    ) {
        for group in groups {
            self.tell(group, TransactionRequest::RollBack { transaction });
        }
    }

    /// Rolls back to a savepoint on all servers where the transaction has written.
    pub(crate) async fn rollback_to(
        &self,
        transaction: TransactionId,
        savepoint: u64,
    ) -> Result<(), Error> {
        let (groups, step) = self.coordinated.begin_rollback(transaction);
        let request = TransactionRequest::RollbackTo { transaction, savepoint, step };
        let asked = groups.iter().map(|group| self.calls.ask_leader(*group, &request));
        for answer in join_all(asked).await {
            answer?;
        }
        Ok(())
    }
}

/// A commit that runs: it does what its [`Coordinator`] says.
struct Committing<'a> {
    transactions: &'a Arc<Transactions>,
    reader: &'a Reader,
    transaction: TransactionId,
    others: BTreeMap<GroupId, bool>,
    members: Option<u64>,
    here: Option<Prepared>,
    locks: Option<RequiredLocks>,
}

impl Committing<'_> {
    async fn run(mut self, parts: Parts) -> Result<Timestamp, Error> {
        let mut effects = Vec::new();
        let mut coordinator = Coordinator::begin(parts, &mut effects);
        let mut told = Vec::new();
        loop {
            assert!(!effects.is_empty(), "a commit goes on until it ends");
            let due = std::mem::take(&mut effects);
            for event in self.prepare(&due).await {
                coordinator.step(event, &mut effects);
            }
            for effect in due {
                let event = match effect {
                    // Done above, all at the same time.
                    Effect::Prepare(_) | Effect::KeepHere => continue,
                    Effect::TakeTimestamp => Event::Decided(self.take_timestamp().await),
                    Effect::Decide => Event::Decided(self.decide().await),
                    Effect::AskOutcome { asked } => Event::Decided(self.ask_outcome(asked).await),
                    Effect::CommitHere(timestamp) => {
                        Event::Committed(self.commit_here(timestamp).await)
                    }
                    Effect::RollBackHere => {
                        self.here.take().into_iter().for_each(Prepared::roll_back);
                        continue;
                    }
                    Effect::HoldHere => {
                        self.hold_here();
                        continue;
                    }
                    Effect::TellCommitted(group, timestamp) => {
                        let transaction = self.transaction;
                        let request = TransactionRequest::Commit { transaction, timestamp };
                        told.push(self.transactions.tell(group, request));
                        continue;
                    }
                    Effect::TellRolledBack(group) => {
                        self.transactions.send_roll_back(self.transaction, [group]);
                        continue;
                    }
                    Effect::Reply(reply) => return self.reply(reply, told).await,
                };
                coordinator.step(event, &mut effects);
            }
        }
    }

    /// Asks others to prepare, and keeps the own part, as the effects say.
    async fn prepare(&mut self, effects: &[Effect<Error>]) -> Vec<Event<Error>> {
        let group = |effect: &Effect<Error>| match effect {
            Effect::Prepare(group) => Some(*group),
            _ => None,
        };
        let groups: Vec<GroupId> = effects.iter().filter_map(group).collect();
        let keeps = effects.iter().any(|effect| matches!(effect, Effect::KeepHere));
        if groups.is_empty() && !keeps {
            return Vec::new();
        }
        let (transactions, reader) = (self.transactions, self.reader);
        let (others, transaction) = (&self.others, self.transaction);
        let newest = transactions.low_watermark.lock().known();
        let asked = groups.into_iter().map(async |group| {
            let has_written = others.get(&group).is_some_and(|has_written| *has_written);
            let reader = WireReader::new(reader, has_written);
            let request = TransactionRequest::Prepare { reader, newest };
            let answer = transactions.calls.ask_leader(group, &request).await;
            Event::Prepared(group, answer.map(drop).map_err(Error::from))
        });
        let here = self.here.as_mut().filter(|_| keeps);
        let kept = async {
            match here {
                Some(here) => Some(Event::Kept(here.keep(transaction).await)),
                None => None,
            }
        };
        let (mut events, kept) = futures::join!(join_all(asked), kept);
        events.extend(kept);
        events
    }

    async fn take_timestamp(&self) -> Decision<Error> {
        if self.locks.is_some() {
            // The root looks at the locks.
            return self.decide().await;
        }
        // No other server has written: a timestamp that is lost makes nothing visible.
        self.transactions.next_commit().await.map_or_else(Decision::NotAsked, Decision::Committed)
    }

    /// Asks the root to commit.
    async fn decide(&self) -> Decision<Error> {
        let others = self.others.keys().copied().collect();
        let (transaction, members, locks) = (self.transaction, self.members, self.locks);
        let request = RootRequest::Decide { transaction, others, members, locks };
        self.ask_root(&request).await
    }

    /// Asks the root for the outcome.
    async fn ask_outcome(&self, asked: u32) -> Decision<Error> {
        if let Some(before) = asked.checked_sub(1) {
            let pause = TIMEOUTS.outcome_pause * 2u32.saturating_pow(before.min(8));
            self.transactions.calls.tasks.sleep(pause.min(TIMEOUTS.outcome_pause_max)).await;
        }
        let transaction = self.transaction;
        self.ask_root(&RootRequest::Outcome { transaction }).await
    }

    async fn ask_root(&self, request: &RootRequest) -> Decision<Error> {
        match self.transactions.calls.ask_root(request).await {
            Ok(RootAnswer::Timestamp(timestamp) | RootAnswer::Outcome(Some(timestamp))) => {
                Decision::Committed(timestamp)
            }
            Ok(RootAnswer::Outcome(None)) => Decision::RolledBack(None),
            Ok(other) => Decision::Lost(unexpected(&other)),
            Err(CallError::NotDone(error)) => Decision::NotAsked(error),
            Err(CallError::Unknown(error)) => Decision::Lost(error),
        }
    }

    async fn commit_here(&mut self, timestamp: Timestamp) -> Result<(), Error> {
        match self.here.take() {
            Some(here) => blocking::commit(&self.transactions.calls.tasks, here, timestamp).await,
            None => Ok(()),
        }
    }

    fn hold_here(&mut self) {
        if let Some(here) = self.here.take() {
            self.transactions.participants.keep(self.transaction, here);
        }
    }

    async fn reply(self, reply: Reply<Error>, told: Vec<Task<()>>) -> Result<Timestamp, Error> {
        match reply {
            Reply::Committed(timestamp) => {
                self.transactions.low_watermark.lock().learn(timestamp);
                let tasks = &self.transactions.calls.tasks;
                if !told.is_empty() {
                    let _ = tasks.within(TIMEOUTS.visible, join_all(told)).await;
                }
                Ok(timestamp)
            }
            Reply::Failed(error) => Err(error),
            Reply::RolledBack => Err(aborted()),
            Reply::Unknown => Err(unknown_outcome()),
        }
    }
}

/// Unregisters a coordinated transaction on drop.
struct Ending<'a> {
    transactions: &'a Transactions,
    transaction: TransactionId,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.transactions.coordinated.end(self.transaction);
    }
}

fn aborted() -> Error {
    Error::Remote {
        sql_state: "40001".into(),
        message: "the transaction took too long to commit and was rolled back".into(),
        detail: None,
        hint: Some("Run the transaction again.".into()),
    }
}

/// The error of a commit whose outcome the coordinator does not know.
pub(crate) fn unknown_outcome() -> Error {
    Error::Remote {
        sql_state: "08007".into(),
        message: "it is unknown whether the transaction was committed".into(),
        detail: Some("The server that decides it could not be reached after the request.".into()),
        hint: Some("Look at the rows before running it again.".into()),
    }
}
