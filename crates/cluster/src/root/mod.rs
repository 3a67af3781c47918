//! The root server: membership, timestamps, sequences, and balancing.
//!
//! Who is a member, timestamps, and outcomes of transactions are decided by state machines, [`protocols::membership`] and
//! [`protocols::oracle`].
//!
//! `admission`: servers that join and leave. `heartbeats`: what servers report and are told. `orders`: what should move where.
//! `numbers`: advisory locks. `keeping`: what a restart finds again.

mod admission;
mod heartbeats;
mod keeping;
mod numbers;
mod orders;

pub(crate) use numbers::{Asked, Place, first_of};

use crate::directory::Files;
use crate::facts;
use crate::membership::{Membership, ServerLoad, evicted};
use crate::runtime::Tasks;
use crate::timeouts::TIMEOUTS;
use messages::{COMMITS_MAX, Reply, RootAnswer, RootRequest, invalid_message};
use parking_lot::Mutex;
use protocols::membership::{self as members, Limits, Roster};
use protocols::numbers::Numbers;
use protocols::oracle::{Effect, Event, Oracle};
use sdds::{GroupId, Timestamp};
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::locks::Owner;
use store::{Acknowledgement, Error, RequiredLocks, Store, TransactionId};

/// State of the root.
#[derive(Debug)]
pub(crate) struct Root {
    membership: Arc<Membership>,
    files: Arc<Files>,
    store: Arc<Store>,
    tasks: Tasks,
    oracle: Mutex<Oracle>,
    /// Who is a member, and what servers have said with their heartbeats.
    roster: Mutex<Roster<ServerLoad>>,
    /// When the time of the roster begins.
    began: Instant,
    /// The requests for advisory locks.
    numbers: Mutex<Numbers<Owner, Place>>,
    /// The number of the newest start of a server.
    starts: Mutex<u64>,
}

impl Root {
    /// The root of a new cluster. `now` is the timestamp of the last commit of its store, `start` the number of its start.
    pub(crate) fn new(
        membership: Arc<Membership>,
        files: Arc<Files>,
        store: Arc<Store>,
        tasks: Tasks,
        now: Timestamp,
        start: u64,
    ) -> Self {
        let oldest = store.oldest_snapshot().map_or(now, |oldest| oldest.min(now));
        let (here, members) = (membership.here, membership.list().clone());
        let keeps_data = store.journal().is_some();
        let limits = Limits {
            silence: TIMEOUTS.eviction,
            standstill: TIMEOUTS.standstill,
            leave: TIMEOUTS.leave,
        };
        let roster = Roster::new(Duration::ZERO, here, members, oldest, keeps_data, limits);
        let oracle = if keeps_data { Oracle::resume(now, []) } else { Oracle::new(now) };
        let began = tasks.now();
        Self {
            membership,
            files,
            store,
            tasks,
            oracle: Mutex::new(oracle),
            roster: Mutex::new(roster),
            began,
            numbers: Mutex::default(),
            starts: Mutex::new(start),
        }
    }

    /// The time of the roster.
    fn time(&self) -> Duration {
        self.tasks.now() - self.began
    }

    /// Answers a request to the root. Nobody is told what a list of members says, or refuses, before it is durable.
    pub(crate) async fn answer(&self, request: &RootRequest) -> Reply<RootAnswer> {
        let answer = self.answer_unkept(request).await;
        self.keep_members().await?;
        answer
    }

    async fn answer_unkept(&self, request: &RootRequest) -> Reply<RootAnswer> {
        Ok(match request {
            RootRequest::Now => RootAnswer::Timestamp(self.now()),
            RootRequest::Next { count } if (1..=COMMITS_MAX).contains(count) => {
                RootAnswer::Timestamp(self.next(*count)?)
            }
            RootRequest::Next { count } => {
                let message = format!("{count} commits at once; 1 to {COMMITS_MAX} are allowed");
                return Err(invalid_message(&message));
            }
            RootRequest::Decide { transaction, others, members, locks } => {
                self.require(*locks)?;
                self.decide(*transaction, others, *members).await?
            }
            RootRequest::Outcome { transaction } => {
                let (outcome, kept) = self.settle(Event::Ask(*transaction))?;
                kept.wait().await?;
                RootAnswer::Outcome(outcome)
            }
            RootRequest::Heartbeat(heartbeat) => {
                RootAnswer::Heartbeat(Box::new(self.heartbeat(heartbeat)?))
            }
            RootRequest::Start => RootAnswer::Start(self.next_start().await?),
            RootRequest::Join { start, name, address, weight, keeps_data } => {
                self.join(*start, name, address, *weight, *keeps_data).await?
            }
            RootRequest::Return { start, server, name, address, cluster } => {
                self.take_back(*start, *server, name, address, *cluster)?
            }
            RootRequest::SetWeight { name, weight } => {
                self.change(members::Event::SetWeight { name, weight: *weight })?;
                RootAnswer::Done
            }
            RootRequest::ChangeMoves { change } => {
                self.change(members::Event::ChangeMoves(*change))?;
                RootAnswer::Done
            }
            RootRequest::Leave { server, start, is_empty } => {
                self.leave(*server, *start, *is_empty).await?;
                RootAnswer::Done
            }
            RootRequest::Members => RootAnswer::Members(self.membership.list().clone()),
            RootRequest::SequenceNext { sequence, count } => {
                RootAnswer::Value(Some(self.store.sequence_next(sequence, *count)?))
            }
            RootRequest::SequenceSet { sequence, last, called } => {
                self.store.sequence_set(sequence, *last, *called)?;
                RootAnswer::Done
            }
            RootRequest::SequenceLast { sequence } => {
                RootAnswer::Value(self.store.sequence_last(sequence)?)
            }
            other => return Err(unexpected_request(other)),
        })
    }

