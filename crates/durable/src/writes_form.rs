//! The stable encoding of what a transaction changes: in commits, in prepared parts, and in checkpoints.

use crate::runs::{Decoder, Flaw, decode_run, encode_places};
use crate::write_set::WriteSet;
use bucket::{RowReader, RowWriter, TableWrites};
use catalog::stable::{Source, Stable};
use catalog::{Catalog, CatalogChange, Relation, TableId};
use sdds::{Key, Timestamp};

/// Appends the changes and writes of a transaction that do not concern temporary relations; `None` if there are none.
/// `before` is the catalog before the changes.
pub(crate) fn encode_shared(
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
    let is_temporary = |id: TableId| {
        before.relation_by_id(id.relation()).is_some_and(Relation::is_temporary)
            || is_created_temporary(id)
    };
    let writes: Vec<_> = writes.iter().filter(|(id, _)| !is_temporary(**id)).collect();
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

/// Decodes what [`encode_shared`] has appended.
pub(crate) fn decode(
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
            let key = Key::decode(from)?;
            table.put(key, rows.take(from)?);
        }
        for _ in 0..u64::decode(from)? {
            table.put_run(decode_run(from, Timestamp::ZERO, with.chunk)?);
        }
        writes.insert(id, table);
    }
    Ok((changes, writes))
}

/// The keys that the writes to tables require to have rows.
pub(crate) type Required = Vec<(TableId, Vec<Key>)>;

/// Appends the keys that writes require to have rows, if there are any; returns whether there are.
/// A commit has checked them, and need not keep them.
pub(crate) fn encode_required(writes: &WriteSet, out: &mut Vec<u8>) -> bool {
    let requiring = writes.iter().filter(|(_, writes)| !writes.required.is_empty());
    let keys = |writes: &TableWrites| writes.required.iter().cloned().collect();
    let required: Required = requiring.map(|(id, writes)| (*id, keys(writes))).collect();
    if required.is_empty() {
        return false;
    }
    required.encode(out);
    true
}

/// Decodes what [`encode_required`] has appended.
pub(crate) fn decode_required(from: &mut Source<'_>) -> Result<Required, Flaw> {
    Ok(Required::decode(from)?)
}

/// Adds required keys to writes.
pub(crate) fn require(writes: &mut WriteSet, required: Required) {
    for (id, keys) in required {
        let mut table = writes.get(&id).cloned().unwrap_or_default();
        table.required.extend(keys);
        writes.insert(id, table);
    }
}
