//! The types of the system's own tables as clients know them: `oid`, `name`, `"char"`, vectors, names of functions.
//!
//! Inside, ids are 64-bit numbers and vectors are arrays, so that every function and comparison takes them. Where a
//! result goes to a client, its columns say what PostgreSQL says: drivers decide by that how to read them. asyncpg
//! cannot begin without `oid[]` and `"char"`, pgjdbc and Rails split the text of vectors at spaces.

use crate::types::{self, SYSTEM_TYPE_KEY, TYPE_KEY};
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::metadata::FieldMetadata;
use datafusion::common::{Column, Result};
use datafusion::execution::SessionState;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, cast, lit};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The plan with its columns as clients know their types.
pub(super) fn of_plan(plan: LogicalPlan, engine: &SessionState) -> Result<LogicalPlan> {
    let known = |field: &Arc<Field>| system_type(field).is_some();
    if !plan.schema().fields().iter().any(known) {
        return Ok(plan);
    }
    let columns = plan.schema().iter().map(|(relation, field)| {
        let column = Expr::Column(Column::new(relation.cloned(), field.name()));
        match system_type(field) {
            Some(name) => shown(column, &name, field.data_type(), engine)
                .map(|(expr, name)| {
                    let metadata: BTreeMap<String, String> =
                        name.map(|name| (TYPE_KEY.to_owned(), name)).into_iter().collect();
                    let metadata = Some(FieldMetadata::from(metadata));
                    expr.alias_qualified_with_metadata(relation.cloned(), field.name(), metadata)
                })
                .unwrap_or_else(|| Expr::Column(Column::new(relation.cloned(), field.name()))),
            None => column,
        }
    });
    let columns: Vec<Expr> = columns.collect();
    LogicalPlanBuilder::from(plan).project(columns)?.build()
}

/// The system's own type of a column.
fn system_type(field: &Field) -> Option<String> {
    // asyncpg's question about types gathers ids with CASE and recursion, where the engine forgets what they are.
    if field.name() == "attrtypoids" {
        return Some("oid[]".to_owned());
    }
    field.metadata().get(SYSTEM_TYPE_KEY).cloned()
}

/// A column as it is shown, and the name of its type where it is one that [`types::of_field`] must be told.
fn shown(
    column: Expr,
    name: &str,
    data_type: &DataType,
    engine: &SessionState,
) -> Option<(Expr, Option<String>)> {
    let call = |function: &str, arguments: Vec<Expr>| {
        engine.scalar_functions().get(function).map(|function| function.call(arguments))
    };
    let named = || Some(name.to_owned());
    match (name, data_type) {
        ("oid" | "xid" | "cid", DataType::Int64) => {
            Some((cast(column, DataType::UInt32), Some("oid".to_owned())))
        }
        ("oid[]", DataType::List(_)) => Some((cast(column, types::oids()), named())),
        ("int2vector" | "oidvector", DataType::List(_)) => {
            Some((call("array_to_string", vec![column, lit(" ")])?, None))
        }
        ("name" | "\"char\"", DataType::Utf8View) => Some((column, named())),
        (object, DataType::Int64) => Some((call(&format!("{object}out"), vec![column])?, None)),
        _ => None,
    }
}
