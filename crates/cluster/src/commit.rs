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
//! transaction up for good: no two servers ever see different ends of one transaction.

use crate::cluster::{Asked, Inner, unexpected};
use crate::message::{Answer, Request, WireReader};
use futures::future::join_all;
use sdds::{GroupId, Timestamp};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use store::{Error, Prepared, Reader, TransactionId};

/// How long a commit waits for the other servers to make it visible, before it says that it is done; they do so anyway.
const PATIENCE: Duration = Duration::from_millis(200);

/// Commits a transaction.
pub(crate) async fn commit(
    inner: &Arc<Inner>,
    reader: &Reader,
    here: Option<Prepared>,
) -> Result<Timestamp, Error> {
    let Some(transaction) = reader.transaction else { return Ok(reader.timestamp) };
    let mut others = inner.joint.lock().remove(&transaction).unwrap_or_default();
    let mut members = None;
    if !reader.changes.is_empty() {
        let known = inner.members.read();
        others.extend(known.present().map(|member| member.group));
        members = Some(known.version);
    }
    others.remove(&inner.here);
    if let Err(error) = prepare(inner, &others, reader).await {
        send_roll_back(inner, transaction, others);
        return Err(error);
    }
    let is_joint = !others.is_empty();
    let decided = decide(inner, transaction, is_joint, members).await;
    let timestamp = match decided {
        Ok(timestamp) => timestamp,
        Err(error) => {
            send_roll_back(inner, transaction, others);
            return Err(error);
        }
    };
    if let Some(here) = here {
        here.commit(timestamp);
    }
    inner.floors.lock().learn(timestamp);
    let request = Request::Commit { transaction, timestamp };
    let told: Vec<_> =
        others.into_iter().map(|group| tell(inner, group, request.clone())).collect();
    let _ = tokio::time::timeout(PATIENCE, join_all(told)).await;
    Ok(timestamp)
}

async fn prepare(inner: &Inner, groups: &BTreeSet<GroupId>, reader: &Reader) -> Result<(), Error> {
    let request = Request::Prepare { reader: WireReader::new(reader) };
    let asked = groups.iter().map(|group| inner.ask(*group, &request));
    join_all(asked).await.into_iter().try_for_each(|answer| Ok(answer.map(drop)?))
}

/// Asks the root for the commit. When its answer is lost, it is asked what it has decided until it says so.
async fn decide(
    inner: &Inner,
    transaction: TransactionId,
    is_joint: bool,
    members: Option<u64>,
) -> Result<Timestamp, Error> {
    let request = Request::Decide { transaction, is_joint, members };
    let answer = match inner.ask_root(&request).await {
        Err(Asked::Lost(_)) if is_joint => {
            let asked = outcome(inner, transaction).await;
            asked.map_err(|_| unknown_outcome())?
        }
        Err(Asked::Lost(_)) => {
            // Nobody else has written: whatever timestamp was given, nothing became visible at it.
            return Err(unknown_outcome());
        }
        answer => answer?,
    };
    match answer {
        Answer::Timestamp(timestamp) | Answer::Outcome(Some(timestamp)) => Ok(timestamp),
        Answer::Outcome(None) => Err(given_up()),
        other => Err(unexpected(&other)),
    }
}

/// Asks the root what became of a transaction, for as long as a client may be willing to wait.
async fn outcome(inner: &Inner, transaction: TransactionId) -> Result<Answer, Error> {
    let mut pause = Duration::from_millis(50);
    for _ in 0..8 {
        match inner.ask_root(&Request::Outcome { transaction }).await {
            Ok(answer) => return Ok(answer),
            Err(_) => tokio::time::sleep(pause).await,
        }
        pause *= 2;
    }
    Err(unknown_outcome())
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
    let groups = inner.joint.lock().remove(&transaction).unwrap_or_default();
    send_roll_back(inner, transaction, groups);
}

fn send_roll_back(inner: &Arc<Inner>, transaction: TransactionId, groups: BTreeSet<GroupId>) {
    for group in groups {
        tell(inner, group, Request::RollBack { transaction });
    }
}

fn given_up() -> Error {
    Error::Remote {
        sql_state: "40001".into(),
        message: "the transaction took too long to commit and was given up".into(),
        detail: None,
        hint: Some("Run the transaction again.".into()),
    }
}

fn unknown_outcome() -> Error {
    Error::Remote {
        sql_state: "08007".into(),
        message: "it is not known whether the transaction was committed".into(),
        detail: Some(
            "The server that decides it could not be reached after it was asked to.".into(),
        ),
        hint: Some("Look at the rows before running it again.".into()),
    }
}

/// Asks what became of transactions that are prepared here and of which nothing more was heard, and forgets those
/// whose coordinators are gone.
pub(crate) async fn resolve(inner: &Arc<Inner>) {
    /// How long a participant waits for the outcome before it asks.
    const SILENCE: Duration = Duration::from_secs(2);
    let Some(since) = std::time::Instant::now().checked_sub(SILENCE) else { return };
    let members = inner.members.read().clone();
    let lost = |group| members.get(group).is_none_or(|member| member.is_lost);
    let (prepared, open) = inner.participants.silent(since, lost).await;
    for transaction in prepared {
        if let Ok(Answer::Outcome(outcome)) =
            inner.ask_root(&Request::Outcome { transaction }).await
        {
            tracing::warn!(?transaction, ?outcome, "asked the root what became of a transaction");
            inner.participants.end(transaction, outcome).await;
        }
    }
    for transaction in open {
        inner.participants.end(transaction, None).await;
    }
}
