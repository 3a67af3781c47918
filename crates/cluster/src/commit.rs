//! How a transaction ends that has written on several servers: two phases, with the root's timestamp as the decision.
//!
//! ```text
//!  coordinator            participants              root
//!   |---- prepare ----------> check, hold             |
//!   |<--- ready --------------|                       |
//!   |---- decide ------------------------------------>| the commit, at a timestamp
//!   |---- commit at it ------> visible                |
//! ```
//!
//! A participant that hears nothing after it is ready asks the root, which answers with the timestamp or gives the
//! transaction up for good: no two servers ever see different ends of one transaction. A coordinator that does not hear the
//! decision becomes a participant like the others.

use crate::apart;
use crate::cluster::{Asked, Inner};
use crate::message::{Answer, Request, WireReader};
use futures::future::join_all;
use sdds::{GroupId, Timestamp};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use store::{Error, Prepared, Reader, TransactionId};

/// How long a commit waits for the other servers to make it visible, before it says that it is done; they do so anyway.
const PATIENCE: Duration = Duration::from_millis(200);

/// Commits a transaction. Once begun it goes on, also where nobody waits for it any more.
pub(crate) async fn commit(
    inner: &Arc<Inner>,
    reader: &Reader,
    here: Option<Prepared>,
) -> Result<Timestamp, Error> {
    let Some(transaction) = reader.transaction else { return Ok(reader.timestamp) };
    let is_alone = reader.changes.is_empty() && inner.coordinated.groups(transaction).is_empty();
    if is_alone && inner.root.is_some() {
        // Nothing is waited for: it cannot be given up on the way.
        return run(inner, reader, transaction, here).await;
    }
    let (owned, reader) = (Arc::clone(inner), reader.clone());
    let running = inner.runtime.spawn(async move { run(&owned, &reader, transaction, here).await });
    running.await.unwrap_or_else(|_| Err(unknown_outcome()))
}

/// What became of a transaction.
enum Decided {
    Committed(Timestamp),
    /// Nothing has changed, and will not.
    Refused(Error),
    /// The root did not say. It will say so to those who have prepared it.
    Unknown,
}

async fn run(
    inner: &Arc<Inner>,
    reader: &Reader,
    transaction: TransactionId,
    here: Option<Prepared>,
) -> Result<Timestamp, Error> {
    let _ended = Ending { inner, transaction };
    let mut others = inner.coordinated.groups(transaction);
    let mut members = None;
    if !reader.changes.is_empty() {
        inner.refresh_members().await;
        let known = inner.members.read();
        known.present().for_each(|member| {
            others.entry(member.group).or_default();
        });
        members = Some(known.version);
    }
    others.remove(&inner.here);
    // It was asked, had nothing of this any more, and has gone since.
    others.retain(|group, has_written| *has_written || !inner.has_left(*group));
    let groups: Vec<GroupId> = others.keys().copied().collect();
    let decided = match prepare(inner, &others, reader).await {
        Ok(()) => decide(inner, transaction, &groups, members).await,
        Err(error) => Decided::Refused(error),
    };
    let timestamp = match decided {
        Decided::Committed(timestamp) => timestamp,
        Decided::Refused(error) => {
            send_roll_back(inner, transaction, groups);
            return Err(error);
        }
        Decided::Unknown => {
            if let Some(here) = here {
                inner.participants.keep(transaction, here);
            }
            return Err(unknown_outcome());
        }
    };
    if let Some(here) = here {
        apart::commit(here, timestamp).await;
    }
    inner.low_watermark.lock().learn(timestamp);
    let request = Request::Commit { transaction, timestamp };
    let told: Vec<_> =
        groups.into_iter().map(|group| tell(inner, group, request.clone())).collect();
    let _ = tokio::time::timeout(PATIENCE, join_all(told)).await;
    Ok(timestamp)
}

/// A transaction that is no longer among those that run when this goes.
struct Ending<'a> {
    inner: &'a Inner,
    transaction: TransactionId,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.inner.coordinated.end(self.transaction);
    }
}

async fn prepare(
    inner: &Inner,
    groups: &BTreeMap<GroupId, bool>,
    reader: &Reader,
) -> Result<(), Error> {
    let newest = inner.low_watermark.lock().known();
    let asked = groups.iter().map(async |(group, has_written)| {
        let reader = WireReader::new(reader);
        let request = Request::Prepare { reader, has_written: *has_written, newest };
        inner.ask(*group, &request).await
    });
    join_all(asked).await.into_iter().try_for_each(|answer| Ok(answer.map(drop)?))
}

