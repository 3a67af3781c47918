//! The stable encoding of commands, format 1.
//!
//! | kind | command | body |
//! |---|---|---|
//! | 1 | commit | changes, tables with writes; 8 bytes timestamp at the end |
//! | 2 | split | table, key |
//! | 3 | merge | table, bound |
//! | 4 | install | timestamp, catalog |
//! | 5 | adopt | table, range, accesses, state of the bucket |
//! | 6 | release | table, range |
//! | 7 | sequence | relation, last value, whether it was returned |
//! | 8 | row ids | number |
//!
//! The writes to a table are its id, the number of changes, each a key and a row
//! ([`bucket::RowWriter`]), and the number of loads, each a list of places of chunks. The chunks are
//! in files that are durable before the command is appended. The timestamp of a commit is fixed width
//! and last, because it is known only when everything else is encoded.
//!
//! What concerns temporary relations is left out: they end with the server. Kinds are append-only.

use crate::command::{Command, WriteSet};
use crate::runs::{Decoder, Flaw, decode_run, encode_places};
use crate::state_form::{self, Detail};
use bucket::{RowReader, RowWriter, TableWrites};
use catalog::stable::{self, Malformed, Source, Stable};
use catalog::{Catalog, CatalogChange, TableId};
use sdds::Timestamp;

const COMMIT: u16 = 1;
const SPLIT: u16 = 2;
const MERGE: u16 = 3;
const INSTALL: u16 = 4;
const ADOPT: u16 = 5;
const RELEASE: u16 = 6;
const SEQUENCE: u16 = 7;
const ROW_IDS: u16 = 8;

/// Bytes of the timestamp at the end of a commit.
pub const TIMESTAMP_BYTES: usize = 8;

/// Encodes a command, without the timestamp of a commit; returns its kind and body. `None` if it
/// concerns temporary relations only. `catalog` is the one before the command.
pub fn encode(command: &Command, catalog: &Catalog) -> Option<(u16, Vec<u8>)> {
    let mut out = Vec::new();
    let is_temporary = |table: TableId| is_temporary(catalog, table);
    let kind = match command {
        Command::Commit { catalog: changes, writes, .. } => {
            encode_commit(catalog, changes, writes, &mut out)?;
            COMMIT
        }
        Command::Split { table, at } => {
            (!is_temporary(*table)).then_some(())?;
            table.encode(&mut out);
            at.encode(&mut out);
            SPLIT
        }
        Command::Merge { table, low } => {
            (!is_temporary(*table)).then_some(())?;
            table.encode(&mut out);
            low.encode(&mut out);
            MERGE
        }
        Command::Install { timestamp, catalog } => {
            timestamp.encode(&mut out);
            catalog.encode(&mut out);
            INSTALL
        }
        Command::Adopt { table, range, state, accesses } => {
            table.encode(&mut out);
            range.encode(&mut out);
            accesses.encode(&mut out);
            state_form::encode(state, Detail::AllVersions, &mut out);
            ADOPT
        }
        Command::Release { table, range } => {
            table.encode(&mut out);
            range.encode(&mut out);
            RELEASE
        }
        Command::SequenceAdvance { sequence, last, called } => {
            let relation = catalog.relation_by_id(*sequence);
            (!relation.is_some_and(catalog::Relation::is_temporary)).then_some(())?;
            sequence.encode(&mut out);
            last.encode(&mut out);
            called.encode(&mut out);
            SEQUENCE
        }
        Command::RowIds { below } => {
            below.encode(&mut out);
            ROW_IDS
        }
    };
    Some((kind, out))
}

fn is_temporary(catalog: &Catalog, table: TableId) -> bool {
    catalog.relation_by_id(table.relation()).is_some_and(catalog::Relation::is_temporary)
}

