//! ALTER ... RENAME.

use super::{alter_view, checks, dependents, index, index_columns, primary_key, triggers, uses};
use crate::context::Frame;
use crate::dml::declared_column;
use catalog_views::pg_catalog::quote_ident;
use catalog_views::relation_names::{a_kind, find_named, undefined};
use parser::commands::{ObjectKind, Rename, Renamed};
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{CatalogChange, Privileges, Relation, Sequence, Table, View};
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
    let name = &rename.relation;
    let Some(relation) = find_named(transaction.catalog(), frame.path(), name)?.cloned() else {
        if rename_key_index(frame, transaction, rename)? {
            return Ok(());
        }
        if rename.if_exists {
            frame.skip_missing("relation", &name.name);
            return Ok(());
        }
        return Err(undefined(name));
    };
    frame.access(transaction.catalog()).require(&relation, Privileges::OWNER)?;
    // ALTER TABLE is for views and sequences, too.
    if rename.kind != ObjectKind::Table && relation.kind() != rename.kind.name() {
        let message = format!("\"{}\" is not {}", relation.name(), a_kind(rename.kind.name()));
        return Err(Error::new(SqlState::WrongObjectType, message));
    }
    let to = &rename.to;
    if rename_index(transaction, &relation, rename)? {
        return Ok(());
    }
    let read = refuse_read(frame, transaction, &relation, &rename.renamed).await;
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
            Relation::View(Arc::new(renamed))
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
    transaction.change_catalog(CatalogChange::Replace(next))?;
    // What is wrong with the name itself counts before who reads it.
    read?;
    if let (Relation::Table(table), Renamed::Column(old)) = (&relation, &rename.renamed)
        && let Some((_, column)) = table.column(old)
    {
        index_columns::follow_name(transaction, table.id, (column.id, old, to))?;
        triggers::follow_name(transaction, table.id, old, to)?;
    }
    Ok(())
}

/// Refuses a new name where views, defaults and constraints read what has the old one: they are kept as texts with it.
///
/// # Errors
/// 0A000.
async fn refuse_read(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    relation: &Relation,
    renamed: &Renamed,
) -> Result<()> {
    let catalog = transaction.catalog();
    let view = match (relation, renamed) {
        (Relation::Table(table), Renamed::Column(column)) => {
            dependents::of_column(frame, transaction, table, column).await?
        }
        (Relation::Table(_) | Relation::View(_), Renamed::Relation) => {
            dependents::of_relation(frame, catalog, relation.id()).first().cloned()
        }
        (Relation::Sequence(sequence), _) => return uses::refuse_moved(frame, catalog, sequence),
        _ => None,
    };
    match view {
        Some(view) => {
            let what = format!("renaming what the view {} reads", view.name);
            Err(Error::unsupported(format!("{what} is not supported")))
        }
        None => Ok(()),
    }
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
