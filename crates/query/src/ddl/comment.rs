//! COMMENT ON.

use crate::context::Frame;
use crate::dml::{declared_column, target};
use catalog_views::relation_names::{find, undefined};
use datafusion::sql::sqlparser::ast::{CommentObject, ObjectName, Statement};
use parser::names::split_name;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{CatalogChange, Privileges, Relation, Schema, Sequence, Table, View};
use values::error::{Error, Result, SqlState};

/// Runs a COMMENT ON.
pub(crate) fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    statement: &Statement,
) -> Result<&'static str> {
    let Statement::Comment { object_type, object_name, comment, .. } = statement else {
        unreachable!("the statement is a COMMENT");
    };
    let comment = comment.clone();
    let change = match object_type {
        CommentObject::Column => column(frame, transaction, object_name, comment)?,
        CommentObject::Schema => {
            let (_, name) = split_name(object_name)?;
            if transaction.catalog().schema(&name).is_none() {
                let message = format!("schema \"{name}\" does not exist");
                return Err(Error::new(SqlState::InvalidSchemaName, message));
            }
            frame.access(transaction.catalog()).require_schema(&name, Privileges::OWNER)?;
            CatalogChange::ReplaceSchema(Schema { name, comment })
        }
        CommentObject::Table | CommentObject::View | CommentObject::Sequence => {
            let path = frame.path();
            let relation = find(transaction.catalog(), path, object_name)?;
            let relation = relation.ok_or_else(|| undefined(object_name))?;
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
            })
        }
        other => return Err(Error::unsupported(format!("COMMENT ON {other} is not supported"))),
    };
    transaction.change_catalog(change)?;
    Ok("COMMENT")
}

fn column(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    name: &ObjectName,
    comment: Option<String>,
) -> Result<CatalogChange> {
    let (table_parts, column) = name.0.split_at(name.0.len().saturating_sub(1));
    let table = target(frame, transaction, &ObjectName(table_parts.to_vec()), Privileges::OWNER)?;
    let column = column.first().and_then(|part| part.as_ident());
    let column = column.map(parser::names::fold).unwrap_or_default();
    let index = declared_column(&table, &column)?;
    let mut table = Table::clone(&table);
    table.columns[index].comment = comment;
    table.version += 1;
    Ok(CatalogChange::Replace(Relation::Table(Arc::new(table))))
}
