//! `generate_series` in FROM: a table whose rows are generated as they are read.

use super::series::Series;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::memory::{LazyBatchGenerator, LazyMemoryExec};
use parking_lot::RwLock;
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use values::error::Error;
use values::translate::external;

/// The name of the function and its column.
pub const NAME: &str = "generate_series";

/// The table of a series of values of a type; it has no rows if an argument of the series is NULL.
pub fn table(item: DataType, series: Option<Series>) -> Arc<dyn TableProvider> {
    let schema = Arc::new(Schema::new(vec![Field::new(NAME, item, false)]));
    Arc::new(SeriesTable { schema, series })
}

/// The number of rows of a series in FROM; `None` if the source is not one.
pub fn rows_of(source: &LazyMemoryExec) -> Option<f64> {
    let [generator] = &source.generators()[..] else { return None };
    let generator = generator.read();
    let generator = generator.as_any().downcast_ref::<Generator>()?;
    Some(generator.start.as_ref().map_or(0.0, Series::count))
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
