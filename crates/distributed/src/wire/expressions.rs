//! Expressions over a table's rows as bytes: a projection in the engine's format.

use super::{Codec, out_of_range};
use datafusion::arrow::datatypes::{FieldRef, Schema};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::projection::ProjectionExpr;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion_proto::bytes::{
    physical_plan_from_bytes_with_extension_codec, physical_plan_to_bytes_with_extension_codec,
};
use scan::provider::row_schema;
use std::sync::Arc;
use store::catalog::Table;
use values::Result;

/// Writes portable expressions over a table's rows, followed by the columns `inputs`.
///
/// # Errors
/// If an expression cannot be written.
pub fn to_bytes(
    table: &Table,
    inputs: &[FieldRef],
    expressions: impl IntoIterator<Item = Arc<dyn PhysicalExpr>>,
) -> Result<Vec<u8>> {
    let named = expressions.into_iter().enumerate();
    let named = named.map(|(at, expr)| ProjectionExpr { expr, alias: at.to_string() });
    let row = row_schema(table);
    let fields: Vec<FieldRef> = row.fields().iter().chain(inputs).cloned().collect();
    let none = Arc::new(EmptyExec::new(Arc::new(Schema::new(fields))));
    let plan = Arc::new(ProjectionExec::try_new(named.collect::<Vec<_>>(), none)?);
    Ok(physical_plan_to_bytes_with_extension_codec(plan, &Codec::default())?.into())
}

/// Reads expressions that another server has written.
///
/// # Errors
/// If the bytes are not such expressions.
pub fn from_bytes(bytes: &[u8], context: &Arc<TaskContext>) -> Result<Vec<Arc<dyn PhysicalExpr>>> {
    let codec = Codec::reading(Vec::new(), context);
    let plan = physical_plan_from_bytes_with_extension_codec(bytes, context, &codec)?;
    match plan.downcast_ref::<ProjectionExec>() {
        Some(plan) => Ok(plan.expr().iter().map(|named| Arc::clone(&named.expr)).collect()),
        None => Err(out_of_range("expressions from another server are no projection")),
    }
}
