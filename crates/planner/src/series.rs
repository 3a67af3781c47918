//! `generate_series` in FROM: a table whose rows are generated as they are read.

use super::{casts, numbers};
use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::execution::SessionState;
use datafusion::logical_expr::{Expr, ExprSchemable, TableType};
use datafusion::physical_plan::memory::{LazyBatchGenerator, LazyMemoryExec};
use datafusion::physical_plan::{ColumnarValue, ExecutionPlan};
use functions::arrays::series::{Series, argument_types, item_type};
use functions::casts::conversion;
use parking_lot::RwLock;
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use values::error::Error;
use values::style::Style;
use values::translate::external;
use values::types;

/// The name of the function and its column.
pub(super) const NAME: &str = "generate_series";

/// The table for a call. The arguments refer to no columns, and known parameters are bound.
pub(super) fn table(engine: &SessionState, args: Vec<Expr>) -> Result<Arc<dyn TableProvider>> {
    let args = args.into_iter().map(|arg| value(engine, arg)).collect::<Result<Vec<_>>>()?;
    let known: Vec<Option<DataType>> = args.iter().map(|arg| arg.known.clone()).collect();
    let item = item_type(&known).map_err(external)?;
    let arrays = args.iter().zip(argument_types(&item, args.len()));
    let arrays = arrays.map(|(arg, wanted)| {
        let array = arg.value.to_array()?;
        conversion::convert(&array, &types::of_arrow(&wanted)).map_err(external)
    });
    let arrays: Vec<ArrayRef> = arrays.collect::<Result<_>>()?;
    let series = Series::new(&item, &arrays, 0).map_err(external)?;
    let schema = Arc::new(Schema::new(vec![Field::new(NAME, item, false)]));
    Ok(Arc::new(SeriesTable { schema, series }))
}

/// The number of rows of a series in FROM; `None` if the source is not one.
pub fn rows_of(source: &LazyMemoryExec) -> Option<f64> {
    let [generator] = &source.generators()[..] else { return None };
    let generator = generator.read();
    let generator = generator.as_any().downcast_ref::<Generator>()?;
    Some(generator.start.as_ref().map_or(0.0, Series::count))
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

#[derive(Debug)]
struct SeriesTable {
    schema: SchemaRef,
    series: Option<Series>,
}

#[async_trait::async_trait]
impl TableProvider for SeriesTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let schema = Arc::clone(&self.schema);
        let start = self.series.clone();
        let generator = Generator { schema, rest: start.clone(), start };
        let plan = LazyMemoryExec::try_new(self.schema(), vec![Arc::new(RwLock::new(generator))])?;
        Ok(Arc::new(plan.with_projection(projection.cloned())))
    }
}

#[derive(Debug)]
struct Generator {
    schema: SchemaRef,
    start: Option<Series>,
    rest: Option<Series>,
}

impl fmt::Display for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAME)
    }
}

impl LazyBatchGenerator for Generator {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn generate_next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let Some(rest) = &mut self.rest else { return Ok(None) };
        match rest.batch(store::CHUNK_ROWS).map_err(|error: Error| external(error))? {
            None => Ok(None),
            Some(values) => Ok(Some(RecordBatch::try_new(Arc::clone(&self.schema), vec![values])?)),
        }
    }

    fn reset_state(&self) -> Arc<RwLock<dyn LazyBatchGenerator>> {
        let (schema, start) = (Arc::clone(&self.schema), self.start.clone());
        Arc::new(RwLock::new(Self { schema, rest: start.clone(), start }))
    }
}
