//! Rows as a statement gives them become rows as the table has them: casts, defaults, row ids, checks.

use super::constraints::Constraints;
use crate::parser::parse_expression;
use crate::planner::{self, Planner};
use crate::values::assign::assign;
use crate::values::error::Result;
use datafusion::arrow::array::{
    ArrayRef, Int64Array, RecordBatch, RecordBatchOptions, new_null_array,
};
use datafusion::arrow::datatypes::Schema;
use datafusion::common::DFSchema;
use datafusion::physical_expr::PhysicalExpr;
use std::sync::Arc;
use store::Store;
use store::catalog::{Column, Table};

/// Where the values of a table's column come from.
enum Origin {
    /// A column of the input.
    Given(usize),
    /// The column's default.
    Default(Arc<dyn PhysicalExpr>),
    /// The next row ids.
    RowId,
    /// No default.
    Null,
}

/// How input batches become batches of a table.
pub(crate) struct Assembly {
    table: Arc<Table>,
    store: Arc<Store>,
    origins: Vec<Origin>,
    constraints: Constraints,
    is_lasting: bool,
}

impl Assembly {
    /// Input column `i` goes to the table's column `given[i]`; the others get their defaults.
    pub(crate) fn new(
        planner: &Planner<'_>,
        store: &Arc<Store>,
        table: &Arc<Table>,
        given: &[usize],
    ) -> Result<Self> {
        let mut origins = Vec::with_capacity(table.columns.len());
        let constraints = Constraints::new(planner, table)?;
        let mut is_lasting = constraints.is_lasting();
        for (index, column) in table.columns.iter().enumerate() {
            let input = given.iter().position(|target| *target == index);
            origins.push(match (input, &column.default) {
                (Some(input), _) => Origin::Given(input),
                (None, _) if column.hidden => Origin::RowId,
                (None, Some(default)) => {
                    let expression = parse_expression(default)?;
                    let (default, physical) =
                        planner.plan_expression(expression, &DFSchema::empty())?;
                    is_lasting &= planner::is_lasting(&default);
                    Origin::Default(physical)
                }
                (None, None) => Origin::Null,
            });
        }
        let (table, store) = (Arc::clone(table), Arc::clone(store));
        Ok(Self { table, store, origins, constraints, is_lasting })
    }

    /// Whether it may be kept for other statements: no default is told by when a statement begins, or by whom
    /// it is run.
    pub(crate) fn is_lasting(&self) -> bool {
        self.is_lasting
    }

    /// The table whose rows these become.
    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    /// The first column of the input that does not fit its column of the table.
    pub(crate) fn refused(&self, input: &RecordBatch) -> Option<(usize, &Column)> {
        self.origins.iter().zip(&self.table.columns).find_map(|(origin, column)| match origin {
            Origin::Given(index) if assign(input.column(*index), column).is_err() => {
                Some((*index, column))
            }
            _ => None,
        })
    }

    /// A batch of the table, with all columns, checked.
    pub(crate) fn assemble(&self, input: &RecordBatch) -> Result<RecordBatch> {
        let rows = input.num_rows();
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.origins.len());
        for (origin, column) in self.origins.iter().zip(&self.table.columns) {
            columns.push(match origin {
                Origin::Given(index) => assign(input.column(*index), column)?,
                Origin::Default(default) => assign(&evaluate_alone(default, rows)?, column)?,
                Origin::RowId => {
                    let first = self.store.allocate_row_ids(rows as u64);
                    Arc::new(Int64Array::from_iter_values(first..first + rows as i64))
                }
                Origin::Null => new_null_array(&column.sql_type.arrow(), rows),
            });
        }
        self.constraints.batch(columns)
    }
}

/// The values of an expression without columns, for so many rows.
pub(crate) fn evaluate_alone(expression: &Arc<dyn PhysicalExpr>, rows: usize) -> Result<ArrayRef> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let none = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options)?;
    Ok(expression.evaluate(&none)?.into_array(rows)?)
}
