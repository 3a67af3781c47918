//! DROP TABLE, DROP VIEW, DROP SEQUENCE, DROP INDEX and DROP SCHEMA.

use super::drop_relation::drop_one;
use super::{dependents, functions, index, primary_key, user_type};
use crate::context::Frame;
use catalog_views::other_kinds::{refuse_drop, wrong_drop};
use catalog_views::relation_names::find_named;
use parser::commands::{Drop, ObjectKind, RelationName};
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{
    Catalog, CatalogChange, Index, Privileges, RESERVED_SCHEMAS, Relation, RelationId, Table,
};
use values::error::{Error, Result, SqlState};

/// Runs a DROP.
pub(crate) fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    drop: &Drop,
) -> Result<()> {
    if drop.is_concurrent && (drop.names.len() > 1 || drop.cascade) {
        let is_of_many = drop.names.len() > 1;
        let what = if is_of_many { "dropping multiple objects" } else { "CASCADE" };
        let message = format!("DROP INDEX CONCURRENTLY does not support {what}");
        return Err(Error::new(SqlState::FeatureNotSupported, message));
    }
    match drop.kind {
        ObjectKind::Schema => drop.names.iter().enumerate().try_for_each(|(at, name)| {
            match drop.names[..at].contains(name) {
                true => Ok(()),
                false => drop_schema(frame, transaction, &name.name, drop),
            }
        }),
        ObjectKind::Type | ObjectKind::Domain => user_type::drop(frame, transaction, drop),
        _ => drop_relations(frame, transaction, drop),
    }
}

/// Drops relations, the views that read others of them first.
fn drop_relations(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    drop: &Drop,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let are_views = matches!(drop.kind, ObjectKind::View | ObjectKind::MaterializedView);
    let mut found: Vec<(RelationId, Vec<RelationId>)> = Vec::new();
    for name in &drop.names {
        let Some(relation) = named(frame, transaction, name, drop)? else { continue };
        if found.iter().all(|(known, _)| *known != relation.id()) {
            let mut readers = Vec::new();
            if are_views && drop.names.len() > 1 {
                readers = dependents::of_relation(frame, &catalog, relation.id());
            }
            found.push((relation.id(), readers.iter().map(|view| view.id).collect()));
        }
    }
    let ids: Vec<RelationId> = found.iter().map(|(id, _)| *id).collect();
    let goes = |of: &Table| ids.contains(&of.id.relation());
    for (id, _) in dependents::ordered(found, |(other, _), (_, readers)| readers.contains(other)) {
        let now = transaction.catalog().relation_by_id(id).cloned();
        match &now {
            None => {}
            Some(Relation::Index(index)) => drop_index(frame, transaction, index, drop.cascade)?,
            Some(relation) => drop_one(frame, transaction, relation, drop.cascade, &goes)?,
        }
    }
    Ok(())
}

/// The relation of a name, which the role may drop. `None` if there is none, with IF EXISTS.
fn named(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    name: &RelationName,
    drop: &Drop,
) -> Result<Option<Relation>> {
    let catalog = Arc::clone(transaction.catalog());
    let wanted = drop.kind.name();
    if let Some(schema) = &name.schema
        && catalog.schema(frame.path().resolve(schema)).is_none()
        && !RESERVED_SCHEMAS.contains(&schema.as_str())
    {
        if drop.if_exists {
            frame.skip_missing("schema", schema);
            return Ok(None);
        }
        let message = format!("schema \"{schema}\" does not exist");
        return Err(Error::new(SqlState::InvalidSchemaName, message));
    }
    let Some(relation) = find_named(&catalog, frame.path(), name)? else {
        refuse_key(frame, transaction, name, drop.kind)?;
        refuse_drop(&catalog, frame.path(), name, drop.kind)?;
        if drop.if_exists {
            frame.skip_missing(wanted, &name.name);
            return Ok(None);
        }
        return Err(missing(drop.kind, name));
    };
    if relation.kind() != wanted {
        return Err(wrong_drop(relation.name(), drop.kind, relation.kind()));
    }
    if let Relation::Sequence(sequence) = relation
        && sequence.owned_by.is_some_and(|(table, _)| catalog.table_by_id(table).is_some())
    {
        let message = format!("cannot drop sequence \"{}\": a column uses it", sequence.name);
        return Err(Error::new(SqlState::DependentObjectsStillExist, message));
    }
    may_drop(frame, &catalog, relation)?;
    Ok(Some(relation.clone()))
}

