//! The sort order of `jsonb`: a function that returns sort keys, and the rule that sorts by them.

use super::call;
use datafusion::arrow::array::{Array, AsArray, BinaryArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, Expr, LogicalPlan, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use datafusion::optimizer::AnalyzerRule;
use std::sync::Arc;
use store::catalog::SqlType;
use values::error::{Error, SqlState};
use values::json::normal::normal;
use values::json::order;
use values::translate::external;
use values::types;
use values::types::of_expression;

const NAME: &str = "jsonb_order";

/// The function.
pub(super) fn function() -> ScalarUDF {
    ScalarUDF::new_from_impl(Order { signature: Signature::any(1, Volatility::Immutable) })
}

/// The sort key of a value.
pub(super) fn key(value: Expr) -> Expr {
    call(NAME, vec![value.clone()]).unwrap_or(value)
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Order {
    signature: Signature,
}

impl ScalarUDFImpl for Order {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Binary)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let is_jsonb = types::of_field(&args.arg_fields[0]) == SqlType::Jsonb;
        let place = |text: Option<&str>| -> values::error::Result<Option<Vec<u8>>> {
            let Some(text) = text else { return Ok(None) };
            if is_jsonb { order::key(text).map(Some) } else { order::key(&normal(text)?).map(Some) }
        };
        let scalar = matches!(args.args[0], ColumnarValue::Scalar(_));
        let values = args.args[0].to_array(if scalar { 1 } else { args.number_rows })?;
        let values = cast(&values, &DataType::Utf8View)?;
        let places = values.as_string_view().iter().map(place);
        let places = places.collect::<values::error::Result<Vec<_>>>().map_err(external)?;
        let places: Arc<dyn Array> = Arc::new(places.into_iter().collect::<BinaryArray>());
        if scalar {
            Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&places, 0)?))
        } else {
            Ok(ColumnarValue::Array(places))
        }
    }
}

/// Sorts `jsonb` by its sort keys, and rejects ORDER BY and DISTINCT on `json`, which has neither order nor equality.
/// GROUP BY is not checked, since the engine adds the other columns of a key to it: it groups by text.
#[derive(Debug)]
pub struct OrderJson;

impl AnalyzerRule for OrderJson {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        Ok(plan.transform_up_with_subqueries(of_node)?.data)
    }

    fn name(&self) -> &str {
        "order_json"
    }
}

fn of_node(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    match plan {
        LogicalPlan::Sort(mut sort) => {
            let mut changed = false;
            for by in &mut sort.expr {
                match of_expression(&by.expr, sort.input.schema()) {
                    Some(SqlType::Jsonb) => {
                        by.expr = key(by.expr.clone());
                        changed = true;
                    }
                    Some(SqlType::Json) => return Err(external(no_json_operator("ordering"))),
                    _ => {}
                }
            }
            let plan = LogicalPlan::Sort(sort);
            Ok(if changed { Transformed::yes(plan) } else { Transformed::no(plan) })
        }
        LogicalPlan::Distinct(distinct) => {
            let fields = distinct.input().schema().fields();
            if fields.iter().any(|field| types::of_field(field) == SqlType::Json) {
                Err(external(no_json_operator("equality")))
            } else {
                Ok(Transformed::no(LogicalPlan::Distinct(distinct)))
            }
        }
        other => Ok(Transformed::no(other)),
    }
}

fn no_json_operator(what: &str) -> Error {
    let article = if what == "ordering" { "an ordering" } else { "an equality" };
    let message = format!("could not identify {article} operator for type json");
    let error = Error::new(SqlState::UndefinedFunction, message);
    match what {
        "ordering" => error.with_hint("Use an explicit ordering operator or modify the query."),
        _ => error,
    }
}
