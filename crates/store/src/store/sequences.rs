//! Sequences. In a cluster, the root group stores the state of sequences, except those of temporary
//! schemas.
//!
//! With a data directory, the log is ahead of the values that are returned: one command for some
//! dozens of values, and a value is returned only when its command is durable. After a crash the
//! values that were not returned are skipped.

use super::Store;
use crate::Error;
use crate::peers::ClusterPeers;
use catalog::{RelationId, Sequence, is_temporary_schema};
use durable::{Command, Durable, SequenceState};
use journal::Position;
use sdds::GroupId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The group that stores the sequences of a cluster.
const ROOT: GroupId = GroupId(0);

/// Values that are logged ahead of those that are asked for.
const AHEAD: u32 = 64;

/// The sequences of which values are logged and have not been returned.
pub(super) type Handed = BTreeMap<RelationId, Ahead>;

/// A sequence of which the log is ahead.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ahead {
    /// What has been returned.
    returned: SequenceState,
    /// The number of values after it that are logged.
    logged: u32,
    /// The definition by which they were counted.
    steps: Steps,
    /// Where they are logged.
    position: Position,
}

/// What the next values of a sequence depend on: increment, limits, and whether it wraps around.
type Steps = (i64, i64, i64, bool);

fn steps(of: &Sequence) -> Steps {
    (of.increment, of.min, of.max, of.cycle)
}

impl Store {
    /// Returns the other servers if one of them stores a sequence.
    fn keepers(&self, sequence: &Sequence) -> Option<&dyn ClusterPeers> {
        let is_here = self.group() == ROOT || is_temporary_schema(&sequence.schema);
        let peers = self.peers().filter(|_| !is_here)?;
        Some(&**peers)
    }

    /// Returns the data directory if it keeps a sequence.
    fn keeping(&self, sequence: &Sequence) -> Option<&Arc<Durable>> {
        self.durable().filter(|_| !is_temporary_schema(&sequence.schema))
    }

    /// Takes `count` values of a sequence, and returns the first. May block the thread for a
    /// request to another server or for the disk.
    ///
    /// # Errors
    /// [`Error::SequenceExhausted`]; [`Error::Unreachable`] in a cluster; 53100 if the disk is full.
    pub fn sequence_next(&self, sequence: &Sequence, count: u32) -> Result<i64, Error> {
        if let Some(peers) = self.keepers(sequence) {
            return peers.sequence_next(sequence, count);
        }
        if let Some(durable) = self.keeping(sequence) {
            return self.durable_next(durable, sequence, count);
        }
        let mut machine = self.machine();
        let state = machine.sequences.get(&sequence.id).copied();
        let state = state.unwrap_or(SequenceState::new(sequence));
        let (first, last) = after(sequence, state, count)?;
        let sequence = sequence.id;
        machine.commit_unlogged(Command::SequenceAdvance { sequence, last, called: true });
        Ok(first)
    }

    /// Takes values that the log contains already, or logs more.
    fn durable_next(
        &self,
        durable: &Durable,
        sequence: &Sequence,
        count: u32,
    ) -> Result<i64, Error> {
        let mut handed = self.handed.lock();
        let mut ahead = match handed.get(&sequence.id) {
            Some(ahead) => *ahead,
            None => {
                let state = self.machine().sequences.get(&sequence.id).copied();
                let returned = state.unwrap_or(SequenceState::new(sequence));
                Ahead { returned, logged: 0, steps: steps(sequence), position: Position::ZERO }
            }
        };
        let (first, last) = after(sequence, ahead.returned, count)?;
        let returned = SequenceState { last, called: true };
        if ahead.logged < count || ahead.steps != steps(sequence) {
            let (furthest, more) = far_after(sequence, returned);
            let advance =
                Command::SequenceAdvance { sequence: sequence.id, last: furthest, called: true };
            ahead.position = self.propose(advance)?;
            ahead.logged = count + more;
            ahead.steps = steps(sequence);
        }
        ahead.logged -= count;
        ahead.returned = returned;
        let position = ahead.position;
        handed.insert(sequence.id, ahead);
        drop(handed);
        durable.journal().wait_committed(position)?;
        Ok(first)
    }

