//! The root server: membership, timestamps, sequences, and balancing.
//!
//! `oracle`: timestamps and outcomes of transactions. `admission`: servers that join and leave.
//! `heartbeats`: what servers report and are told. `orders`: what should move where.

mod admission;
mod heartbeats;
mod oracle;
mod orders;

use crate::directory::Files;
use crate::membership::{Members, Membership, ServerLoad, evicted};
use crate::messages::{Answer, COMMITS_MAX, Reply, Request, invalid_message};
use oracle::Oracle;
use parking_lot::Mutex;
use sdds::{GroupId, Timestamp};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;
use store::{Error, Store, TransactionId};

/// State of the root.
#[derive(Debug)]
pub(crate) struct Root {
    membership: Arc<Membership>,
    files: Arc<Files>,
    store: Arc<Store>,
    oracle: Mutex<Oracle>,
    heartbeats: Mutex<BTreeMap<GroupId, LastHeartbeat>>,
}

/// The last heartbeat of a server.
#[derive(Debug)]
struct LastHeartbeat {
    at: Instant,
    oldest: Timestamp,
    /// The version of its list of members.
    members: u64,
    load: ServerLoad,
}

impl Root {
    /// The root of a new cluster. `now` is the timestamp of the last commit of its store.
    pub(crate) fn new(
        membership: Arc<Membership>,
        files: Arc<Files>,
        store: Arc<Store>,
        now: Timestamp,
    ) -> Self {
        let oldest = store.oldest_snapshot().map_or(now, |oldest| oldest.min(now));
        let here = membership.here;
        let oracle = Mutex::new(Oracle::new(now));
        let root = Self { membership, files, store, oracle, heartbeats: Mutex::default() };
        root.note(here, oldest, 0, ServerLoad::default());
        root
    }

    /// Answers a request to the root.
    pub(crate) async fn answer(&self, request: &Request) -> Reply {
        Ok(match request {
            Request::Now => Answer::Timestamp(self.now()),
            Request::Next { count } if *count <= COMMITS_MAX => {
                Answer::Timestamp(self.oracle.lock().next(*count))
            }
            Request::Decide { transaction, others, members } => {
                self.decide(*transaction, others, *members)?
            }
            Request::Outcome { transaction } => {
                Answer::Outcome(self.oracle.lock().outcome(*transaction))
            }
            Request::Heartbeat(heartbeat) => {
                Answer::Heartbeat(Box::new(self.heartbeat(heartbeat)?))
            }
            Request::Join { name, address, weight } => self.join(name, address, *weight).await?,
            Request::SetWeight { name, weight } => {
                if !self.membership.list.write().set_weight(name, *weight) {
                    return Err(no_server(&self.membership.list.read(), name));
                }
                Answer::Done
            }
            Request::ChangeMoves { change } => {
                self.membership.list.write().change_moves(*change);
                Answer::Done
            }
            Request::Leave { group, is_empty } => {
                self.leave(*group, *is_empty).await;
                Answer::Done
            }
            Request::Members => Answer::Members(self.membership.list.read().clone()),
            Request::SequenceNext { sequence, count } => {
                Answer::Value(Some(self.store.sequence_next(sequence, *count)?))
            }
            Request::SequenceSet { sequence, last, called } => {
                self.store.sequence_set(sequence, *last, *called)?;
                Answer::Done
            }
            Request::SequenceLast { sequence } => {
                Answer::Value(self.store.sequence_last(sequence)?)
            }
            other => return Err(unexpected_request(other)),
        })
    }

    /// A timestamp that sees every commit so far.
    pub(crate) fn now(&self) -> Timestamp {
        self.oracle.lock().now()
    }

    /// The commit timestamp of a transaction that has written on the root server alone.
    pub(crate) fn next(&self) -> Timestamp {
        self.oracle.lock().next(1)
    }

    /// Commits a transaction if all participants are still members.
    fn decide(
        &self,
        transaction: TransactionId,
        others: &[GroupId],
        members: Option<u64>,
    ) -> Reply {
        // ServerReport until the decision: a server that joins before is noticed, and one that joins after
        // gets the new catalog.
        let known = self.membership.list.read();
        if members.is_some_and(|version| version != known.version) {
            return Err(Error::SchemaConflict { relation: "the list of servers".into() });
        }
        let mut groups = std::iter::once(&transaction.coordinator).chain(others);
        if let Some(lost) = groups.find(|group| known.get(**group).is_none_or(|m| m.is_lost)) {
            return Err(evicted(&known.name_of(*lost)));
        }
        let mut oracle = self.oracle.lock();
        Ok(if others.is_empty() {
            Answer::Timestamp(oracle.next(1))
        } else {
            Answer::Outcome(oracle.decide(transaction))
        })
    }
}

fn no_server(members: &Members, name: &str) -> Error {
    let names: Vec<&str> = members.present().map(|member| member.name.as_str()).collect();
    Error::Remote {
        sql_state: "42704".into(),
        message: format!("server \"{name}\" does not exist"),
        detail: None,
        hint: Some(format!("The servers are {}.", names.join(", "))),
    }
}

fn unexpected_request(request: &Request) -> Error {
    invalid_message(&format!("{} is not a request to the root", request.name()))
}
