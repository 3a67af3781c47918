//! ALTER ... RENAME.

use super::set_schema::require_schema;
use super::{alter_view, checks, follow, index, index_columns, primary_key, triggers};
use crate::context::Frame;
use crate::dml::declared_column;
use catalog_views::other_kinds::refuse_composite;
use catalog_views::pg_catalog::quote_ident;
use catalog_views::relation_names::{a_kind, find_named, missing_relation};
use parser::commands::{ObjectKind, Rename, Renamed};
use renaming::renamed_schema;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{
    CatalogChange, Privileges, Relation, Sequence, Table, View, is_temporary_schema,
};
use table_rows::columns::refuse_system;
use table_rows::generated::renamed;
use table_rows::typed;
use values::error::{Error, Result, SqlState};

/// Runs an ALTER ... RENAME.
pub(super) async fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    rename: &Rename,
) -> Result<()> {
    if rename.kind == ObjectKind::Schema {
        return rename_schema(frame, transaction, &rename.relation.name, &rename.to).await;
    }
    let name = &rename.relation;
    let Some(relation) = find_named(transaction.catalog(), frame.path(), name)?.cloned() else {
        if rename_key_index(frame, transaction, rename)? {
            return Ok(());
        }
        if rename.if_exists {
            frame.skip_missing("relation", &name.name);
            return Ok(());
        }
        refuse_composite(transaction.catalog(), frame.path(), name)?;
        return Err(missing_relation(transaction.catalog(), frame.path(), name));
    };
    frame.access(transaction.catalog()).require(&relation, Privileges::OWNER)?;
    if matches!(rename.renamed, Renamed::Relation) {
        let access = frame.access(transaction.catalog());
        access.require_schema(relation.schema(), Privileges::CREATE)?;
    }
    refuse_kind(&relation, rename)?;
    let to = &rename.to;
    if rename_index(transaction, &relation, rename)? {
        return Ok(());
    }
    let mut names = None;
    let next = match (&relation, &rename.renamed) {
        (Relation::Table(table), renamed) => {
            let mut next = Table::clone(table);
            match renamed {
                Renamed::Relation => next.rename(to),
                Renamed::Column(column) => rename_column(&mut next, column, to)?,
                Renamed::Constraint(check) => checks::rename(&mut next, check, to)?,
            }
            next.version += 1;
            Relation::Table(Arc::new(next))
        }
        (Relation::View(view), Renamed::Relation) => {
            Relation::View(Arc::new(View { name: to.clone(), ..View::clone(view) }))
        }
        (Relation::View(view), Renamed::Column(column)) => {
            let renamed = alter_view::rename_column(frame, transaction, view, column, to).await?;
            names = Some((view.id, renamed.1));
            Relation::View(Arc::new(renamed.0))
        }
        (Relation::Sequence(sequence), Renamed::Relation) => {
            let next = Sequence { name: to.clone(), ..Sequence::clone(sequence) };
            Relation::Sequence(Arc::new(next))
        }
        (relation, _) => {
            let what = format!("renaming parts of a {} is not supported", relation.kind());
            return Err(Error::unsupported(what));
        }
    };
    let names = names.as_ref().map(|(view, names)| (*view, names.as_slice()));
    follow::change(frame, transaction, vec![CatalogChange::Replace(next)], names).await?;
    if let (Relation::Table(table), Renamed::Column(old)) = (&relation, &rename.renamed)
        && let Some((_, column)) = table.column(old)
    {
        index_columns::follow_name(transaction, table.id, (column.id, old, to))?;
        triggers::follow_name(transaction, table.id, old, to)?;
    }
    Ok(())
}

/// Renames a schema.
async fn rename_schema(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    from: &str,
    to: &str,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    require_schema(&catalog, from)?;
    let changes = renamed_schema(&catalog, from, to)?;
    frame.access(&catalog).require_schema(from, Privileges::OWNER)?;
    frame.access(&catalog).require_create_on_database()?;
    if is_temporary_schema(from) || is_temporary_schema(to) {
        return Err(store::catalog::Error::ReservedName { name: to.to_owned() }.into());
    }
    follow::change(frame, transaction, changes, None).await
}

/// Refuses a statement for another kind of relation. ALTER TABLE and ALTER INDEX are for all.
///
/// # Errors
/// 42809.
fn refuse_kind(relation: &Relation, rename: &Rename) -> Result<()> {
    let is_for_all = match rename.kind {
        ObjectKind::Index => rename.renamed == Renamed::Relation,
        kind => kind == ObjectKind::Table,
    };
    if is_for_all || relation.kind() == rename.kind.name() {
        return Ok(());
    }
    let message = format!("\"{}\" is not {}", relation.name(), a_kind(rename.kind.name()));
    Err(Error::new(SqlState::WrongObjectType, message))
}

/// Renames the index of a primary key, and its constraint. Returns whether the statement is about one.
fn rename_key_index(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    rename: &Rename,
) -> Result<bool> {
    let is_index = matches!(rename.kind, ObjectKind::Index | ObjectKind::Table);
    let table = primary_key::named(frame, transaction, &rename.relation);
    let Some(table) = table.filter(|_| is_index && rename.renamed == Renamed::Relation) else {
        return Ok(false);
    };
    let of = Relation::Table(Arc::clone(&table));
    frame.access(transaction.catalog()).require(&of, Privileges::OWNER)?;
    primary_key::rename(transaction, &table, &rename.to)?;
    Ok(true)
}

/// Renames an index, or a constraint with one. Returns whether the statement is about such a thing.
fn rename_index(
    transaction: &mut DistributedTransaction,
    relation: &Relation,
    rename: &Rename,
) -> Result<bool> {
    let index = match (relation, &rename.renamed) {
        (Relation::Index(index), Renamed::Relation) => Some(Arc::clone(index)),
        (Relation::Table(table), Renamed::Constraint(name)) if table.is_key_name(name) => {
            primary_key::rename(transaction, table, &rename.to)?;
            return Ok(true);
        }
        (Relation::Table(table), Renamed::Constraint(name)) => {
            index::of_constraint(transaction, table.id, name)
        }
        _ => None,
    };
    match index {
        Some(index) => index::rename(transaction, &index, &rename.to).map(|()| true),
        None => Ok(false),
    }
}

fn rename_column(table: &mut Table, old: &str, new: &str) -> Result<()> {
    typed::refuse(table, "rename column of")?;
    let index = declared_column(table, old)?;
    refuse_taken(table, new)?;
    let quoted = quote_ident(new);
    for check in &mut table.checks {
        check.expression = renamed(&check.expression, old, &quoted)?;
    }
    for expression in table.columns.iter_mut().filter_map(|column| column.generated.as_mut()) {
        *expression = renamed(expression, old, &quoted)?;
    }
    table.columns[index].name = new.to_owned();
    Ok(())
}

/// Refuses a name that another column has.
///
/// # Errors
/// 42701.
pub(super) fn refuse_taken(table: &Table, name: &str) -> Result<()> {
    refuse_system(name)?;
    match table.column(name) {
        None => Ok(()),
        Some(_) => Err(Error::new(
            SqlState::DuplicateColumn,
            format!("column \"{name}\" of relation \"{}\" already exists", table.name),
        )),
    }
}