fn encode_commit(
    before: &Catalog,
    changes: &[CatalogChange],
    writes: &WriteSet,
    out: &mut Vec<u8>,
) -> Option<()> {
    let is_shared = |change: &&CatalogChange| !change.is_temporary(before, changes);
    let shared: Vec<&CatalogChange> = changes.iter().filter(is_shared).collect();
    let is_created_temporary = |id: TableId| {
        changes.iter().any(|change| match change {
            CatalogChange::Create(relation) => {
                relation.id() == id.relation() && relation.is_temporary()
            }
            _ => false,
        })
    };
    let stays = |id: TableId| !is_temporary(before, id) && !is_created_temporary(id);
    let writes: Vec<_> = writes.iter().filter(|(id, _)| stays(**id)).collect();
    if shared.is_empty() && writes.is_empty() {
        return None;
    }
    (shared.len() as u64).encode(out);
    shared.into_iter().for_each(|change| change.encode(out));
    let mut rows = RowWriter::default();
    (writes.len() as u64).encode(out);
    for (id, writes) in writes {
        id.encode(out);
        encode_writes(writes, &mut rows, out);
    }
    Some(())
}

fn encode_writes(writes: &TableWrites, rows: &mut RowWriter, out: &mut Vec<u8>) {
    (writes.changes.len() as u64).encode(out);
    for (key, row) in &writes.changes {
        key.encode(out);
        rows.put(row.as_ref(), out);
    }
    (writes.runs.len() as u64).encode(out);
    writes.runs.iter().for_each(|run| encode_places(run, out));
}

/// Decodes a command that [`encode`] has encoded; a commit is followed by its timestamp, eight
/// little-endian bytes.
///
/// # Errors
/// [`Flaw`].
pub fn decode(kind: u16, body: &[u8], with: &mut Decoder<'_>) -> Result<Command, Flaw> {
    let mut from = Source::new(body);
    let command = match kind {
        COMMIT => {
            let (body, timestamp) =
                body.split_last_chunk::<TIMESTAMP_BYTES>().ok_or(Malformed("it ends early"))?;
            from = Source::new(body);
            let (catalog, writes) = decode_commit(&mut from, with)?;
            Command::Commit {
                timestamp: Timestamp(u64::from_le_bytes(*timestamp)),
                catalog,
                writes,
            }
        }
        SPLIT => Command::Split { table: stable(&mut from)?, at: stable(&mut from)? },
        MERGE => Command::Merge { table: stable(&mut from)?, low: stable(&mut from)? },
        INSTALL => Command::Install { timestamp: stable(&mut from)?, catalog: stable(&mut from)? },
        ADOPT => {
            let (table, range) = (stable(&mut from)?, stable(&mut from)?);
            let accesses = stable(&mut from)?;
            let state = state_form::decode(&mut from, with)?;
            Command::Adopt { table, range, state, accesses }
        }
        RELEASE => Command::Release { table: stable(&mut from)?, range: stable(&mut from)? },
        SEQUENCE => Command::SequenceAdvance {
            sequence: stable(&mut from)?,
            last: stable(&mut from)?,
            called: stable(&mut from)?,
        },
        ROW_IDS => Command::RowIds { below: stable(&mut from)? },
        other => return Err(Flaw::Form(format!("a command has the unknown kind {other}"))),
    };
    if from.is_at_end() {
        Ok(command)
    } else {
        Err(Malformed("a command continues after its end").into())
    }
}

/// Returns the name of a kind of command; `None` if there is none.
pub(crate) fn kind_name(kind: u16) -> Option<&'static str> {
    Some(match kind {
        COMMIT => "commit",
        SPLIT => "split",
        MERGE => "merge",
        INSTALL => "install",
        ADOPT => "adopt",
        RELEASE => "release",
        SEQUENCE => "sequence",
        ROW_IDS => "row_ids",
        _ => return None,
    })
}

fn stable<T: Stable>(from: &mut Source<'_>) -> Result<T, Malformed> {
    stable::Stable::decode(from)
}

fn decode_commit(
    from: &mut Source<'_>,
    with: &mut Decoder<'_>,
) -> Result<(Vec<CatalogChange>, WriteSet), Flaw> {
    let changes = Vec::<CatalogChange>::decode(from)?;
    let mut writes = WriteSet::new();
    let mut rows = RowReader::new(with.layouts);
    for _ in 0..u64::decode(from)? {
        let id = TableId::decode(from)?;
        let mut table = TableWrites::default();
        for _ in 0..u64::decode(from)? {
            let key = stable(from)?;
            table.put(key, rows.take(from)?);
        }
        for _ in 0..u64::decode(from)? {
            table.put_run(decode_run(from, Timestamp::ZERO, with.chunk)?);
        }
        writes.insert(id, table);
    }
    Ok((changes, writes))
}
