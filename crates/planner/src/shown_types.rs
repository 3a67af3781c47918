//! Converts columns of system tables to their PostgreSQL types: `oid`, `name`, `"char"`, vectors.
//!
//! Internally, ids are 64-bit integers and vectors are arrays, so that all functions and
//! comparisons accept them. Results for clients have PostgreSQL's types, because drivers decode
//! values by them: asyncpg needs `oid[]` and `"char"`, pgjdbc and Rails split the text of vectors
//! at spaces.

use catalog_views::functions::Functions;
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::metadata::FieldMetadata;
use datafusion::common::{Column, Result};
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, cast, lit};
use std::collections::BTreeMap;
use values::types;
use values::types::{SYSTEM_TYPE_KEY, TYPE_KEY};

/// Converts the columns of a plan to the types that clients expect.
pub(super) fn of_plan(plan: LogicalPlan, functions: &Functions<'_>) -> Result<LogicalPlan> {
    let fields = plan.schema().fields().iter().enumerate();
    let names: Vec<Option<String>> =
        fields.map(|(index, field)| type_name(&plan, index, field)).collect();
    if names.iter().all(Option::is_none) {
        return Ok(plan);
    }
    let columns = plan.schema().iter().zip(names).map(|((relation, field), name)| {
        let column = Expr::Column(Column::new(relation.cloned(), field.name()));
        let shown =
            name.and_then(|name| shown(column.clone(), &name, field.data_type(), functions));
        let Some((expr, name)) = shown else { return column };
        let metadata: BTreeMap<String, String> =
            name.map(|name| (TYPE_KEY.to_owned(), name)).into_iter().collect();
        let metadata = Some(FieldMetadata::from(metadata));
        expr.alias_qualified_with_metadata(relation.cloned(), field.name(), metadata)
    });
    let columns: Vec<Expr> = columns.collect();
    LogicalPlanBuilder::from(plan).project(columns)?.build()
}

/// The name of a column's PostgreSQL type, if it differs from the type of the column.
fn type_name(plan: &LogicalPlan, index: usize, field: &Field) -> Option<String> {
    // asyncpg's query for types collects ids with CASE and recursion, which lose the metadata.
    if field.name() == "attrtypoids" {
        return Some("oid[]".to_owned());
    }
    if field.metadata().contains_key(TYPE_KEY) {
        return None;
    }
    field.metadata().get(SYSTEM_TYPE_KEY).cloned().or_else(|| of_choice(plan, index))
}

/// The name of the type of a CASE or `coalesce`, whose metadata DataFusion drops. SQLAlchemy
/// expects JSON there.
fn of_choice(plan: &LogicalPlan, index: usize) -> Option<String> {
    let projection = match plan {
        LogicalPlan::Projection(projection) => projection,
        LogicalPlan::Sort(sort) => return of_choice(&sort.input, index),
        LogicalPlan::Limit(limit) => return of_choice(&limit.input, index),
        LogicalPlan::SubqueryAlias(alias) => return of_choice(&alias.input, index),
        _ => return None,
    };
    let schema = projection.input.schema();
    let choices: Vec<Expr> = match projection.expr.get(index)?.clone().unalias_nested().data {
        Expr::Case(case) => {
            let thens = case.when_then_expr.into_iter().map(|(_, then)| *then);
            thens.chain(case.else_expr.map(|other| *other)).collect()
        }
        Expr::ScalarFunction(call) if types::CHOICE_FUNCTIONS.contains(&call.name()) => call.args,
        Expr::Column(column) => {
            let index = schema.maybe_index_of_column(&column)?;
            return of_choice(&projection.input, index);
        }
        _ => return None,
    };
    choices.iter().find_map(|choice| {
        let (_, field) = choice.to_field(schema).ok()?;
        let named =
            field.metadata().get(TYPE_KEY).or_else(|| field.metadata().get(SYSTEM_TYPE_KEY));
        named.cloned()
    })
}

/// The converted column, and the name of its type if the Arrow type does not imply it.
fn shown(
    column: Expr,
    name: &str,
    data_type: &DataType,
    functions: &Functions<'_>,
) -> Option<(Expr, Option<String>)> {
    let call = |function: &str, arguments: Vec<Expr>| {
        functions.scalar(function).map(|function| function.call(arguments))
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
        ("name" | "\"char\"" | "json" | "jsonb" | "uuid", DataType::Utf8View) => {
            Some((column, named()))
        }
        (object, DataType::Int64) => Some((call(&format!("{object}out"), vec![column])?, None)),
        _ => None,
    }
}