/// Drops an index that belongs to no constraint.
///
/// # Errors
/// 2BP01 if it belongs to one.
fn drop_index(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    index: &Index,
    cascade: bool,
) -> Result<()> {
    let name = &index.file.name;
    let table = transaction.catalog().table_by_id(index.table);
    if let (true, Some(table)) = (index.is_constraint, table) {
        return Err(required(table, name));
    }
    index::drop_with_dependents(frame, transaction, index, cascade)
}

/// The error for a relation that does not exist.
fn missing(kind: ObjectKind, name: &RelationName) -> Error {
    let state = match kind {
        ObjectKind::Index => SqlState::UndefinedObject,
        _ => SqlState::UndefinedTable,
    };
    Error::new(state, format!("{} \"{name}\" does not exist", kind.name()))
}

/// Refuses to drop the index of a primary key.
///
/// # Errors
/// 2BP01.
fn refuse_key(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    name: &RelationName,
    kind: ObjectKind,
) -> Result<()> {
    let table = primary_key::named(frame, transaction, name);
    let Some(table) = table.filter(|_| kind == ObjectKind::Index) else { return Ok(()) };
    let catalog = transaction.catalog();
    frame.access(catalog).require(&Relation::Table(Arc::clone(&table)), Privileges::OWNER)?;
    Err(required(&table, &table.key_name()))
}

/// The error for an index that a constraint needs.
fn required(table: &Table, name: &str) -> Error {
    let constraint = format!("constraint {name} on table {}", table.name);
    let message = format!("cannot drop index {name} because {constraint} requires it");
    Error::new(SqlState::DependentObjectsStillExist, message)
        .with_hint(format!("You can drop {constraint} instead."))
}

/// Checks that the role owns the relation or its schema.
fn may_drop(frame: &Frame<'_>, catalog: &Catalog, relation: &Relation) -> Result<()> {
    let access = frame.access(catalog);
    let of_schema = access.require_schema(relation.schema(), Privileges::OWNER);
    of_schema.or_else(|_| access.require(relation, Privileges::OWNER))
}

fn drop_schema(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    name: &str,
    drop: &Drop,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    if catalog.schema(name).is_none() && drop.if_exists {
        frame.skip_missing("schema", name);
        return Ok(());
    }
    if catalog.schema(name).is_some() {
        frame.access(&catalog).require_schema(name, Privileges::OWNER)?;
    }
    if drop.cascade {
        let goes = |of: &Table| of.schema == name;
        for relation in catalog.relations_in(name) {
            // What belongs to tables goes with them.
            let is_owned = matches!(relation, Relation::Index(_))
                || matches!(relation, Relation::Sequence(of) if of.owned_by.is_some());
            let now = transaction.catalog().relation_by_id(relation.id()).cloned();
            if let Some(relation) = now.filter(|_| !is_owned) {
                drop_one(frame, transaction, &relation, true, &goes)?;
            }
        }
        for function in catalog.functions_in(name) {
            if transaction.catalog().functions().any(|now| now.id == function.id) {
                functions::drop_one(frame, transaction, function, true)?;
            }
        }
    }
    let types = catalog.user_types().filter(|user| drop.cascade && user.schema == name);
    user_type::drop_all(frame, transaction, types.cloned().collect(), true)?;
    transaction.change_catalog(CatalogChange::DropSchema(name.to_owned()))?;
    Ok(())
}
