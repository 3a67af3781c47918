//! The stable encoding of commands, format 1.
//!
//! | kind | command | body |
//! |---|---|---|
//! | 1 | commit | changes, tables with writes; 8 bytes timestamp at the end |
//! | 2 | split | table, key |
//! | 3 | merge | table, bound |
//! | 4 | install | timestamp, catalog |
//! | 6 | release | table, range |
//! | 7 | sequence | relation, last value, whether it was returned |
//! | 8 | row ids | number |
//! | 9 | prepare | transaction; changes and tables with writes, as of a commit |
//! | 10 | decide | transaction, timestamp or nothing |
//! | 11 | freeze | move, table, range, group |
//! | 12 | thaw | move |
//! | 13 | adopt | move, table, range, accesses, state of the bucket |
//! | 14 | fact | name, bytes or nothing |
//! | 40 | prepare with required keys | tables, each with its required keys; then as a prepare |
//!
//! Kind 5 was to be `adopt` without its move; no version has written it.
//!
//! The writes to a table are its id, the number of changes, each a key and a row
//! ([`bucket::RowWriter`]), and the number of loads, each a list of places of chunks. The chunks are
//! in files that are durable before the command is appended. The timestamp of a commit is fixed width
//! and last, because it is known only when everything else is encoded.
//!
//! What concerns temporary relations is left out: they end with the server. Kinds are append-only.

use crate::command::Command;
use crate::runs::{Decoder, Flaw};
use crate::state_form::{self, Detail};
use crate::writes_form;
use catalog::stable::{self, Malformed, Source, Stable};
use catalog::{Catalog, TableId};
use sdds::Timestamp;

const COMMIT: u16 = 1;
const SPLIT: u16 = 2;
const MERGE: u16 = 3;
const INSTALL: u16 = 4;
const RELEASE: u16 = 6;
const SEQUENCE: u16 = 7;
const ROW_IDS: u16 = 8;
const PREPARE: u16 = 9;
const DECIDE: u16 = 10;
const FREEZE: u16 = 11;
const THAW: u16 = 12;
const ADOPT: u16 = 13;
const FACT: u16 = 14;
const PREPARE_REQUIRING: u16 = 40;

/// Bytes of the timestamp at the end of a commit.
pub const TIMESTAMP_BYTES: usize = 8;

/// The length of the longest decision in bytes.
pub const DECISION_BYTES_MAX: usize = 32;

/// Encodes a command, without the timestamp of a commit; returns its kind and body. `None` if it
/// concerns temporary relations only. `catalog` is the one before the command.
pub fn encode(command: &Command, catalog: &Catalog) -> Option<(u16, Vec<u8>)> {
    let mut out = Vec::new();
    let is_temporary = |table: TableId| is_temporary(catalog, table);
    let kind = match command {
        Command::Commit { catalog: changes, writes, .. } => {
            writes_form::encode_shared(catalog, changes, writes, &mut out)?;
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
        Command::Adopt { of, table, range, state, accesses } => {
            of.encode(&mut out);
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
        _ => encode_of_cluster(command, catalog, &mut out)?,
    };
    Some((kind, out))
}

/// Encodes a command that only servers of a cluster have, and returns its kind.
fn encode_of_cluster(command: &Command, catalog: &Catalog, out: &mut Vec<u8>) -> Option<u16> {
    Some(match command {
        Command::Prepare { transaction, catalog: changes, writes } => {
            let requires = writes_form::encode_required(writes, out);
            transaction.encode(out);
            writes_form::encode_shared(catalog, changes, writes, out)?;
            if requires { PREPARE_REQUIRING } else { PREPARE }
        }
        Command::Decide { transaction, outcome } => {
            transaction.encode(out);
            outcome.encode(out);
            DECIDE
        }
        Command::Freeze(frozen) => {
            frozen.encode(out);
            FREEZE
        }
        Command::Thaw { of } => {
            of.encode(out);
            THAW
        }
        Command::SetFact { name, value } => {
            name.encode(out);
            value.encode(out);
            FACT
        }
        Command::Commit { .. }
        | Command::Split { .. }
        | Command::Merge { .. }
        | Command::Install { .. }
        | Command::Adopt { .. }
        | Command::Release { .. }
        | Command::SequenceAdvance { .. }
        | Command::RowIds { .. } => return None,
    })
}

fn is_temporary(catalog: &Catalog, table: TableId) -> bool {
    catalog.relation_by_id(table.relation()).is_some_and(catalog::Relation::is_temporary)
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
            let (catalog, writes) = writes_form::decode(&mut from, with)?;
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
            let (of, table, range) = (stable(&mut from)?, stable(&mut from)?, stable(&mut from)?);
            let accesses = stable(&mut from)?;
            let state = state_form::decode(&mut from, with)?;
            Command::Adopt { of, table, range, state, accesses }
        }
        RELEASE => Command::Release { table: stable(&mut from)?, range: stable(&mut from)? },
        SEQUENCE => Command::SequenceAdvance {
            sequence: stable(&mut from)?,
            last: stable(&mut from)?,
            called: stable(&mut from)?,
        },
        ROW_IDS => Command::RowIds { below: stable(&mut from)? },
        PREPARE => {
            let transaction = stable(&mut from)?;
            let (catalog, writes) = writes_form::decode(&mut from, with)?;
            Command::Prepare { transaction, catalog, writes }
        }
        PREPARE_REQUIRING => {
            let required = writes_form::decode_required(&mut from)?;
            let transaction = stable(&mut from)?;
            let (catalog, mut writes) = writes_form::decode(&mut from, with)?;
            writes_form::require(&mut writes, required);
            Command::Prepare { transaction, catalog, writes }
        }
        DECIDE => Command::Decide { transaction: stable(&mut from)?, outcome: stable(&mut from)? },
        FREEZE => Command::Freeze(stable(&mut from)?),
        THAW => Command::Thaw { of: stable(&mut from)? },
        FACT => Command::SetFact { name: stable(&mut from)?, value: stable(&mut from)? },
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
        PREPARE | PREPARE_REQUIRING => "prepare",
        DECIDE => "decide",
        FREEZE => "freeze",
        THAW => "thaw",
        FACT => "fact",
        _ => return None,
    })
}

fn stable<T: Stable>(from: &mut Source<'_>) -> Result<T, Malformed> {
    stable::Stable::decode(from)
}
