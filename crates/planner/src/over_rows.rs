//! Expressions over rows that a statement has at hand: rows that it has written, that conflict, or that it merges.

use crate::Planner;
use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchOptions};
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::{DataType, Field as ArrowField, Schema, SchemaRef};
use datafusion::common::{Column, DFSchema, DFSchemaRef, TableReference};
use datafusion::datasource::{MemTable, provider_as_source};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::{ExecutionPlan, collect};
use executor::short_circuit;
use futures::FutureExt;
use futures::future::BoxFuture;
use std::sync::Arc;
use values::error::Result;

/// The name of the rows in plans.
const NAME: &str = "?target";
/// The column that numbers the rows in plans.
const NUMBER: &str = "?number";

/// The columns of rows at hand.
pub struct AtHand {
    input: SchemaRef,
    /// The columns as expressions see them.
    pub schema: DFSchemaRef,
}

impl AtHand {
    /// Rows of these columns.
    ///
    /// # Errors
    /// Two columns have one name.
    pub fn new(fields: Vec<ArrowField>) -> Result<Self> {
        let input = Arc::new(Schema::new(fields));
        let schema = Arc::new(DFSchema::try_from_qualified_schema(NAME, &input)?);
        Ok(Self { input, schema })
    }
}

/// Planned expressions over rows at hand.
pub struct OverRows {
    input: SchemaRef,
    output: SchemaRef,
    values: Values,
}

enum Values {
    /// Expressions, if they have no subqueries.
    Physical(Vec<Arc<dyn PhysicalExpr>>),
    /// Expressions of a plan.
    Logical(Vec<Expr>),
}

impl OverRows {
    /// Plans expressions, the values of columns of these names.
    ///
    /// # Errors
    /// Those of planning the expressions.
    pub fn new(planner: &Planner<'_>, rows: &AtHand, exprs: Vec<(String, Expr)>) -> Result<Self> {
        let mut fields = Vec::with_capacity(exprs.len());
        for (name, logical) in &exprs {
            let (_, of) = logical.to_field(&rows.schema)?;
            let field = ArrowField::new(name, of.data_type().clone(), true);
            fields.push(field.with_metadata(of.metadata().clone()));
        }
        let exprs = exprs.into_iter().map(|(_, logical)| logical);
        let values = match exprs.clone().any(|expr| has_query(&expr)) {
            true => Values::Logical(exprs.collect()),
            false => {
                let physical = |logical| {
                    let (_, value) = planner.physical_expression(logical, &rows.schema)?;
                    Ok(short_circuit(value)?)
                };
                Values::Physical(exprs.map(physical).collect::<Result<_>>()?)
            }
        };
        let output = Arc::new(Schema::new(fields));
        Ok(Self { input: Arc::clone(&rows.input), output, values })
    }

    /// The columns of the values.
    pub fn schema(&self) -> &SchemaRef {
        &self.output
    }

    /// The work that computes the values for each of a number of rows.
    ///
    /// # Errors
    /// Those of planning the expressions.
    pub async fn work(
        &self,
        planner: &Planner<'_>,
        rows: &[ArrayRef],
        count: usize,
    ) -> Result<BoxFuture<'static, Result<RecordBatch>>> {
        let options = RecordBatchOptions::new().with_row_count(Some(count));
        let output = Arc::clone(&self.output);
        match &self.values {
            Values::Physical(exprs) => {
                let input = Arc::clone(&self.input);
                let rows = RecordBatch::try_new_with_options(input, rows.to_vec(), &options)?;
                let exprs = exprs.clone();
                let values = move || {
                    let value =
                        |expr: &Arc<dyn PhysicalExpr>| expr.evaluate(&rows)?.into_array(count);
                    let columns = exprs.iter().map(value).collect::<Result<Vec<_>, _>>()?;
                    Ok(RecordBatch::try_new_with_options(output, columns, &options)?)
                };
                Ok(async move { values() }.boxed())
            }
            Values::Logical(exprs) => {
                let mut rows = rows.to_vec();
                rows.push(Arc::new(Int64Array::from_iter_values(0..count as i64)));
                let (physical, task) = self.physical(planner, exprs, rows).await?;
                let values = async move {
                    let schema = physical.schema();
                    let batches = collect(physical, task).await?;
                    let mut columns = concat_batches(&schema, &batches)?.columns().to_vec();
                    // This numbers the rows.
                    columns.pop();
                    Ok(RecordBatch::try_new_with_options(output, columns, &options)?)
                };
                Ok(values.boxed())
            }
        }
    }

    /// A plan of the values. Its last column numbers the rows.
    async fn physical(
        &self,
        planner: &Planner<'_>,
        exprs: &[Expr],
        rows: Vec<ArrayRef>,
    ) -> Result<(Arc<dyn ExecutionPlan>, Arc<TaskContext>)> {
        let number = ArrowField::new(NUMBER, DataType::Int64, false);
        let mut fields: Vec<_> = self.input.fields().iter().cloned().collect();
        fields.push(Arc::new(number));
        let schema = Arc::new(Schema::new(fields));
        let rows = RecordBatch::try_new(Arc::clone(&schema), rows)?;
        let rows = Arc::new(MemTable::try_new(schema, vec![vec![rows]])?);
        let plan =
            self.plan(exprs, LogicalPlanBuilder::scan(NAME, provider_as_source(rows), None)?)?;
        Ok((planner.physical(&plan).await?, planner.engine.task_ctx()))
    }

    fn plan(&self, exprs: &[Expr], rows: LogicalPlanBuilder) -> Result<LogicalPlan> {
        let number = Expr::Column(Column::new(Some(TableReference::bare(NAME)), NUMBER));
        let values = exprs.iter().enumerate();
        let values = values.map(|(at, expr)| expr.clone().alias(format!("?value{at}")));
        let values = values.chain([number.alias(NUMBER)]);
        let order = Expr::Column(Column::from_name(NUMBER)).sort(true, false);
        Ok(rows.project(values.collect::<Vec<_>>())?.sort([order])?.build()?)
    }
}

/// Whether an expression has a subquery.
fn has_query(expr: &Expr) -> bool {
    use datafusion::common::tree_node::TreeNode;
    let is_query = |expr: &Expr| {
        use Expr::{Exists, InSubquery, ScalarSubquery, SetComparison};
        Ok(matches!(expr, Exists(_) | InSubquery(_) | ScalarSubquery(_) | SetComparison(_)))
    };
    expr.exists(is_query).unwrap_or(true)
}
