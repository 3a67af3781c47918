//! Statements that change definitions: CREATE, ALTER, DROP, TRUNCATE and COMMENT.

mod alter_table;
mod alter_type;
mod checks;
mod columns;
mod comment;
mod create_schema;
mod create_sequence;
mod create_table;
mod create_view;
mod dependents;
mod drop;
mod generated;
mod place;
mod table_options;
mod truncate;
mod unsupported;

use crate::context::Frame;
use crate::context::outcome::{Outcome, Tag};
use crate::context::temporary;
use datafusion::sql::sqlparser::ast::{DiscardObject, Statement};
use store::DistributedTransaction;
use values::error::Result;

/// Runs a statement that changes definitions.
pub(crate) async fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    statement: &Statement,
) -> Result<Outcome> {
    let tag = match statement {
        Statement::CreateTable(create) => {
            return create_table::run(frame, transaction, create).await;
        }
        Statement::CreateView(create) => create_view::run(frame, transaction, create).await?,
        Statement::CreateSchema { schema_name, if_not_exists, .. } => {
            create_schema::run(frame, transaction, schema_name, *if_not_exists)?
        }
        Statement::CreateSequence { .. } => create_sequence::run(frame, transaction, statement)?,
        Statement::AlterTable(alter) => alter_table::run(frame, transaction, alter).await?,
        Statement::Drop { .. } => drop::run(frame, transaction, statement)?,
        Statement::Truncate(truncate) => truncate::run(frame, transaction, truncate)?,
        Statement::Comment { .. } => comment::run(frame, transaction, statement)?,
        Statement::Analyze(_) => "ANALYZE",
        Statement::Vacuum(_) => "VACUUM",
        Statement::Discard { object_type } => {
            for change in temporary::drops(transaction.catalog(), frame.path().own()) {
                transaction.change_catalog(change)?;
            }
            if matches!(object_type, DiscardObject::ALL) { "DISCARD ALL" } else { "DISCARD TEMP" }
        }
        other => return Err(unsupported::statement(other)),
    };
    Ok(Outcome::Done(Tag::plain(tag)))
}
