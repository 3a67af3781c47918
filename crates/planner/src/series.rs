//! The arguments of `generate_series` in FROM, which are evaluated when the statement is planned.

use super::{casts, numbers};
use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::catalog::TableProvider;
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::execution::SessionState;
use datafusion::logical_expr::{Expr, ExprSchemable};
use datafusion::physical_plan::ColumnarValue;
use functions::arrays::generated;
use functions::arrays::series::{Series, argument_types, item_type};
use functions::casts::conversion;
use std::sync::Arc;
use values::style::Style;
use values::translate::external;
use values::types;

/// The table for a call. The arguments refer to no columns, and known parameters are bound.
pub(super) fn table(engine: &SessionState, args: Vec<Expr>) -> Result<Arc<dyn TableProvider>> {
    let args = args.into_iter().map(|arg| value(engine, arg)).collect::<Result<Vec<_>>>()?;
    let known: Vec<Option<DataType>> = args.iter().map(|arg| arg.known.clone()).collect();
    let item = item_type(&known).map_err(external)?;
    let arrays = args.iter().zip(argument_types(&item, args.len()));
    let arrays = arrays.map(|(arg, wanted)| {
        let array = arg.value.to_array()?;
        conversion::convert(&array, &types::of_arrow(&wanted), Style::default()).map_err(external)
    });
    let arrays: Vec<ArrayRef> = arrays.collect::<Result<_>>()?;
    let series = Series::new(&item, &arrays, 0).map_err(external)?;
    Ok(generated::table(item, series))
}

/// The value of an argument and its type; no type for a quoted constant and for NULL.
struct Argument {
    value: ScalarValue,
    known: Option<DataType>,
}

fn value(engine: &SessionState, arg: Expr) -> Result<Argument> {
    let schema = DFSchema::empty();
    let arg = numbers::of_expression(arg)?;
    if let Expr::Literal(value, None) = &arg
        && (value.try_as_str().is_some() || value.is_null())
    {
        let known = (value.try_as_str().is_none() && !value.data_type().is_null())
            .then(|| value.data_type());
        return Ok(Argument { value: value.clone(), known });
    }
    let known = Some(arg.get_type(&schema)?).filter(|known| !known.is_null());
    let is_described = arg.exists(|part| Ok(matches!(part, Expr::Placeholder(_))))?;
    if is_described {
        return Ok(Argument { value: ScalarValue::Null, known });
    }
    let arg = casts::converted(arg, &schema, Style::default())?.data;
    let physical = engine.create_physical_expr(arg, &schema)?;
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    let one_row = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options)?;
    let value = match physical.evaluate(&one_row)? {
        ColumnarValue::Scalar(value) => value,
        ColumnarValue::Array(array) => ScalarValue::try_from_array(&array, 0)?,
    };
    Ok(Argument { value, known })
}
