//! Conflict checks of a commit: rows and definitions that another transaction has changed, or has
//! prepared to change.

use super::CommitRequest;
use crate::Error;
use crate::file::{TableFile, Tile};
use crate::holds::{Held, PreparedWrites};
use crate::snapshot::{Published, Snapshot};
use bucket::{Chunk, TableWrites, key};
use catalog::{Catalog, CatalogChange, Relation, Table, TableId};
use locks::{Mode, Party, Target};
use sdds::{Bound, Key, KeyRange, Timestamp};
use std::sync::Arc;

/// So many keys of a transaction are looked up among the locks; of more, the locks are looked up.
const FEW_KEYS: usize = 16;

/// First committer wins: refuses a transaction if another one has changed its rows or definitions.
pub(super) fn refuse_conflicts(
    published: &Published,
    held: &Held,
    request: &CommitRequest,
) -> Result<(), Error> {
    refuse_locked(published, held, request)?;
    for prepared in held.prepared.values() {
        refuse_held(published, prepared, request)?;
    }
    refuse_changed_reads(published, request)?;
    let mut catalog: Option<Catalog> = None;
    for change in &request.catalog_changes {
        let before = catalog.as_ref().unwrap_or(&published.catalog);
        let known = request.snapshot.catalog();
        let after = before.apply(change).map_err(|error| error.of_dropped(change, known))?;
        before.refuse_taken_name(change)?;
        catalog = Some(after);
        refuse_definition_conflict(published, request, change)?;
    }
    if let Some(after) = &catalog {
        after.refuse_orphans(&published.catalog, &request.catalog_changes)?;
        after.refuse_lost_reads(request.snapshot.catalog(), &request.catalog_changes)?;
    }
    for (id, writes) in &request.writes {
        let Some(before) = request.snapshot.catalog().table_by_id(*id) else { continue };
        let now = published.catalog.table_by_id(*id);
        let file = published.files.get(id);
        let same_file = file.map(Arc::as_ptr) == request.snapshot.file(*id).map(Arc::as_ptr);
        let (Some(file), true) =
            (file, same_file && now.is_some_and(|t| t.version == before.version))
        else {
            return Err(Error::SchemaConflict { relation: before.name.clone() });
        };
        let conflict = |key: &Key| conflict(&published.catalog, before, key);
        let snapshot = request.snapshot.timestamp();
        refuse_row_conflicts(file, writes, snapshot, conflict)?;
        if let Some(key) = missing_requirement(file, writes) {
            return Err(conflict(key));
        }
        if is_referred_to(&published.catalog, *id)
            && let Some(key) = held.required.lost(*id, writes, snapshot)
        {
            return Err(conflict(key));
        }
    }
    Ok(())
}

/// Returns a required key without a row now, or that is not owned here any more.
fn missing_requirement<'a>(file: &TableFile, writes: &'a TableWrites) -> Option<&'a Key> {
    let is_missing = |key: &&Key| {
        let is_live = || file.locate(key).is_some_and(|bucket| bucket.state().is_live(key));
        writes.gives_row(key).is_none() && !writes.truncated && !is_live()
    };
    writes.required.iter().find(is_missing)
}

/// Whether foreign keys refer to the rows of a table, or to those of the table of an index.
pub(crate) fn is_referred_to(catalog: &Catalog, id: TableId) -> bool {
    let table = catalog.index_by_id(id).map_or(id, |index| index.table);
    !catalog.referring_to(table).is_empty()
}

/// A definition was checked against the rows of its snapshot, so newer rows conflict with it.
fn refuse_definition_conflict(
    published: &Published,
    request: &CommitRequest,
    change: &CatalogChange,
) -> Result<(), Error> {
    let id = match change {
        CatalogChange::Replace(Relation::Table(table)) => table.id,
        CatalogChange::Truncate(id) => *id,
        _ => return Ok(()),
    };
    let Some(table) = published.catalog.table_by_id(id) else { return Ok(()) };
    let Some(file) = published.files.get(&id) else { return Ok(()) };
    let snapshot = request.snapshot.timestamp();
    let empties = matches!(change, CatalogChange::Truncate(_));
    let is_in_the_way = |tile: &Tile| match tile {
        Tile::Here(bucket) => bucket.state().newest() > snapshot,
        Tile::Leaving(bucket) => empties || bucket.state().newest() > snapshot,
        Tile::Elsewhere => false,
    };
    if file.directory().iter().any(|(_, tile)| is_in_the_way(tile)) {
        return Err(Error::SchemaConflict { relation: table.name.clone() });
    }
    Ok(())
}

