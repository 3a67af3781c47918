//! DROP TABLE, DROP VIEW, DROP SEQUENCE and DROP SCHEMA.

use super::dependents;
use crate::context::Frame;
use catalog_views::relation_names::find;
use datafusion::sql::sqlparser::ast::{ObjectName, ObjectType, Statement};
use parser::names::split_name;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{Catalog, CatalogChange, Privileges, Relation, TableId};
use values::error::{Error, Result, SqlState};

/// Runs a DROP.
pub(crate) fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    statement: &Statement,
) -> Result<&'static str> {
    let Statement::Drop { object_type, if_exists, names, cascade, .. } = statement else {
        unreachable!("the statement is a DROP");
    };
    for name in names {
        match object_type {
            ObjectType::Schema => drop_schema(frame, transaction, name, *if_exists, *cascade)?,
            ObjectType::Table | ObjectType::View | ObjectType::Sequence => {
                drop_relation(frame, transaction, object_type, name, *if_exists, *cascade)?;
            }
            other => return Err(Error::unsupported(format!("DROP {other} is not supported"))),
        }
    }
    Ok(match object_type {
        ObjectType::Schema => "DROP SCHEMA",
        ObjectType::View => "DROP VIEW",
        ObjectType::Sequence => "DROP SEQUENCE",
        _ => "DROP TABLE",
    })
}

fn drop_relation(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    object_type: &ObjectType,
    name: &ObjectName,
    if_exists: bool,
    cascade: bool,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let wanted = object_type.to_string().to_lowercase();
    let Some(relation) = find(&catalog, frame.path(), name)? else {
        if if_exists {
            frame.skip_missing(&wanted, &split_name(name)?.1);
            return Ok(());
        }
        let message = format!("{wanted} \"{}\" does not exist", split_name(name)?.1);
        return Err(Error::new(SqlState::UndefinedTable, message));
    };
    if relation.kind() != wanted {
        let message = format!("\"{}\" is not a {wanted}", relation.name());
        return Err(Error::new(SqlState::WrongObjectType, message).with_hint(format!(
            "Use DROP {} to remove a {}.",
            relation.kind().to_uppercase(),
            relation.kind()
        )));
    }
    if let Relation::Sequence(sequence) = relation
        && sequence.owned_by.is_some_and(|(table, _)| catalog.table_by_id(table).is_some())
    {
        let message = format!("cannot drop sequence \"{}\": a column uses it", sequence.name);
        return Err(Error::new(SqlState::DependentObjectsStillExist, message));
    }
    may_drop(frame, &catalog, relation)?;
    drop_views(frame, transaction, relation, cascade)?;
    drop_with_owned(transaction, &catalog, relation)
}

/// With CASCADE, drops the views that depend on a relation, directly or indirectly.
///
/// # Errors
/// 2BP01 if there are dependent views without CASCADE.
fn drop_views(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    relation: &Relation,
    cascade: bool,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    for view in dependents::of_relation(frame, &catalog, relation.id()) {
        let (kind, name) = (relation.kind(), relation.name());
        if !cascade {
            let message = format!("cannot drop {kind} {name} because other objects depend on it");
            return Err(Error::new(SqlState::DependentObjectsStillExist, message)
                .with_detail(format!("view {} depends on {kind} {name}", view.name))
                .with_hint("Use DROP ... CASCADE to drop the dependent objects too."));
        }
        let view = Relation::View(view);
        if transaction.catalog().relation_by_id(view.id()).is_some() {
            drop_views(frame, transaction, &view, cascade)?;
            let message = format!("drop cascades to view {}", view.name());
            frame.session.notice(SqlState::SuccessfulCompletion, message);
            transaction.change_catalog(CatalogChange::Drop(view.id()))?;
        }
    }
    Ok(())
}

/// Checks that the role owns the relation or its schema.
fn may_drop(frame: &Frame<'_>, catalog: &Catalog, relation: &Relation) -> Result<()> {
    let access = frame.access(catalog);
    let of_schema = access.require_schema(relation.schema(), Privileges::OWNER);
    of_schema.or_else(|_| access.require(relation, Privileges::OWNER))
}

/// Drops a relation and the sequences that its columns own.
fn drop_with_owned(
    transaction: &mut DistributedTransaction,
    catalog: &Catalog,
    relation: &Relation,
) -> Result<()> {
    let owner = TableId(relation.id().0);
    for other in catalog.relations() {
        if let Relation::Sequence(sequence) = other
            && sequence.owned_by.is_some_and(|(table, _)| table == owner)
        {
            transaction.change_catalog(CatalogChange::Drop(sequence.id))?;
        }
    }
    transaction.change_catalog(CatalogChange::Drop(relation.id()))?;
    Ok(())
}

fn drop_schema(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    name: &ObjectName,
    if_exists: bool,
    cascade: bool,
) -> Result<()> {
    let (_, name) = split_name(name)?;
    let catalog = Arc::clone(transaction.catalog());
    if catalog.schema(&name).is_none() && if_exists {
        frame.skip_missing("schema", &name);
        return Ok(());
    }
    if catalog.schema(&name).is_some() {
        frame.access(&catalog).require_schema(&name, Privileges::OWNER)?;
    }
    if cascade {
        for relation in catalog.relations_in(&name) {
            if transaction.catalog().relation_by_id(relation.id()).is_some() {
                let now = Arc::clone(transaction.catalog());
                drop_with_owned(transaction, &now, relation)?;
            }
        }
    }
    transaction.change_catalog(CatalogChange::DropSchema(name))?;
    Ok(())
}