/// Asks the root for the commit. When its answer is lost, it is asked what it has decided until it says so.
async fn decide(
    inner: &Arc<Inner>,
    transaction: TransactionId,
    others: &[GroupId],
    members: Option<u64>,
) -> Decided {
    if others.is_empty() && members.is_none() {
        // Nobody else has written: if a timestamp is lost on its way, nothing becomes visible at it.
        return inner.next().await.map_or_else(Decided::Refused, Decided::Committed);
    }
    let request = Request::Decide { transaction, others: others.to_vec(), members };
    let answer = match inner.ask_root(&request).await {
        Ok(answer) => answer,
        Err(Asked::Lost(error)) if others.is_empty() => return Decided::Refused(error),
        Err(Asked::Lost(_)) => match outcome(inner, transaction).await {
            Some(answer) => answer,
            None => return Decided::Unknown,
        },
        Err(Asked::Answered(error)) => return Decided::Refused(error),
    };
    match answer {
        Answer::Timestamp(timestamp) | Answer::Outcome(Some(timestamp)) => {
            Decided::Committed(timestamp)
        }
        Answer::Outcome(None) => Decided::Refused(evicted()),
        _ => Decided::Unknown,
    }
}

/// Asks the root what became of a transaction, for as long as a client may be willing to wait.
async fn outcome(inner: &Inner, transaction: TransactionId) -> Option<Answer> {
    let mut pause = Duration::from_millis(50);
    for _ in 0..12 {
        match inner.ask_root(&Request::Outcome { transaction }).await {
            Ok(answer) => return Some(answer),
            Err(_) => tokio::time::sleep(pause).await,
        }
        pause = (pause * 2).min(Duration::from_millis(500));
    }
    None
}

/// Tells a server what was decided, until it has heard it. One that has not will ask the root itself.
fn tell(inner: &Arc<Inner>, group: GroupId, request: Request) -> tokio::task::JoinHandle<()> {
    let inner = Arc::clone(inner);
    inner.runtime.clone().spawn(async move {
        for _ in 0..3 {
            if inner.ask(group, &request).await.is_ok() {
                return;
            }
        }
    })
}

/// Undoes a transaction on all servers where it has written, without waiting for them.
pub(crate) fn roll_back(inner: &Arc<Inner>, transaction: TransactionId) {
    let groups = inner.coordinated.end(transaction);
    send_roll_back(inner, transaction, groups.into_keys());
}

fn send_roll_back(
    inner: &Arc<Inner>,
    transaction: TransactionId,
    groups: impl IntoIterator<Item = GroupId>,
) {
    for group in groups {
        tell(inner, group, Request::RollBack { transaction });
    }
}

fn evicted() -> Error {
    Error::Remote {
        sql_state: "40001".into(),
        message: "the transaction took too long to commit and was given up".into(),
        detail: None,
        hint: Some("Run the transaction again.".into()),
    }
}

pub(crate) fn unknown_outcome() -> Error {
    Error::Remote {
        sql_state: "08007".into(),
        message: "it is not known whether the transaction was committed".into(),
        detail: Some(
            "The server that decides it could not be reached after it was asked to.".into(),
        ),
        hint: Some("Look at the rows before running it again.".into()),
    }
}

/// Asks what became of transactions of which nothing more was heard here, and ends those that do not go on.
pub(crate) async fn resolve(inner: &Arc<Inner>) {
    /// How long a participant waits before it asks.
    const SILENCE: Duration = Duration::from_secs(2);
    let Some(since) = std::time::Instant::now().checked_sub(SILENCE) else { return };
    let silent = inner.participants.silent(since);
    let prepared = silent.prepared.into_iter().map(async |transaction| {
        if let Ok(Answer::Outcome(outcome)) =
            inner.ask_root(&Request::Outcome { transaction }).await
        {
            tracing::warn!(?transaction, ?outcome, "asked the root what became of a transaction");
            inner.participants.end(transaction, outcome).await;
        }
    });
    let open = silent.open.into_iter().map(async |transaction| {
        let asked = inner.ask(transaction.coordinator, &Request::IsRunning { transaction }).await;
        let is_over = matches!(asked, Ok(Answer::Running(false)));
        if is_over || inner.is_lost(transaction.coordinator) {
            tracing::warn!(?transaction, "a transaction has ended without a word");
            inner.participants.end(transaction, None).await;
        }
    });
    tokio::join!(join_all(prepared), join_all(open));
}
