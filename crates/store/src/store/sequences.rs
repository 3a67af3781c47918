//! Sequences. In a cluster, the root group stores the state of sequences, except those of temporary
//! schemas.

use super::Store;
use crate::Error;
use crate::machine::{Entry, SequenceState};
use crate::peers::Peers;
use catalog::{Sequence, is_temporary_schema};
use sdds::GroupId;
use std::sync::Arc;

/// The group that stores the sequences of a cluster.
const ROOT: GroupId = GroupId(0);

impl Store {
    /// Returns the other servers if one of them stores a sequence.
    fn keepers(&self, sequence: &Sequence) -> Option<&Arc<dyn Peers>> {
        let is_here = self.group() == ROOT || is_temporary_schema(&sequence.schema);
        self.peers().filter(|_| !is_here)
    }

    /// Takes `count` values of a sequence, and returns the first. May block the thread for a
    /// request to another server.
    ///
    /// # Errors
    /// [`Error::SequenceExhausted`]; [`Error::Unreachable`] in a cluster.
    pub fn sequence_next(&self, sequence: &Sequence, count: u32) -> Result<i64, Error> {
        if let Some(peers) = self.keepers(sequence) {
            return peers.sequence_next(sequence, count);
        }
        let mut machine = self.machine();
        let state = machine.sequences.get(&sequence.id).copied();
        let state = state.unwrap_or(SequenceState::new(sequence));
        let first = if state.called { next_value(sequence, state.last)? } else { state.last };
        let mut last = first;
        for _ in 1..count {
            last = next_value(sequence, last)?;
        }
        machine.commit_entry(Entry::SequenceAdvance { sequence: sequence.id, last, called: true });
        Ok(first)
    }

    /// Sets the last value of a sequence. If `called`, the next value is the one after it.
    ///
    /// # Errors
    /// [`Error::SequenceExhausted`] if the value is out of bounds; [`Error::Unreachable`] in a
    /// cluster.
    pub fn sequence_set(&self, sequence: &Sequence, last: i64, called: bool) -> Result<(), Error> {
        if last < sequence.min || last > sequence.max {
            return Err(exhausted(sequence, last > sequence.max));
        }
        if let Some(peers) = self.keepers(sequence) {
            return peers.sequence_set(sequence, last, called);
        }
        let entry = Entry::SequenceAdvance { sequence: sequence.id, last, called };
        self.machine().commit_entry(entry);
        Ok(())
    }

    /// Returns the last value of a sequence; `None` before the first.
    ///
    /// # Errors
    /// [`Error::Unreachable`] in a cluster.
    pub fn sequence_last(&self, sequence: &Sequence) -> Result<Option<i64>, Error> {
        if let Some(peers) = self.keepers(sequence) {
            return peers.sequence_last(sequence);
        }
        let machine = self.machine();
        let state = machine.sequences.get(&sequence.id);
        Ok(state.filter(|state| state.called).map(|state| state.last))
    }
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
