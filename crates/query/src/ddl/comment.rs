//! COMMENT ON.

use super::{primary_key, user_type};
use crate::context::Frame;
use crate::dml::{declared_column, named_target};
use catalog_views::relation_names::{a_kind, find_named, missing_relation};
use catalog_views::shared_comments;
use parser::commands::{Comment, Commented, RelationName};
use planner::unique_names;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{CatalogChange, Index, Privileges, Relation, Schema, Sequence, Table, View};
use values::error::{Error, Result, SqlState};

/// Runs a COMMENT ON.
pub(crate) async fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    statement: &Comment,
) -> Result<()> {
    let comment = statement.text.clone();
    let change = match &statement.on {
        Commented::Type(name) => return user_type::comment(frame, transaction, name, comment),
        Commented::DomainConstraint(domain, name) => {
            return user_type::comment_check(frame, transaction, (domain, name), comment);
        }
        Commented::TableConstraint(table, name) => {
            let table = named_target(frame, transaction, table, Privileges::OWNER)?;
            return integrity::comment(transaction, &table, name, comment);
        }
        Commented::Role(name) => {
            shared_comments::on_role(frame.access(transaction.catalog()), name, comment)?
        }
        Commented::Database(name) => {
            let access = frame.access(transaction.catalog());
            let Some(change) = shared_comments::on_database(access, name, comment)? else {
                let message = format!("database \"{name}\" does not exist");
                frame.session.warn(SqlState::InvalidCatalogName, message);
                return Ok(());
            };
            change
        }
        Commented::Column(relation, name) => {
            column(frame, transaction, (relation, name), comment).await?
        }
        Commented::Schema(name) => {
            if transaction.catalog().schema(name).is_none() {
                let message = format!("schema \"{name}\" does not exist");
                return Err(Error::new(SqlState::InvalidSchemaName, message));
            }
            frame.access(transaction.catalog()).require_schema(name, Privileges::OWNER)?;
            CatalogChange::ReplaceSchema(Schema { name: name.clone(), comment })
        }
        Commented::Relation(kind, name) => {
            let relation = commented(frame, transaction, name)?;
            if relation.kind() != kind.name() {
                let message = format!("\"{}\" is not {}", relation.name(), a_kind(kind.name()));
                return Err(Error::new(SqlState::WrongObjectType, message));
            }
            frame.access(transaction.catalog()).require(relation, Privileges::OWNER)?;
            CatalogChange::Replace(match relation {
                Relation::Table(table) => Relation::Table(Arc::new(Table {
                    comment,
                    version: table.version + 1,
                    ..Table::clone(table)
                })),
                Relation::View(view) => {
                    Relation::View(Arc::new(View { comment, ..View::clone(view) }))
                }
                Relation::Sequence(sequence) => {
                    Relation::Sequence(Arc::new(Sequence { comment, ..Sequence::clone(sequence) }))
                }
                Relation::Index(index) => {
                    let version = index.file.version + 1;
                    let file = Table { comment, version, ..Table::clone(&index.file) };
                    Relation::Index(Arc::new(Index { file: Arc::new(file), ..Index::clone(index) }))
                }
            })
        }
    };
    transaction.change_catalog(change)?;
    Ok(())
}

/// The relation that a comment is for.
///
/// # Errors
/// 42P01 and 3F000 if there is none; 0A000 for the index of a primary key.
fn commented<'a>(
    frame: &Frame<'_>,
    transaction: &'a DistributedTransaction,
    name: &RelationName,
) -> Result<&'a Relation> {
    let (catalog, path) = (transaction.catalog(), frame.path());
    if let Some(relation) = find_named(catalog, path, name)? {
        return Ok(relation);
    }
    if primary_key::named(frame, transaction, name).is_some() {
        let message = "a comment on the index of a primary key is not supported";
        return Err(Error::unsupported(message).with_hint("Comment on the constraint."));
    }
    Err(missing_relation(catalog, path, name))
}

async fn column(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    (relation, column): (&RelationName, &str),
    comment: Option<String>,
) -> Result<CatalogChange> {
    let catalog = transaction.catalog();
    let found = find_named(catalog, frame.path(), relation)?;
    let table = match found {
        Some(Relation::View(view)) => {
            frame.access(catalog).require(&Relation::View(Arc::clone(view)), Privileges::OWNER)?;
            let number = view_column(frame, transaction, view, column).await?;
            let mut view = View::clone(view);
            view.options.set_comment(number, comment);
            return Ok(CatalogChange::Replace(Relation::View(Arc::new(view))));
        }
        Some(found @ Relation::Table(table)) if table.materialized.is_some() => {
            frame.access(catalog).require(found, Privileges::OWNER)?;
            Arc::clone(table)
        }
        Some(found @ (Relation::Index(_) | Relation::Sequence(_))) => {
            let message = format!("cannot set comment on relation \"{}\"", found.name());
            let kinds = if found.kind() == "index" { "indexes" } else { "sequences" };
            let detail = format!("This operation is not supported for {kinds}.");
            return Err(Error::new(SqlState::WrongObjectType, message).with_detail(detail));
        }
        _ => named_target(frame, transaction, relation, Privileges::OWNER)?,
    };
    let index = declared_column(&table, column)?;
    let mut table = Table::clone(&table);
    table.columns[index].comment = comment;
    table.version += 1;
    Ok(CatalogChange::Replace(Relation::Table(Arc::new(table))))
}

/// The number of a view's column, from 1.
async fn view_column(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    view: &View,
    column: &str,
) -> Result<u32> {
    let plan = frame.planner(transaction).view_plan(view).await?;
    let mut fields = (1..).zip(plan.schema().fields());
    let named = fields.find(|(_, field)| unique_names::shown(field.name()) == column);
    named.map(|(number, _)| number).ok_or_else(|| {
        let message = format!("column \"{column}\" of relation \"{}\" does not exist", view.name);
        Error::new(SqlState::UndefinedColumn, message)
    })
}
