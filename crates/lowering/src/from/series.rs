//! `generate_series` of constants: a table whose rows are generated as they are read. It is in FROM, or the one set in the
//! select list of a SELECT without FROM.

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
use datafusion::common::{Column, DFSchema, ScalarValue};
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
        let scan = self.scan_of_series(call)?;
        scan.map(|scan| aliased(scan, relation, alias)).transpose()
    }

    /// The rows of a series without others, in a column of this name, and its values.
    pub(crate) fn lone_series(
        &mut self,
        call: &SetCall,
        name: &str,
    ) -> Result<Option<(LogicalPlan, Typed)>> {
        let (Some(scan), [column]) = (self.scan_of_series(call)?, &call.columns[..]) else {
            return Ok(None);
        };
        let data_type = scan.schema().field(0).data_type().clone();
        let values =
            scan.schema().columns().into_iter().map(|values| Expr::Column(values).alias(name));
        let plan =
            LogicalPlanBuilder::from(scan.clone()).project(values.collect::<Vec<_>>())?.build()?;
        let value = Typed::of(Expr::Column(Column::from_name(name)), data_type, column.sql_type)?;
        Ok(Some((plan, value)))
    }

    fn scan_of_series(&mut self, call: &SetCall) -> Result<Option<LogicalPlan>> {
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
        Ok(Some(LogicalPlanBuilder::scan(name, provider_as_source(table), None)?.build()?))
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
