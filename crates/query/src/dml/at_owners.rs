//! UPDATE and DELETE that the owners of their rows can execute.

use super::{delete, update};
use crate::context::Frame;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::sql::sqlparser::ast::Statement;
use scan::tables::Tables;
use std::sync::Arc;
use values::error::Result;

/// The query of an UPDATE or DELETE that can be pushed down; `None` for any other statement.
pub(crate) async fn query(
    frame: &Frame<'_>,
    tables: &dyn Tables,
    statement: &Statement,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let pushdown = match statement {
        Statement::Update(update) => update::plan(frame, tables, update).await?.at_owners(frame)?,
        Statement::Delete(delete) => delete::plan(frame, tables, delete).await?.at_owners(frame)?,
        _ => None,
    };
    Ok(pushdown.map(|pushdown| pushdown.query))
}