    /// Sets the last value of a sequence. If `called`, the next value is the one after it. May block
    /// the thread as [`Self::sequence_next`] does.
    ///
    /// # Errors
    /// [`Error::SequenceExhausted`] if the value is out of bounds; [`Error::Unreachable`] in a
    /// cluster; 53100 if the disk is full.
    pub fn sequence_set(&self, sequence: &Sequence, last: i64, called: bool) -> Result<(), Error> {
        if last < sequence.min || last > sequence.max {
            return Err(exhausted(sequence, last > sequence.max));
        }
        if let Some(peers) = self.keepers(sequence) {
            return peers.sequence_set(sequence, last, called);
        }
        let set = Command::SequenceAdvance { sequence: sequence.id, last, called };
        let mut handed = self.handed.lock();
        let position = self.propose(set)?;
        handed.remove(&sequence.id);
        drop(handed);
        match self.keeping(sequence) {
            Some(durable) => Ok(durable.journal().wait_committed(position)?),
            None => Ok(()),
        }
    }

    /// Returns the last value of a sequence; `None` before the first.
    ///
    /// # Errors
    /// [`Error::Unreachable`] in a cluster.
    pub fn sequence_last(&self, sequence: &Sequence) -> Result<Option<i64>, Error> {
        if let Some(peers) = self.keepers(sequence) {
            return peers.sequence_last(sequence);
        }
        Ok(self.sequence_state(sequence).filter(|(_, called)| *called).map(|(last, _)| last))
    }

    /// Returns the last value of a sequence that this server stores, and whether it has been returned to a
    /// client; `None` if the sequence does not exist any more.
    pub fn sequence_state(&self, sequence: &Sequence) -> Option<(i64, bool)> {
        let handed = self.handed.lock().get(&sequence.id).map(|ahead| ahead.returned);
        let state = handed.or_else(|| self.machine().sequences.get(&sequence.id).copied());
        state.map(|state| (state.last, state.called))
    }

    /// Logs what has been returned of all sequences, so that a restart skips no values. To be called
    /// when the server ends in good order.
    ///
    /// # Errors
    /// 53100 if the disk is full, 58030 if it fails.
    pub fn settle_sequences(&self) -> Result<(), Error> {
        let mut handed = self.handed.lock();
        while let Some((sequence, ahead)) = handed.pop_first() {
            let SequenceState { last, called } = ahead.returned;
            if self.machine().sequences.contains_key(&sequence) {
                self.propose(Command::SequenceAdvance { sequence, last, called })?;
            }
        }
        Ok(())
    }
}

/// Returns the first and the last of the next `count` values.
fn after(sequence: &Sequence, state: SequenceState, count: u32) -> Result<(i64, i64), Error> {
    let first = if state.called { next_value(sequence, state.last)? } else { state.last };
    let mut last = first;
    for _ in 1..count {
        last = next_value(sequence, last)?;
    }
    Ok((first, last))
}

/// Returns the value to which the log goes ahead, and its distance. It ends at the limit.
fn far_after(sequence: &Sequence, state: SequenceState) -> (i64, u32) {
    let (mut last, mut steps) = (state.last, 0);
    while steps < AHEAD
        && let Ok(next) = next_value(sequence, last)
    {
        last = next;
        steps += 1;
    }
    (last, steps)
}

fn next_value(sequence: &Sequence, last: i64) -> Result<i64, Error> {
    let up = sequence.increment > 0;
    let next = last.checked_add(sequence.increment);
    match next.filter(|next| (sequence.min..=sequence.max).contains(next)) {
        Some(next) => Ok(next),
        None if sequence.cycle => Ok(if up { sequence.min } else { sequence.max }),
        None => Err(exhausted(sequence, up)),
    }
}

fn exhausted(sequence: &Sequence, up: bool) -> Error {
    Error::SequenceExhausted {
        sequence: sequence.name.clone(),
        end: if up { "maximum" } else { "minimum" }.to_owned(),
        limit: if up { sequence.max } else { sequence.min },
    }
}
