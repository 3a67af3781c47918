//! Makes commands ready to be appended: encodes them, writes the chunks that they refer to, and asks
//! for room in the journal. All of it happens before the log's lock is taken.
//!
//! In memory there is nothing to make ready.

use super::{CommitRequest, Store};
use crate::Error;
use crate::log::{Proposal, Record};
use crate::machine::Machine;
use crate::write_set::WriteSet;
use bucket::Chunk;
use catalog::{Catalog, CatalogChange, TableId, is_temporary_schema};
use durable::{Command, Durable, Pins};
use journal::{Body, Position};
use sdds::Timestamp;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Row ids that are logged ahead of those that have been given out.
const ROW_IDS_AHEAD: i64 = 1 << 20;

/// What a commit needs in addition to its request.
#[derive(Debug, Default)]
pub(crate) struct Ready {
    pub(crate) record: Option<Record>,
    /// Keeps the files of its chunks until it is applied.
    pub(crate) _pins: Option<Pins>,
}

impl Ready {
    /// The same, for a commit whose thread writes it ([`journal::Journal::write_here`]).
    pub(crate) fn written_here(mut self) -> Self {
        let written_here = |record: Record| Record { room: record.room.written_here(), ..record };
        self.record = self.record.map(written_here);
        self
    }
}

/// The encoded form of a commit, without room in the journal.
struct Encoded {
    kind: u16,
    body: Body,
    pins: Pins,
}

impl Encoded {
    /// The room that it needs, in bytes.
    fn len(&self) -> usize {
        self.body.len() + durable::TIMESTAMP_BYTES
    }
}

impl Store {
    /// Makes a commit ready. May write files, and waits for room.
    ///
    /// # Errors
    /// 53100 if the disk is full, 58030 if it fails. Nothing has changed then.
    pub(crate) async fn ready(&self, request: &CommitRequest) -> Result<Ready, Error> {
        let Some(durable) = self.durable() else { return Ok(Ready::default()) };
        self.log_row_ids(durable)?;
        let Some(encoded) = encode(durable, request)? else { return Ok(Ready::default()) };
        let room = durable.journal().room(encoded.len()).await?;
        let Encoded { kind, body, pins } = encoded;
        Ok(Ready { record: Some(Record { kind, body, room }), _pins: Some(pins) })
    }

    /// As [`Self::ready`], and blocks the thread.
    ///
    /// # Errors
    /// As [`Self::ready`].
    pub(crate) fn ready_blocking(&self, request: &CommitRequest) -> Result<Ready, Error> {
        let Some(durable) = self.durable() else { return Ok(Ready::default()) };
        self.log_row_ids(durable)?;
        let Some(encoded) = encode(durable, request)? else { return Ok(Ready::default()) };
        let room = durable.journal().room_blocking(encoded.len())?;
        let Encoded { kind, body, pins } = encoded;
        Ok(Ready { record: Some(Record { kind, body, room }), _pins: Some(pins) })
    }

    /// Proposes a small command that is valid in any state. May wait for room in the journal, but not
    /// until the command is durable. Returns its position.
    ///
    /// # Errors
    /// As [`Self::ready`].
    pub(crate) fn propose(&self, command: Command) -> Result<Position, Error> {
        let Some(durable) = self.durable() else {
            self.machine().commit_unlogged(command);
            return Ok(Position::ZERO);
        };
        let record = self.record(durable, &command)?;
        Ok(self.machine().propose(Proposal { command, record })?)
    }

    /// Proposes a command that can be left out, such as a split; returns whether it was carried out.
    /// Never waits.
    pub(crate) fn try_propose(&self, machine: &mut Machine, command: Command) -> bool {
        let Some(durable) = self.durable() else {
            machine.commit_unlogged(command);
            return true;
        };
        let record = match durable::encode(&command, &machine.head().catalog) {
            None => None,
            Some((kind, body)) => {
                let Some(room) = durable.journal().try_room(body.len()) else { return false };
                Some(Record { kind, body: Body::new(body), room })
            }
        };
        machine.propose(Proposal { command, record }).is_ok()
    }

    /// Makes the record of a command ready; `None` without a data directory. Waits for room.
    ///
    /// # Errors
    /// As [`Self::ready`].
    pub(crate) fn ready_record(&self, command: &Command) -> Result<Option<Record>, Error> {
        self.durable().map_or(Ok(None), |durable| self.record(durable, command))
    }

    /// Makes the record of a small command ready; `None` if it concerns temporary relations only.
    fn record(&self, durable: &Durable, command: &Command) -> Result<Option<Record>, Error> {
        let Some((kind, body)) = durable::encode(command, &self.catalog()) else { return Ok(None) };
        let room = durable.journal().room_blocking(body.len())?;
        Ok(Some(Record { kind, body: Body::new(body), room }))
    }

    /// Logs that row ids have been given out, before a row can have one.
    fn log_row_ids(&self, durable: &Durable) -> Result<(), Error> {
        let given = self.row_ids.load(Ordering::Relaxed);
        if given <= self.row_ids_logged.load(Ordering::Relaxed) {
            return Ok(());
        }
        let below = given.saturating_add(ROW_IDS_AHEAD);
        let command = Command::RowIds { below };
        let record = self.record(durable, &command)?;
        self.machine().propose(Proposal { command, record })?;
        self.row_ids_logged.fetch_max(below, Ordering::Relaxed);
        Ok(())
    }
}

/// Writes the chunks of a commit and encodes it; `None` if it concerns temporary relations only.
fn encode(durable: &Durable, request: &CommitRequest) -> Result<Option<Encoded>, Error> {
    let catalog = request.snapshot.catalog();
    let (changes, writes) = (&request.catalog_changes, &request.writes);
    let pins = durable.write_chunks(&chunks(catalog, changes, writes))?;
    let command = Command::Commit {
        timestamp: Timestamp::ZERO,
        catalog: changes.clone(),
        writes: writes.clone(),
    };
    let encoded = durable::encode(&command, catalog);
    Ok(encoded.map(|(kind, body)| Encoded { kind, body: Body::new(body), pins }))
}

/// Returns the chunks that a commit loads into tables that are not temporary.
fn chunks(catalog: &Catalog, changes: &[CatalogChange], writes: &WriteSet) -> Vec<Arc<Chunk>> {
    let created = |id: TableId| {
        changes.iter().find_map(|change| match change {
            CatalogChange::Create(relation) if relation.id() == id.relation() => Some(relation),
            _ => None,
        })
    };
    let stays = |id: TableId| {
        let relation = catalog.relation_by_id(id.relation()).or_else(|| created(id));
        relation.is_some_and(|relation| !is_temporary_schema(relation.schema()))
    };
    let loads = writes.iter().filter(|(id, writes)| !writes.runs.is_empty() && stays(**id));
    let runs = loads.flat_map(|(_, writes)| &writes.runs);
    runs.flat_map(|run| run.chunks.iter().cloned()).collect()
}
