//! ALTER ... SET SCHEMA. The indexes and sequences of a table go with it.

use super::dependents;
use super::identity::next_value;
use super::uses;
use crate::context::Frame;
use catalog_views::relation_names::{a_kind, find_named, undefined};
use parser::commands::{ObjectKind, SetSchema};
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{
    Catalog, CatalogChange, Index, Privileges, Relation, Sequence, Table, View, is_temporary_schema,
};
use values::error::{Error, Result, SqlState};

/// Runs an ALTER ... SET SCHEMA.
///
/// # Errors
/// 42P01 for the relation, 3F000 for the schema, 42P07 if the name is taken there, 0A000 for temporary schemas, and for
/// what views read: their texts have the names of before.
pub(super) fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    change: &SetSchema,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let name = &change.relation;
    let Some(relation) = find_named(&catalog, frame.path(), name)? else {
        if change.if_exists {
            frame.skip_missing("relation", &name.name);
            return Ok(());
        }
        return Err(undefined(name));
    };
    frame.access(&catalog).require(relation, Privileges::OWNER)?;
    // ALTER TABLE is for views, too.
    if change.kind != ObjectKind::Table && relation.kind() != change.kind.name() {
        let message = format!("\"{}\" is not {}", relation.name(), a_kind(change.kind.name()));
        return Err(Error::new(SqlState::WrongObjectType, message));
    }
    let to = frame.path().resolve(&change.schema);
    if catalog.schema(to).is_none() {
        let message = format!("schema \"{to}\" does not exist");
        return Err(Error::new(SqlState::InvalidSchemaName, message));
    }
    if relation.schema() == to {
        return Ok(());
    }
    frame.access(&catalog).require_schema(to, Privileges::CREATE)?;
    if is_temporary_schema(to) || relation.is_temporary() {
        let message = "cannot move objects into or out of temporary schemas";
        return Err(Error::unsupported(message));
    }
    if let Some(view) = dependents::of_relation(frame, &catalog, relation.id()).first() {
        let message = format!("SET SCHEMA of what the view {} reads is not supported", view.name);
        return Err(Error::unsupported(message));
    }
    match relation {
        Relation::Table(table) => move_table(transaction, &catalog, table, to),
        Relation::View(view) => {
            refuse_taken(&catalog, to, &view.name)?;
            let moved = View { schema: to.to_owned(), ..View::clone(view) };
            put(transaction, Relation::View(Arc::new(moved)))
        }
        Relation::Sequence(sequence) => {
            let owner = sequence.owned_by.and_then(|(table, _)| catalog.table_by_id(table));
            if let Some(table) = owner {
                let (name, table) = (&sequence.name, &table.name);
                let detail = format!("Sequence \"{name}\" is linked to table \"{table}\".");
                let message = "cannot move an owned sequence into another schema";
                return Err(Error::unsupported(message).with_detail(detail));
            }
            refuse_taken(&catalog, to, &sequence.name)?;
            uses::refuse_moved(frame, &catalog, sequence)?;
            let moved = Sequence { schema: to.to_owned(), ..Sequence::clone(sequence) };
            put(transaction, Relation::Sequence(Arc::new(moved)))
        }
        Relation::Index(_) => {
            Err(Error::unsupported("ALTER INDEX ... SET SCHEMA is not supported"))
        }
    }
}

/// Moves a table with its sequences and indexes.
fn move_table(
    transaction: &mut DistributedTransaction,
    catalog: &Catalog,
    table: &Table,
    to: &str,
) -> Result<()> {
    refuse_taken(catalog, to, &table.name)?;
    let mut moved =
        Table { schema: to.to_owned(), version: table.version + 1, ..Table::clone(table) };
    for relation in catalog.relations() {
        let Relation::Sequence(sequence) = relation else { continue };
        let Some((_, column)) = sequence.owned_by.filter(|(owner, _)| *owner == table.id) else {
            continue;
        };
        refuse_taken(catalog, to, &sequence.name)?;
        let next = Sequence { schema: to.to_owned(), ..Sequence::clone(sequence) };
        let own = moved.columns.iter_mut().find(|own| own.id == column);
        let default = own.and_then(|own| own.default.as_mut());
        if let Some(default) =
            default.filter(|default| **default == next_value(&sequence.schema, &sequence.name))
        {
            *default = next_value(&next.schema, &next.name);
        }
        put(transaction, Relation::Sequence(Arc::new(next)))?;
    }
    for index in catalog.indexes_of(table.id) {
        refuse_taken(catalog, to, &index.file.name)?;
        let version = index.file.version + 1;
        let file = Table { schema: to.to_owned(), version, ..Table::clone(&index.file) };
        let next = Index { file: Arc::new(file), ..Index::clone(index) };
        put(transaction, Relation::Index(Arc::new(next)))?;
    }
    put(transaction, Relation::Table(Arc::new(moved)))
}

fn put(transaction: &mut DistributedTransaction, relation: Relation) -> Result<()> {
    Ok(transaction.change_catalog(CatalogChange::Replace(relation))?)
}

fn refuse_taken(catalog: &Catalog, schema: &str, name: &str) -> Result<()> {
    match catalog.relation(schema, name) {
        None => Ok(()),
        Some(_) => {
            let message = format!("relation \"{name}\" already exists in schema \"{schema}\"");
            Err(Error::new(SqlState::DuplicateTable, message))
        }
    }
}
