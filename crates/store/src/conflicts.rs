//! What a commit is refused for: rows and definitions that somebody else has changed, or holds prepared.

use crate::catalog::{Catalog, CatalogChange, Relation, Table, TableId};
use crate::chunk::Chunk;
use crate::file::{TableFile, Tile};
use crate::holds::{Held, PreparedWrites};
use crate::snapshot::Published;
use crate::transaction::Parts;
use crate::write_set::TableWrites;
use crate::{Error, key};
use sdds::{Bound, Key, KeyRange, Timestamp};
use std::sync::Arc;

/// First committer wins: refuses a transaction whose rows or definitions somebody else has changed.
pub(crate) fn refuse_conflicts(
    published: &Published,
    held: &Held,
    transaction: &Parts,
) -> Result<(), Error> {
    for prepared in held.prepared.values() {
        refuse_held(published, prepared, transaction)?;
    }
    let mut catalog: Option<Catalog> = None;
    for change in &transaction.catalog_changes {
        catalog = Some(catalog.as_ref().unwrap_or(&published.catalog).apply(change)?);
        refuse_definition_conflict(published, transaction, change)?;
    }
    for (id, writes) in &transaction.writes {
        let Some(before) = transaction.snapshot.catalog().table_by_id(*id) else { continue };
        let now = published.catalog.table_by_id(*id);
        let file = published.files.get(id);
        let same_file = file.map(Arc::as_ptr) == transaction.snapshot.file(*id).map(Arc::as_ptr);
        let (Some(file), true) =
            (file, same_file && now.is_some_and(|t| t.version == before.version))
        else {
            return Err(Error::SchemaConflict { relation: before.name.clone() });
        };
        refuse_row_conflicts(before, file, writes, transaction.snapshot.timestamp())?;
    }
    Ok(())
}

/// A definition that was checked against a table's rows must not meet rows that came later.
fn refuse_definition_conflict(
    published: &Published,
    transaction: &Parts,
    change: &CatalogChange,
) -> Result<(), Error> {
    let id = match change {
        CatalogChange::Replace(Relation::Table(table)) => table.id,
        CatalogChange::Truncate(id) => *id,
        _ => return Ok(()),
    };
    let Some(table) = published.catalog.table_by_id(id) else { return Ok(()) };
    let Some(file) = published.files.get(&id) else { return Ok(()) };
    let snapshot = transaction.snapshot.timestamp();
    let empties = matches!(change, CatalogChange::Truncate(_));
    let is_in_the_way = |tile: &Tile| match tile {
        Tile::Here(bucket) => bucket.state().newest > snapshot,
        Tile::Leaving(bucket) => empties || bucket.state().newest > snapshot,
        Tile::Elsewhere => false,
    };
    match file.directory().iter().any(|(_, tile)| is_in_the_way(tile)) {
        true => Err(Error::SchemaConflict { relation: table.name.clone() }),
        false => Ok(()),
    }
}

fn refuse_row_conflicts(
    table: &Table,
    file: &TableFile,
    writes: &TableWrites,
    snapshot: Timestamp,
) -> Result<(), Error> {
    let conflict =
        |key: &Key| Error::Conflict { table: table.name.clone(), key: key::describe(table, key) };
    let is_newer = |key: &Key| {
        let Some(bucket) = file.locate(key) else { return true };
        let state = bucket.state();
        state.newest > snapshot && state.last_write(key).is_some_and(|at| at > snapshot)
    };
    if let Some(key) = writes.changes.keys().find(|key| is_newer(key)) {
        return Err(conflict(key));
    }
    for chunk in writes.runs.iter().flat_map(|run| &run.chunks) {
        if let Some(key) = newer_key_in(file, chunk, snapshot) {
            return Err(conflict(&key));
        }
    }
    Ok(())
}

/// A key of the chunk that somebody has written since the snapshot, or that has left this server.
fn newer_key_in(file: &TableFile, chunk: &Chunk, snapshot: Timestamp) -> Option<Key> {
    let last = Bound::At(chunk.last().successor());
    let span = KeyRange::new(Bound::At(chunk.first().clone()), last)?;
    let directory = file.directory();
    let keys = chunk.keys();
    for (range, tile) in directory.cover(&span) {
        let Some(bucket) = tile.owned() else {
            match chunk.rows_in(&range).next() {
                Some(row) => return Some(keys.key(row)),
                None => continue,
            }
        };
        let state = bucket.state();
        if state.newest <= snapshot {
            continue;
        }
        let mut written = chunk.rows_in(&range).map(|row| keys.key(row));
        let newer = written.find(|key| state.last_write(key).is_some_and(|at| at > snapshot));
        if newer.is_some() {
            return newer;
        }
    }
    None
}

/// Refuses what a prepared transaction holds.
fn refuse_held(
    published: &Published,
    prepared: &PreparedWrites,
    transaction: &Parts,
) -> Result<(), Error> {
    let changes = &transaction.catalog_changes;
    let conflict = |id: TableId| {
        let table = published.catalog.table_by_id(id);
        Error::SchemaConflict { relation: table.map_or_else(String::new, |t| t.name.clone()) }
    };
    if prepared.has_shared_changes && changes.iter().any(|c| transaction.is_shared(c)) {
        return Err(Error::SchemaConflict { relation: "catalog".to_owned() });
    }
    let mut changed = changes.iter().filter_map(CatalogChange::table);
    if let Some(id) = changed.find(|id| prepared.writes.contains_key(id)) {
        return Err(conflict(id));
    }
    let mut changed = prepared.changes.iter().filter_map(CatalogChange::table);
    if let Some(id) = changed.find(|id| transaction.writes.contains_key(id)) {
        return Err(conflict(id));
    }
    for (id, writes) in &transaction.writes {
        let Some(held) = prepared.writes.get(id) else { continue };
        let Some(key) = writes.shared_key(held) else { continue };
        let Some(table) = published.catalog.table_by_id(*id) else { return Err(conflict(*id)) };
        return Err(Error::Conflict { table: table.name.clone(), key: key::describe(table, &key) });
    }
    Ok(())
}

impl CatalogChange {
    /// The table that a change needs for itself.
    pub(crate) fn table(&self) -> Option<TableId> {
        match self {
            Self::Replace(Relation::Table(table)) => Some(table.id),
            Self::Truncate(id) => Some(*id),
            Self::Drop(id) => Some(TableId(id.0)),
            _ => None,
        }
    }
}

impl TableWrites {
    /// A key that both have written.
    fn shared_key(&self, other: &Self) -> Option<Key> {
        let (few, many) = match self.changes.len() <= other.changes.len() {
            true => (self, other),
            false => (other, self),
        };
        if let Some(key) = few.changes.keys().find(|key| many.changes.contains_key(*key)) {
            return Some(key.clone());
        }
        for (runs, changes) in [(self, other), (other, self)] {
            let hit = |key: &&Key| runs.find_in_runs(key).is_some();
            if let Some(key) = changes.changes.keys().find(hit) {
                return Some(key.clone());
            }
        }
        let chunks = self.runs.iter().flat_map(|run| &run.chunks);
        chunks.flat_map(|chunk| other.runs.iter().map(move |run| (chunk, run))).find_map(
            |(chunk, run)| {
                let last = Bound::At(chunk.last().successor());
                let span = KeyRange::new(Bound::At(chunk.first().clone()), last)?;
                run.chunks_in(&span).next()?;
                let keys = chunk.keys();
                (0..chunk.rows()).map(|row| keys.key(row)).find(|key| run.find(key).is_some())
            },
        )
    }
}
