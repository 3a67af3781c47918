//! Conversion of input rows into rows of a table: casts, defaults, row ids, constraints.

use crate::constraints::Constraints;
use crate::default_values::{DefaultValue, evaluate_constant};
use crate::expressions;
use crate::row_expression::RowExpression;
use datafusion::arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, new_null_array};
use datafusion::arrow::compute::filter;
use datafusion::physical_expr::PhysicalExpr;
use planner::Planner;
use std::sync::Arc;
use store::Store;
use store::catalog::{Column, Table};
use values::assign::assign;
use values::error::{Error, Result};
use values::style::Style;

/// The source of a column's values.
enum Origin {
    /// A column of the input.
    Given(usize),
    /// The column's default.
    Default(Arc<dyn PhysicalExpr>),
    /// Newly allocated row ids.
    RowId,
    /// The column has no default.
    Null,
}

/// Converts input batches into batches of a table.
pub struct Assembly {
    table: Arc<Table>,
    store: Arc<Store>,
    origins: Vec<Origin>,
    constraints: Arc<Constraints>,
    /// The condition for the rows that are taken; `None` if all are.
    condition: Option<RowExpression>,
    is_lasting: bool,
}

impl Assembly {
    /// Input column `i` is assigned to the table's column `given[i]`, if there is one at that position. The other columns
    /// get their defaults.
    pub fn new(
        planner: &Planner<'_>,
        store: &Arc<Store>,
        table: &Arc<Table>,
        given: &[usize],
    ) -> Result<Self> {
        let mut origins = Vec::with_capacity(table.columns.len());
        let constraints = Arc::new(Constraints::new(planner, table)?);
        let mut is_lasting = constraints.is_lasting();
        for (index, column) in table.columns.iter().enumerate() {
            let input = given.iter().position(|target| *target == index);
            origins.push(match (input, &column.default) {
                (Some(input), _) => Origin::Given(input),
                (None, _) if column.hidden => Origin::RowId,
                (None, Some(_)) => {
                    let default = DefaultValue::of(planner, table, index)?;
                    is_lasting &= default.is_lasting;
                    Origin::Default(default.value)
                }
                (None, None) => Origin::Null,
            });
        }
        let (table, store) = (Arc::clone(table), Arc::clone(store));
        Ok(Self { table, store, origins, constraints, condition: None, is_lasting })
    }

    /// Takes only the rows for which the condition of a COPY FROM is true, if there is one.
    ///
    /// # Errors
    /// What is wrong with the condition.
    pub fn with_condition(self, planner: &Planner<'_>, text: Option<&str>) -> Result<Self> {
        let Some(text) = text else { return Ok(self) };
        let mut row = expressions::plan_copied(planner, &self.table, text)?;
        let Some(condition) = row.exprs.pop() else { return Ok(self) };
        let (_, condition) = planner.physical_expression(condition, &row.schema)?;
        Ok(Self { condition: Some(RowExpression::new(condition)), is_lasting: false, ..self })
    }

    /// Whether other statements may reuse it: no default and no constraint depends on the start
    /// time or the user of a statement.
    pub fn is_lasting(&self) -> bool {
        self.is_lasting
    }

    /// How texts are read.
    fn style(&self) -> Style {
        self.constraints.style()
    }

    /// The table of the assembled rows.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The first input column whose values cannot be assigned to their column of the table: its
    /// index in the input, and the table's column.
    pub fn mismatch(&self, input: &RecordBatch) -> Option<(usize, &Column)> {
        self.origins.iter().zip(&self.table.columns).find_map(|(origin, column)| match origin {
            Origin::Given(index) if assign(input.column(*index), column, self.style()).is_err() => {
                Some((*index, column))
            }
            _ => None,
        })
    }

    /// Converts a batch: the result has all columns of the table and satisfies its constraints.
    pub fn assemble(&self, input: &RecordBatch) -> Result<RecordBatch> {
        self.constraints.batch(self.columns(input)?)
    }

    /// As [`Self::assemble`]; of rows of which one violates a constraint those before it, and its error.
    ///
    /// # Errors
    /// Those of casts and defaults; the violation if it is the first row's.
    pub fn rows_before_error(&self, input: &RecordBatch) -> Result<(RecordBatch, Option<Error>)> {
        self.constraints.rows_before_error(self.columns(input)?)
    }

    /// The constraints of the table.
    pub fn constraints(&self) -> &Arc<Constraints> {
        &self.constraints
    }

    /// Converts a batch: the result has all columns of the table, but need not satisfy its constraints. Without a condition it
    /// has all rows. Given values are converted first: if that fails, defaults take no values of sequences.
    pub fn columns(&self, input: &RecordBatch) -> Result<Vec<ArrayRef>> {
        let rows = input.num_rows();
        let origins = || self.origins.iter().zip(&self.table.columns);
        let given = origins().map(|(origin, column)| match origin {
            Origin::Given(index) => assign(input.column(*index), column, self.style()).map(Some),
            _ => Ok(None),
        });
        let given = given.collect::<Result<Vec<_>>>()?;
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.origins.len());
        for ((origin, column), given) in origins().zip(given) {
            columns.push(match (origin, given) {
                (_, Some(given)) => given,
                (Origin::Default(default), None) => {
                    assign(&evaluate_constant(default, rows)?, column, self.style())?
                }
                (Origin::RowId, None) => {
                    let first = self.store.allocate_row_ids(rows as u64);
                    Arc::new(Int64Array::from_iter_values(first..first + rows as i64))
                }
                (Origin::Given(_) | Origin::Null, None) => {
                    new_null_array(&column.sql_type.arrow(), rows)
                }
            });
        }
        let Some(condition) = &self.condition else { return Ok(columns) };
        let taken = condition.values(&self.constraints.given_rows(&columns)?)?;
        let taken = taken.as_boolean();
        Ok(columns.iter().map(|column| filter(column, taken)).collect::<Result<_, _>>()?)
    }
}
