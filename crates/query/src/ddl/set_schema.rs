//! ALTER ... SET SCHEMA. The indexes and sequences of a table go with it.

use super::follow;
use crate::context::Frame;
use catalog_views::other_kinds::refuse_composite;
use catalog_views::relation_names::{a_kind, find_named, missing_relation};
use parser::commands::{ObjectKind, SetSchema};
use renaming::{moved_table, refuse_taken};
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{
    Catalog, CatalogChange, Privileges, Relation, Sequence, View, is_temporary_schema,
};
use values::error::{Error, Result, SqlState};

/// Runs an ALTER ... SET SCHEMA.
///
/// # Errors
/// 42P01 for the relation, 3F000 for the schema, 42P07 if the name is taken there, 0A000 for temporary schemas, and for
/// definitions that would not mean the same.
pub(super) async fn run(
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
        refuse_composite(&catalog, frame.path(), name)?;
        return Err(missing_relation(&catalog, frame.path(), name));
    };
    frame.access(&catalog).require(relation, Privileges::OWNER)?;
    // ALTER TABLE is for views, too.
    if change.kind != ObjectKind::Table && relation.kind() != change.kind.name() {
        let message = format!("\"{}\" is not {}", relation.name(), a_kind(change.kind.name()));
        return Err(Error::new(SqlState::WrongObjectType, message));
    }
    let to = frame.path().resolve(&change.schema);
    if relation.schema() == to {
        return require_schema(&catalog, to);
    }
    may_move(frame, &catalog, (relation.schema(), to))?;
    let changes = match relation {
        Relation::Table(table) => moved_table(&catalog, table, to)?,
        Relation::View(view) => {
            refuse_taken(&catalog, to, &view.name)?;
            let moved = View { schema: to.to_owned(), ..View::clone(view) };
            vec![CatalogChange::Replace(Relation::View(Arc::new(moved)))]
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
            let moved = Sequence { schema: to.to_owned(), ..Sequence::clone(sequence) };
            vec![CatalogChange::Replace(Relation::Sequence(Arc::new(moved)))]
        }
        Relation::Index(_) => {
            return Err(Error::unsupported("ALTER INDEX ... SET SCHEMA is not supported"));
        }
    };
    follow::change(frame, transaction, changes, None).await
}

/// Refuses the name of a schema that there is not.
///
/// # Errors
/// 3F000.
pub(super) fn require_schema(catalog: &Catalog, name: &str) -> Result<()> {
    if catalog.schema(name).is_some() {
        return Ok(());
    }
    Err(Error::new(SqlState::InvalidSchemaName, format!("schema \"{name}\" does not exist")))
}

/// Checks that something can go from a schema to another one.
///
/// # Errors
/// 3F000, 42501; 0A000 for temporary schemas.
pub(super) fn may_move(
    frame: &Frame<'_>,
    catalog: &Arc<Catalog>,
    (from, to): (&str, &str),
) -> Result<()> {
    let refused = || Error::unsupported("cannot move objects into or out of temporary schemas");
    if is_temporary_schema(to) {
        return Err(refused());
    }
    require_schema(catalog, to)?;
    frame.access(catalog).require_schema(to, Privileges::CREATE)?;
    if is_temporary_schema(from) { Err(refused()) } else { Ok(()) }
}
