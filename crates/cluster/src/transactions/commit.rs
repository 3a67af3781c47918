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

use super::Transactions;
use crate::blocking;
use crate::calls::CallError;
use crate::messages::{Answer, Request, WireReader};
use crate::runtime::Task;
use futures::future::join_all;
use sdds::{GroupId, Timestamp};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use store::{Error, Prepared, Reader, TransactionId};

/// How long a commit waits until other servers have made it visible. They do so anyway.
const VISIBLE_TIMEOUT: Duration = Duration::from_millis(200);

/// How often a server is told an outcome. A server that does not hear it asks the root.
const TELL_TRIES: u32 = 3;

/// The outcome of a transaction, as its coordinator knows it.
enum Decision {
    Committed(Timestamp),
    /// Rolled back, for good.
    Refused(Error),
    /// The root did not answer. Prepared participants will learn the outcome from it.
    Unknown,
}

impl Transactions {
    /// Commits a transaction. Completes even if the caller is dropped.
    pub(crate) async fn commit(
        self: &Arc<Self>,
        reader: &Reader,
        here: Option<Prepared>,
    ) -> Result<Timestamp, Error> {
        let Some(transaction) = reader.transaction else { return Ok(reader.timestamp) };
        let is_alone = reader.changes.is_empty() && self.coordinated.groups(transaction).is_empty();
        if is_alone && self.calls.root.is_some() {
            // There is no await point at which the caller could be dropped.
            return self.run_commit(reader, transaction, here).await;
        }
        let (owned, reader) = (Arc::clone(self), reader.clone());
        let running = async move { owned.run_commit(&reader, transaction, here).await };
        let running = self.calls.tasks.spawn(running);
        running.await.unwrap_or_else(|| Err(unknown_outcome()))
    }

    async fn run_commit(
        self: &Arc<Self>,
        reader: &Reader,
        transaction: TransactionId,
        mut here: Option<Prepared>,
    ) -> Result<Timestamp, Error> {
        let _ended = Ending { transactions: self, transaction };
        let mut others = self.coordinated.groups(transaction);
        let mut members = None;
        if !reader.changes.is_empty() {
            self.calls.refresh_members().await;
            let known = self.membership.list.read();
            known.present().for_each(|member| {
                others.entry(member.group).or_default();
            });
            members = Some(known.version);
        }
        others.remove(&self.membership.here);
        // A server without writes of the transaction may have left since it was asked.
        others.retain(|group, has_written| *has_written || !self.membership.has_left(*group));
        let groups: Vec<GroupId> = others.keys().copied().collect();
        let is_alone = groups.is_empty() && members.is_none();
        let kept = async {
            match &mut here {
                Some(here) if !is_alone => here.keep(transaction).await,
                _ => Ok(()),
            }
        };
        let (prepared, kept) = futures::join!(self.prepare(&others, reader), kept);
        let decision = match prepared.and(kept) {
            Ok(()) => self.decide(transaction, &groups, members).await,
            Err(error) => Decision::Refused(error),
        };
        let timestamp = match decision {
            Decision::Committed(timestamp) => timestamp,
            Decision::Refused(error) => {
                if let Some(here) = here {
                    here.roll_back();
                }
                self.send_roll_back(transaction, groups);
                return Err(error);
            }
            Decision::Unknown => {
                if let Some(here) = here {
                    self.participants.keep(transaction, here, self.calls.tasks.now());
                }
                return Err(unknown_outcome());
            }
        };
        if let Some(here) = here {
            blocking::commit(&self.calls.tasks, here, timestamp).await?;
        }
        self.low_watermark.lock().learn(timestamp);
        let request = Request::Commit { transaction, timestamp };
        let told: Vec<_> =
            groups.into_iter().map(|group| self.tell(group, request.clone())).collect();
        let _ = self.calls.tasks.within(VISIBLE_TIMEOUT, join_all(told)).await;
        Ok(timestamp)
    }

    async fn prepare(
        &self,
        groups: &BTreeMap<GroupId, bool>,
        reader: &Reader,
    ) -> Result<(), Error> {
        let newest = self.low_watermark.lock().known();
        let asked = groups.iter().map(async |(group, has_written)| {
            let reader = WireReader::new(reader, *has_written);
            let request = Request::Prepare { reader, newest };
            self.calls.ask(*group, &request).await
        });
        join_all(asked).await.into_iter().try_for_each(|answer| Ok(answer.map(drop)?))
    }

    /// Asks the root to commit. If its answer is lost, asks for the outcome.
    async fn decide(
        &self,
        transaction: TransactionId,
        others: &[GroupId],
        members: Option<u64>,
    ) -> Decision {
        if others.is_empty() && members.is_none() {
            // No other server has written: a timestamp that is lost makes nothing visible.
            return self.next_commit().await.map_or_else(Decision::Refused, Decision::Committed);
        }
        let request = Request::Decide { transaction, others: others.to_vec(), members };
        let answer = match self.calls.ask_root(&request).await {
            Ok(answer) => answer,
            Err(CallError::Unknown(error)) if others.is_empty() => {
                return Decision::Refused(error);
            }
            Err(CallError::Unknown(_)) => match self.outcome(transaction).await {
                Some(answer) => answer,
                None => return Decision::Unknown,
            },
            Err(CallError::NotDone(error)) => return Decision::Refused(error),
        };
        match answer {
            Answer::Timestamp(timestamp) | Answer::Outcome(Some(timestamp)) => {
                Decision::Committed(timestamp)
            }
            Answer::Outcome(None) => Decision::Refused(aborted()),
            _ => Decision::Unknown,
        }
    }

    /// Asks the root for the outcome of a transaction, for about 5 s.
    async fn outcome(&self, transaction: TransactionId) -> Option<Answer> {
        let mut pause = Duration::from_millis(50);
        for _ in 0..12 {
            match self.calls.ask_root(&Request::Outcome { transaction }).await {
                Ok(answer) => return Some(answer),
                Err(_) => self.calls.tasks.sleep(pause).await,
            }
            pause = (pause * 2).min(Duration::from_millis(500));
        }
        None
    }

    /// Tells a server the outcome, in a task of its own.
    fn tell(&self, group: GroupId, request: Request) -> Task<()> {
        let calls = Arc::clone(&self.calls);
        self.calls.tasks.spawn(async move {
            for _ in 0..TELL_TRIES {
                if calls.ask(group, &request).await.is_ok() {
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
            self.tell(group, Request::RollBack { transaction });
        }
    }

    /// Rolls back to a savepoint on all servers where the transaction has written.
    pub(crate) async fn rollback_to(
        &self,
        transaction: TransactionId,
        savepoint: u64,
    ) -> Result<(), Error> {
        let (groups, step) = self.coordinated.begin_rollback(transaction);
        let request = Request::RollbackTo { transaction, savepoint, step };
        let asked = groups.iter().map(|group| self.calls.ask(*group, &request));
        for answer in join_all(asked).await {
            answer?;
        }
        Ok(())
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
