//! The log of a store: commands in the order in which they are applied.
//!
//! With a data directory, the [`Journal`] keeps them; in any case the descriptions of the last ones
//! are kept for people.

use durable::Command;
use journal::{Body, Journal, Origin, Position, Room};
use sdds::{Epoch, GroupId};
use std::collections::VecDeque;
use std::sync::Arc;

/// Number of descriptions that are kept for [`crate::Store::log_tail`].
const TAIL_LENGTH: usize = 256;

/// A command that can be appended: nothing can refuse it any more, except a failure of the disk that
/// stops the server.
#[derive(Debug)]
pub(crate) struct Proposal {
    pub(crate) command: Command,
    /// `None` without a journal, and for what a restart forgets.
    pub(crate) record: Option<Record>,
}

/// The form of a command in the journal, and the room for it.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) kind: u16,
    pub(crate) body: Body,
    pub(crate) room: Room,
}

/// The number of commands so far, and descriptions of the last ones.
#[derive(Debug)]
pub(crate) struct Log {
    commands: u64,
    tail: VecDeque<String>,
    journal: Option<Arc<Journal>>,
    group: GroupId,
    /// The index of the last command in the log of the group.
    pub(crate) index: u64,
    /// The position of the last command in the journal.
    pub(crate) position: Position,
    /// All commands, if a test records them.
    #[cfg(test)]
    pub(crate) recorded: Option<Vec<Command>>,
}

impl Log {
    pub(crate) fn new(group: GroupId) -> Self {
        Self {
            commands: 0,
            tail: VecDeque::new(),
            journal: None,
            group,
            index: 0,
            position: Position::ZERO,
            #[cfg(test)]
            recorded: None,
        }
    }

    /// Appends commands to a journal from now on.
    pub(crate) fn continue_in(&mut self, journal: Arc<Journal>) {
        self.journal = Some(journal);
    }

    /// Returns the journal; `None` without a data directory.
    pub(crate) fn journal(&self) -> Option<&Arc<Journal>> {
        self.journal.as_ref()
    }

    /// Appends a command, and returns what is left to be applied.
    ///
    /// # Errors
    /// [`journal::Error::Stopped`]. Nothing has changed then.
    pub(crate) fn append(&mut self, proposal: Proposal) -> Result<Command, journal::Error> {
        let Proposal { command, record } = proposal;
        if let (Some(journal), Some(Record { kind, body, room })) = (&self.journal, record) {
            let (group, epoch) = (self.group, Epoch::FIRST);
            let origin = Origin { group, epoch, index: self.index + 1 };
            let timestamp: [u8; durable::TIMESTAMP_BYTES];
            let suffix: &[u8] = match &command {
                Command::Commit { timestamp: at, .. } => {
                    timestamp = at.0.to_le_bytes();
                    &timestamp
                }
                _ => &[],
            };
            self.position = journal.append(room, origin, kind, &body, suffix)?;
            self.index += 1;
        }
        self.note(&command);
        Ok(command)
    }

    /// Notes a command that is applied.
    pub(crate) fn note(&mut self, command: &Command) {
        self.commands += 1;
        if !matches!(command, Command::Commit { .. }) {
            if self.tail.len() == TAIL_LENGTH {
                self.tail.pop_front();
            }
            self.tail.push_back(format!("{} {command}", self.commands));
        }
        #[cfg(test)]
        if let Some(recorded) = &mut self.recorded {
            recorded.push(command.clone());
        }
    }

    /// Returns the number of commands so far.
    pub(crate) fn commands(&self) -> u64 {
        self.commands
    }

    /// Returns the descriptions of the last commands, oldest first.
    pub(crate) fn tail(&self) -> Vec<String> {
        self.tail.iter().cloned().collect()
    }
}
