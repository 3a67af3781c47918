//! `generate_series` of constants in FROM: a table whose rows are generated as they are read.

use super::relations::aliased;
use crate::refusal::Result;
use crate::scope::Lowering;
use crate::typed::Typed;
use ::functions::arrays::generated;
use ::functions::arrays::series::{Series, argument, argument_types, item_type};
use analyzer::system::functions;
use analyzer::tree::{Relation, SetCall};
use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{ColumnarValue, Expr, LogicalPlan, LogicalPlanBuilder, Volatility};
use std::sync::Arc;
use values::numbers;

impl Lowering<'_> {
    /// The table of a series; `None` for other functions, and for arguments that are not constant.
    pub(super) fn series(
        &mut self,
        call: &SetCall,
        relation: &Relation,
        alias: &str,
    ) -> Result<Option<LogicalPlan>> {
        let name = functions::of(call.call.function).map_or("?", |function| function.name);
        if name != generated::NAME {
            return Ok(None);
        }
        let arguments = self.exprs(&call.call.arguments)?;
        let mut values = Vec::with_capacity(arguments.len());
        for argument in &arguments {
            let Some(value) = self.constant(argument)? else {
                self.refuse_local_days(&arguments)?;
                return Ok(None);
            };
            values.push(decimal(value)?);
        }
        let types: Vec<Option<DataType>> =
            values.iter().map(|value| Some(value.data_type())).collect();
        let item = item_type(&types)?;
        let arrays = values.iter().zip(argument_types(&item, values.len()));
        let arrays = arrays.map(|(value, to)| Ok(argument(&value.to_array()?, &to)?));
        let arrays: Vec<ArrayRef> = arrays.collect::<Result<_>>()?;
        let series = Series::new(&item, &arrays, 0)?.map(|series| series.in_zone(self.zone()));
        let table = generated::table(item, series);
        let scan = LogicalPlanBuilder::scan(name, provider_as_source(table), None)?.build()?;
        aliased(scan, relation, alias).map(Some)
    }

    /// The value of an expression that depends on nothing.
    pub(crate) fn constant(&self, value: &Typed) -> Result<Option<ScalarValue>> {
        if let Some(value) = value.value() {
            return Ok(Some(value.clone()));
        }
        if value.expr.exists(|part| Ok(is_open(part)))? {
            return Ok(None);
        }
        let physical =
            self.around.engine.create_physical_expr(value.expr.clone(), &DFSchema::empty())?;
        let options = RecordBatchOptions::new().with_row_count(Some(1));
        let schema = Arc::new(Schema::empty());
        let one_row = RecordBatch::try_new_with_options(schema, Vec::new(), &options)
            .map_err(values::Error::from)?;
        Ok(Some(match physical.evaluate(&one_row)? {
            ColumnarValue::Scalar(value) => value,
            ColumnarValue::Array(array) => ScalarValue::try_from_array(&array, 0)?,
        }))
    }
}

/// Whether the value of an expression depends on rows, parameters, or the time.
fn is_open(part: &Expr) -> bool {
    match part {
        Expr::ScalarFunction(call) => call.func.signature().volatility != Volatility::Immutable,
        Expr::Literal(..) | Expr::Cast(_) | Expr::BinaryExpr(_) | Expr::Negative(_) => false,
        _ => true,
    }
}

/// A number with a scale of its own as a decimal, if it is short enough; other values are unchanged.
fn decimal(value: ScalarValue) -> Result<ScalarValue> {
    match &value {
        ScalarValue::LargeBinary(Some(bytes)) => Ok(numbers::scalar(&numbers::read(bytes)?)),
        _ => Ok(value),
    }
}
