//! Commits: conflicts are checked and the command is applied under the log's lock; whoever commits
//! then waits until it is as durable as promised. A thread that may wait for the disk writes the log
//! itself.

use super::conflicts::refuse_conflicts;
use super::{CommitRequest, Ready, Store};
use crate::Error;
use crate::file::TableFile;
use crate::locking::Locker;
use crate::log::Proposal;
use crate::machine::Machine;
use crate::write_set::WriteSet;
use bucket::{Run, TableWrites};
use catalog::TableId;
use durable::Command;
use journal::Position;
use sdds::{Bound, KeyRange, Timestamp};
use std::sync::Arc;

/// A decision, and the position that must be durable before anybody is told of it.
struct Decided {
    outcome: Result<Timestamp, Error>,
    position: Position,
    /// The locks, which are released when the commit is visible.
    locker: Option<Locker>,
}

impl Store {
    /// Checks a transaction for conflicts with commits since its snapshot, and commits it. Blocks the
    /// thread until the commit is as durable as promised.
    pub(crate) fn commit(&self, request: CommitRequest) -> Result<Timestamp, Error> {
        let ready = self.ready_blocking(&request)?.written_here();
        let Decided { outcome, position, locker } = self.decide(request, ready);
        if let Some(durable) = self.durable() {
            durable.journal().write_here(position);
            durable.journal().wait_committed(position)?;
        }
        drop(locker);
        outcome
    }

    /// As [`Self::commit`], without blocking the thread unless it may wait for the disk.
    pub(crate) async fn commit_async(&self, request: CommitRequest) -> Result<Timestamp, Error> {
        let ready = self.ready(&request).await?;
        let writes_here = journal::may_wait();
        let ready = if writes_here { ready.written_here() } else { ready };
        let Decided { outcome, position, locker } = self.decide(request, ready);
        if let Some(durable) = self.durable() {
            if writes_here {
                durable.journal().write_here(position);
            }
            durable.journal().committed(position).await?;
        }
        drop(locker);
        outcome
    }

    /// Decides whether a transaction commits. A refusal can be due to commits that are not durable
    /// yet, which a new snapshot would not see: it waits for them, too.
    fn decide(&self, mut request: CommitRequest, ready: Ready) -> Decided {
        let mut machine = self.machine();
        let head = Arc::clone(machine.head());
        let refused = refuse_conflicts(&head, &self.holds().lock(), &request);
        if let Err(error) = refused {
            self.count_conflict(&error);
            let position = machine.log.position;
            return Decided { outcome: Err(error), position, locker: None };
        }
        let timestamp = head.timestamp.next();
        let locker = request.locker.take();
        match self.apply(&mut machine, request, ready, timestamp) {
            Ok(position) => Decided { outcome: Ok(timestamp), position, locker },
            Err(error) => Decided { outcome: Err(error), position: Position::ZERO, locker },
        }
    }

    /// Commits a transaction that has been checked for conflicts. Returns the position that must be
    /// durable before anybody is told of it.
    pub(crate) fn apply(
        &self,
        machine: &mut Machine,
        request: CommitRequest,
        ready: Ready,
        timestamp: Timestamp,
    ) -> Result<Position, Error> {
        let CommitRequest {
            snapshot,
            catalog_changes,
            writes,
            staging,
            locker,
            reads: _,
            _reservation,
        } = request;
        self.holds().note_required(&writes, timestamp);
        let touched = Touched::by(machine, &writes);
        let command = Command::Commit { timestamp, catalog: catalog_changes, writes };
        let Ready { record, _pins } = ready;
        let position = self.propose_writes(machine, Proposal { command, record }, touched);
        drop((snapshot, staging, locker));
        position
    }

    /// Appends and applies a command that makes writes visible; then splits the buckets that are full.
    ///
    /// # Errors
    /// [`Error::Failed`] if the journal has stopped.
    pub(crate) fn propose_writes(
        &self,
        machine: &mut Machine,
        proposal: Proposal,
        touched: Touched,
    ) -> Result<Position, Error> {
        let position = machine.propose(proposal)?;
        let catalog = Arc::clone(&machine.head().catalog);
        for (table, ranges) in touched.0 {
            if let Some(table) = catalog.table_by_id(table) {
                self.settle(machine, table, &ranges);
            }
        }
        Ok(position)
    }
}

/// The ranges of tables that writes fall into. Their buckets may have to split.
pub(crate) struct Touched(pub(super) Vec<(TableId, Vec<KeyRange>)>);

impl Touched {
    /// Returns the ranges that writes would fall into now.
    pub(crate) fn by(machine: &Machine, writes: &WriteSet) -> Self {
        let files = &machine.head().files;
        let of =
            |(id, writes): (&TableId, &TableWrites)| (*id, touched_ranges(files.get(id), writes));
        Self(writes.iter().map(of).collect())
    }
}

fn touched_ranges(file: Option<&Arc<TableFile>>, writes: &TableWrites) -> Vec<KeyRange> {
    let Some(file) = file else { return vec![KeyRange::all()] };
    let directory = file.directory();
    let span = |run: &Arc<Run>| {
        KeyRange::new(Bound::At(run.first().clone()), Bound::At(run.last().successor()))
    };
    let mut ranges: Vec<KeyRange> = writes.runs.iter().filter_map(span).collect();
    let mut next = writes.changes.get_min().map(|(key, _)| key);
    while let Some(key) = next {
        let (range, _) = directory.locate(key);
        let rest = KeyRange { low: range.high.clone(), high: Bound::PosInf };
        next = match range.high {
            Bound::At(_) => writes.changes_in(&rest).next().map(|(key, _)| key),
            _ => None,
        };
        ranges.push(range);
    }
    ranges
}
