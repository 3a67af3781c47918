//! Queries, also those that lock the row of a key.

use super::{indexes_of, only_table};
use crate::context::Frame;
use crate::short::returning::fields_of;
use crate::short::{Action, Short};
use grammar::tree::{Node, NodeEnum, RangeVar, SelectStmt};
use keyed::{Read, is_plain};
use parser::commands::locking::{self, LockingClause, Strength, Wait};
use scan::tables::Tables;
use store::LockPolicy;
use store::catalog::{Privileges, SqlType};
use store::locks::Mode;
use values::field::Field;

pub(super) fn select(frame: &Frame<'_>, tables: &dyn Tables, query: &SelectStmt) -> Option<Short> {
    let [Node { node: Some(NodeEnum::RangeVar(range)) }] = &query.from_clause[..] else {
        return None;
    };
    if !query.locking_clause.is_empty() {
        return lock(frame, tables, query, range);
    }
    if !is_plain(query) {
        return None;
    }
    let (table, alias) = only_table(frame, tables, range, Privileges::SELECT)?;
    let read = Read::recognise((&table, indexes_of(tables, &table)), alias, query)?;
    if !read.is_by_key() && frame.session.shared.store.peers().is_some() {
        return None;
    }
    let mut fields = fields_of(&table, read.columns(), read.names());
    if let (true, [name]) = (read.is_count(), read.names()) {
        fields.push(Field::new(name.clone(), SqlType::BigInt));
    }
    let action = Action::Select { read: Box::new(read), fields: fields.into() };
    Some(Short::unwatched(table, action))
}

/// A query of the row of a key with a locking clause.
fn lock(
    frame: &Frame<'_>,
    tables: &dyn Tables,
    query: &SelectStmt,
    range: &RangeVar,
) -> Option<Short> {
    let [LockingClause { strength, wait, of }] = &locking::clauses(query)[..] else { return None };
    let mut plain = query.clone();
    plain.locking_clause.clear();
    if !is_plain(&plain) {
        return None;
    }
    let needed = Privileges::SELECT.union(Privileges::UPDATE);
    let (table, alias) = only_table(frame, tables, range, needed)?;
    if of.iter().any(|name| name != alias.unwrap_or(&table.name)) || table.materialized.is_some() {
        return None;
    }
    let read = Read::recognise((&table, &[]), alias, &plain)?;
    read.point()?;
    let (mode, policy) = (mode_of(*strength), policy_of(*wait));
    let fields = fields_of(&table, read.columns(), read.names()).into();
    let action = Action::Lock { read: Box::new(read), fields, mode, policy };
    Some(Short::unwatched(table, action))
}

pub(super) fn mode_of(strength: Strength) -> Mode {
    match strength {
        Strength::KeyShare => Mode::ForKeyShare,
        Strength::Share => Mode::ForShare,
        Strength::NoKeyUpdate => Mode::ForNoKeyUpdate,
        Strength::Update => Mode::ForUpdate,
    }
}

pub(super) fn policy_of(wait: Wait) -> LockPolicy {
    match wait {
        Wait::Block => LockPolicy::Wait,
        Wait::Skip => LockPolicy::Skip,
        Wait::Error => LockPolicy::Refuse,
    }
}
