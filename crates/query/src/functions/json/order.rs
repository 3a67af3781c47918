//! `jsonb` values by their place in the order of all: bytes that compare as the values do.

use super::call;
use crate::values::error::{Error, SqlState};
use crate::values::json::normal::normal;
use crate::values::json::order;
use crate::values::translate::external;
use crate::values::types;
use crate::values::types::of_expression;
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

const NAME: &str = "jsonb_order";

/// The function.
pub(super) fn function() -> ScalarUDF {
    ScalarUDF::new_from_impl(Order { signature: Signature::any(1, Volatility::Immutable) })
}

/// The place of a value.
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
        let place = |text: Option<&str>| -> crate::values::error::Result<Option<Vec<u8>>> {
            let Some(text) = text else { return Ok(None) };
            match is_jsonb {
                true => order::key(text).map(Some),
                false => order::key(&normal(text)?).map(Some),
            }
        };
        let scalar = matches!(args.args[0], ColumnarValue::Scalar(_));
        let values = args.args[0].to_array(if scalar { 1 } else { args.number_rows })?;
        let values = cast(&values, &DataType::Utf8View)?;
        let places = values.as_string_view().iter().map(place);
        let places = places.collect::<crate::values::error::Result<Vec<_>>>().map_err(external)?;
        let places: Arc<dyn Array> = Arc::new(places.into_iter().collect::<BinaryArray>());
        match scalar {
            true => Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&places, 0)?)),
            false => Ok(ColumnarValue::Array(places)),
        }
    }
}

/// Sorts `jsonb` by its order, and refuses to sort `json` and to tell its values apart: it has neither order nor equality.
/// GROUP BY is not looked at, since the engine adds the other columns of a key to it; there the text counts.
#[derive(Debug)]
pub(crate) struct OrderJson;

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
                    Some(SqlType::Json) => return Err(external(none_of_json("ordering"))),
                    _ => {}
                }
            }
            let plan = LogicalPlan::Sort(sort);
            Ok(if changed { Transformed::yes(plan) } else { Transformed::no(plan) })
        }
        LogicalPlan::Distinct(distinct) => {
            let fields = distinct.input().schema().fields();
            match fields.iter().any(|field| types::of_field(field) == SqlType::Json) {
                true => Err(external(none_of_json("equality"))),
                false => Ok(Transformed::no(LogicalPlan::Distinct(distinct))),
            }
        }
        other => Ok(Transformed::no(other)),
    }
}

fn none_of_json(what: &str) -> Error {
    let article = if what == "ordering" { "an ordering" } else { "an equality" };
    let message = format!("could not identify {article} operator for type json");
    let error = Error::new(SqlState::UndefinedFunction, message);
    match what {
        "ordering" => error.with_hint("Use an explicit ordering operator or modify the query."),
        _ => error,
    }
}