/// The error for a row that another transaction has written, or for the entry of one.
fn conflict(catalog: &Catalog, table: &Table, key: &Key) -> Error {
    let index = catalog.index_by_id(table.id);
    match index.and_then(|index| Some((index, catalog.table_by_id(index.table)?))) {
        Some((index, of)) => {
            Error::Conflict { table: of.name.clone(), key: key::describe_entry(index, of, key) }
        }
        None => Error::Conflict { table: table.name.clone(), key: key::describe(table, key) },
    }
}

fn refuse_row_conflicts(
    file: &TableFile,
    writes: &TableWrites,
    snapshot: Timestamp,
    conflict: impl Fn(&Key) -> Error,
) -> Result<(), Error> {
    let is_newer = |key: &Key| {
        let Some(bucket) = file.locate(key) else { return true };
        let state = bucket.state();
        state.newest() > snapshot && state.last_write(key).is_some_and(|at| at > snapshot)
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

/// Returns a key of the chunk that another transaction has written since the snapshot, or that is
/// not owned here any more.
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
        if state.newest() <= snapshot {
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

/// Refuses a serializable transaction if what it has read has changed.
fn refuse_changed_reads(published: &Published, request: &CommitRequest) -> Result<(), Error> {
    let snapshot = &request.snapshot;
    for id in &request.reads {
        let Some(before) = snapshot.file(*id) else { continue };
        let now = published.files.get(id);
        let is_newer = |tile: &Tile| match tile {
            Tile::Here(bucket) | Tile::Leaving(bucket) => {
                bucket.state().newest() > snapshot.timestamp()
            }
            Tile::Elsewhere => false,
        };
        if now.is_none_or(|now| !Arc::ptr_eq(now, before))
            || before.directory().iter().any(|(_, tile)| is_newer(tile))
        {
            return Err(Error::Unserializable);
        }
    }
    Ok(())
}

/// Refuses a transaction that changes rows or tables on which another one has locks.
fn refuse_locked(published: &Published, held: &Held, request: &CommitRequest) -> Result<(), Error> {
    if held.locks.is_empty() {
        return Ok(());
    }
    let party = request.locker.as_ref().map(|locker| locker.owner().party);
    let is_free = |id: TableId, mode| held.locks.is_free(party, &Target::Table(id.0), mode);
    let name = |id: TableId| published.catalog.table_by_id(id).map(|table| table.name.clone());
    let is_changed = |id: &TableId| name(*id).is_some() && !is_free(*id, Mode::AccessExclusive);
    let mut changed = request.catalog_changes.iter().filter_map(CatalogChange::table);
    if let Some(id) = changed.find(is_changed) {
        return Err(Error::SchemaConflict { relation: name(id).unwrap_or_default() });
    }
    for (id, writes) in &request.writes {
        let Some(table) = published.catalog.table_by_id(*id) else { continue };
        if !is_free(*id, Mode::RowExclusive) {
            return Err(Error::SchemaConflict { relation: table.name.clone() });
        }
        if let Some(key) = taken_key(held, party, *id, writes) {
            return Err(conflict(&published.catalog, table, &key));
        }
        if is_referred_to(&published.catalog, *id)
            && !held.locks.is_free(party, &Target::Keys(id.0), Mode::RowExclusive)
            && let Some((key, _)) = writes.changes.iter().find(|(_, row)| row.is_none())
        {
            return Err(conflict(&published.catalog, table, key));
        }
        let is_required = |key: &&Key| {
            !held.locks.is_free(party, &Target::Row(id.0, (*key).clone()), Mode::ForKeyShare)
        };
        if let Some(key) = writes.required.iter().find(is_required) {
            return Err(conflict(&published.catalog, table, key));
        }
    }
    Ok(())
}

/// Returns a written key that another party has locked.
fn taken_key(held: &Held, party: Option<Party>, id: TableId, writes: &TableWrites) -> Option<Key> {
    let is_taken =
        |key: &Key, mode| !held.locks.is_free(party, &Target::Row(id.0, key.clone()), mode);
    let mode = |row: &Option<_>| if row.is_some() { Mode::ForNoKeyUpdate } else { Mode::ForUpdate };
    if writes.runs.is_empty() && writes.changes.len() <= FEW_KEYS {
        let mut changes = writes.changes.iter();
        return changes.find(|(key, row)| is_taken(key, mode(row))).map(|(key, _)| key.clone());
    }
    let mut taken = held.locks.rows_taken(party, id.0, Mode::ForUpdate);
    let conflicts = |key: &&Key| match writes.changes.get(*key) {
        Some(row) => is_taken(key, mode(row)),
        None => writes.find_in_runs(key).is_some(),
    };
    taken.find(conflicts).cloned()
}

/// Refuses rows that another transaction has changed since a snapshot, also if that is not visible yet.
pub(crate) fn refuse_newer<'a>(
    head: &Published,
    snapshot: &Snapshot,
    id: TableId,
    keys: impl IntoIterator<Item = &'a Key>,
) -> Result<(), Error> {
    let Some(before) = snapshot.catalog().table_by_id(id) else { return Ok(()) };
    let now = head.catalog.table_by_id(id);
    let file = head.files.get(&id);
    let same_file = file.map(Arc::as_ptr) == snapshot.file(id).map(Arc::as_ptr);
    let (Some(file), true) = (file, same_file && now.is_some_and(|t| t.version == before.version))
    else {
        return Err(Error::SchemaConflict { relation: before.name.clone() });
    };
    let at = snapshot.timestamp();
    let is_newer = |key: &&Key| {
        let Some(bucket) = file.locate(key) else { return false };
        let state = bucket.state();
        state.newest() > at && state.last_write(key).is_some_and(|written| written > at)
    };
    match keys.into_iter().find(is_newer) {
        Some(key) => Err(conflict(&head.catalog, before, key)),
        None => Ok(()),
    }
}

/// Whether a row has been deleted since a snapshot, also if that is not visible yet.
pub(crate) fn is_deleted(head: &Published, snapshot: &Snapshot, id: TableId, key: &Key) -> bool {
    let bucket = head.files.get(&id).and_then(|file| file.locate(key));
    bucket.is_some_and(|bucket| {
        let state = bucket.state();
        let written = state.last_write(key).is_some_and(|at| at > snapshot.timestamp());
        written && !state.is_live(key)
    })
}

/// Refuses required keys that have no row now.
pub(crate) fn refuse_missing(
    head: &Published,
    id: TableId,
    own: &TableWrites,
    keys: &[Key],
) -> Result<(), Error> {
    let (Some(table), Some(file)) = (head.catalog.table_by_id(id), head.files.get(&id)) else {
        return Ok(());
    };
    let mut writes = own.clone();
    writes.required = keys.iter().cloned().collect();
    match missing_requirement(file, &writes) {
        Some(key) => Err(conflict(&head.catalog, table, key)),
        None => Ok(()),
    }
}

/// Refuses to delete keys that other transactions have required since a snapshot.
pub(crate) fn refuse_required(
    head: &Published,
    held: &Held,
    snapshot: &Snapshot,
    id: TableId,
    keys: &[Key],
) -> Result<(), Error> {
    let Some(table) = head.catalog.table_by_id(id).filter(|_| is_referred_to(&head.catalog, id))
    else {
        return Ok(());
    };
    let mut writes = TableWrites::default();
    keys.iter().for_each(|key| writes.put(key.clone(), None));
    match held.required.lost(id, &writes, snapshot.timestamp()) {
        Some(key) => Err(conflict(&head.catalog, table, key)),
        None => Ok(()),
    }
}

/// Refuses bulk loads of keys that another transaction has written since a snapshot: they are not locked.
pub(crate) fn refuse_newer_loads(
    head: &Published,
    snapshot: &Snapshot,
    id: TableId,
    writes: &TableWrites,
) -> Result<(), Error> {
    let loads = TableWrites { runs: writes.runs.clone(), ..TableWrites::default() };
    let (Some(table), Some(file)) = (snapshot.catalog().table_by_id(id), head.files.get(&id))
    else {
        return Ok(());
    };
    let conflict = |key: &Key| conflict(&head.catalog, table, key);
    refuse_row_conflicts(file, &loads, snapshot.timestamp(), conflict)
}

/// Refuses a transaction that conflicts with a prepared one.
fn refuse_held(
    published: &Published,
    prepared: &PreparedWrites,
    request: &CommitRequest,
) -> Result<(), Error> {
    let changes = &request.catalog_changes;
    let conflict = |id: TableId| {
        let table = published.catalog.table_by_id(id);
        Error::SchemaConflict { relation: table.map_or_else(String::new, |t| t.name.clone()) }
    };
    if prepared.has_shared_changes && changes.iter().any(|c| request.is_shared(c)) {
        return Err(Error::SchemaConflict { relation: "catalog".to_owned() });
    }
    let mut changed = changes.iter().filter_map(CatalogChange::table);
    if let Some(id) = changed.find(|id| prepared.writes.contains_key(id)) {
        return Err(conflict(id));
    }
    let mut changed = prepared.changes.iter().filter_map(CatalogChange::table);
    if let Some(id) = changed.find(|id| request.writes.contains_key(id)) {
        return Err(conflict(id));
    }
    for (id, writes) in &request.writes {
        let Some(held) = prepared.writes.get(id) else { continue };
        let lost = writes.required_key_lost(held).or_else(|| held.required_key_lost(writes));
        let Some(key) = lost.cloned().or_else(|| writes.shared_key(held)) else { continue };
        let Some(table) = published.catalog.table_by_id(*id) else { return Err(conflict(*id)) };
        return Err(self::conflict(&published.catalog, table, &key));
    }
    Ok(())
}