    /// A timestamp that sees every commit so far.
    pub(crate) fn now(&self) -> Timestamp {
        self.oracle.lock().now()
    }

    /// Commit timestamps of transactions that have written on one server each. Returns the first of consecutive ones.
    ///
    /// # Errors
    /// Those of the disk.
    pub(crate) fn next(&self, count: u32) -> Result<Timestamp, Error> {
        let mut oracle = self.oracle.lock();
        let effects = self.step(&mut oracle, Event::Next { count })?;
        let [Effect::Assigned(first)] = effects[..] else { panic!("timestamps are assigned") };
        Ok(first)
    }

    /// Refuses a transaction that depends on locks which are lost.
    fn require(&self, locks: Option<RequiredLocks>) -> Result<(), Error> {
        let has = |locks: RequiredLocks| self.store.lock_count(locks.owner) >= locks.count as usize;
        if locks.is_none_or(has) { Ok(()) } else { Err(Error::Unserializable) }
    }

    /// Commits a transaction if all participants are still members.
    async fn decide(
        &self,
        transaction: TransactionId,
        others: &[GroupId],
        members: Option<u64>,
    ) -> Reply<RootAnswer> {
        let (answer, kept) = self.decide_now(transaction, others, members)?;
        kept.wait().await?;
        Ok(answer)
    }

    fn decide_now(
        &self,
        transaction: TransactionId,
        others: &[GroupId],
        members: Option<u64>,
    ) -> Result<(RootAnswer, Acknowledgement), Error> {
        // Until the decision: a server that joins before is noticed, and one that joins after
        // gets the new catalog.
        let known = self.membership.list();
        if members.is_some_and(|version| version != known.version) {
            return Err(Error::SchemaConflict { relation: "the list of servers".into() });
        }
        let others_at = others.iter().map(|group| known.leader_of(*group));
        let mut servers = std::iter::once(transaction.coordinator).chain(others_at);
        if let Some(lost) = servers.find(|server| known.get(*server).is_none_or(|m| m.is_lost)) {
            return Err(evicted(&known.name_of(lost)));
        }
        if others.is_empty() {
            return Ok((RootAnswer::Timestamp(self.next(1)?), Acknowledgement::default()));
        }
        let (outcome, kept) = self.settle(Event::Decide(transaction))?;
        Ok((RootAnswer::Outcome(outcome), kept))
    }

    /// The outcome of the transaction of an event. Nobody may be told before it is durable.
    fn settle(&self, event: Event<'_>) -> Result<(Option<Timestamp>, Acknowledgement), Error> {
        let mut oracle = self.oracle.lock();
        let mut kept = None;
        for effect in self.step(&mut oracle, event)? {
            match effect {
                Effect::Keep(transaction, outcome) => {
                    let value = outcome.map(|timestamp| timestamp.0);
                    let keeping = facts::write(&self.store, &facts::outcome(transaction), &value);
                    kept = Some(keeping.inspect_err(|_| {
                        oracle.step(Event::NotKept(transaction), &mut Vec::new());
                    })?);
                }
                Effect::Tell(outcome) => {
                    return Ok((outcome, kept.unwrap_or_else(|| self.store.durable_now())));
                }
                Effect::Lease(_) | Effect::Assigned(_) | Effect::Forget(_) => {
                    panic!("a decision is kept and told")
                }
            }
        }
        panic!("a decision is told")
    }
}

fn unexpected_request(request: &RootRequest) -> Error {
    invalid_message(&format!("{} is not a request to the root", request.name()))
}
