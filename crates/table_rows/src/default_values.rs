//! Default values, the keyword DEFAULT, and columns that accept no other value.

use crate::expressions;
use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::Schema;
use datafusion::common::DFSchema;
use datafusion::physical_expr::PhysicalExpr;
use planner::Planner;
use planner::inputs::Inputs;
use std::sync::Arc;
use store::catalog::{Column, Identity, Table};
use values::error::{Error, Result, SqlState};

/// The default of a column, planned.
pub struct DefaultValue {
    /// The value, over no columns. It is still to be assigned.
    pub value: Arc<dyn PhysicalExpr>,
    /// Whether it means the same in other sessions and statements.
    pub is_lasting: bool,
    /// Whether each row gets another value.
    pub is_volatile: bool,
}

impl DefaultValue {
    /// Plans the default of a column; NULL if it has none.
    ///
    /// # Errors
    /// What is wrong with the expression.
    pub fn of(planner: &Planner<'_>, table: &Table, column: usize) -> Result<Self> {
        let text = table.columns[column].default.as_deref().unwrap_or("NULL");
        let row = expressions::plan_default(planner, table, text, column)?;
        let missing = || Error::new(SqlState::InternalError, "the value of a default is missing");
        let value = row.exprs.into_iter().next().ok_or_else(missing)?;
        let (logical, value) = planner.physical_expression(value, &DFSchema::empty())?;
        let is_lasting = row.is_lasting && planner::is_lasting(&logical);
        Ok(Self { value, is_lasting, is_volatile: logical.is_volatile() })
    }

    /// The value of a column's default that uses the time of the transaction, over inputs. `None` if it depends on anything
    /// else that differs between statements.
    ///
    /// # Errors
    /// What is wrong with the expression.
    pub fn of_moment(
        planner: &Planner<'_>,
        table: &Table,
        column: usize,
        inputs: &mut Inputs,
    ) -> Result<Option<Arc<dyn PhysicalExpr>>> {
        let Some(text) = &table.columns[column].default else { return Ok(None) };
        let row = expressions::plan_default(planner, table, text, column)?;
        let value = row.exprs.into_iter().next().filter(|_| row.is_of_moment);
        let Some(value) = value else { return Ok(None) };
        planner.physical_with_inputs(value, &DFSchema::empty(), inputs)
    }

    /// The value for each of a number of rows.
    ///
    /// # Errors
    /// Those of the expression.
    pub fn values(&self, rows: usize) -> Result<ArrayRef> {
        evaluate_constant(&self.value, rows)
    }
}

/// Whether a column accepts DEFAULT only: it is generated, or GENERATED ALWAYS AS IDENTITY.
pub fn accepts_default_only(column: &Column) -> bool {
    column.identity == Some(Identity::Always) || column.generated.is_some()
}

/// The error 428C9 for a value of a column that accepts DEFAULT only.
pub fn generated_always(column: &Column, message: String) -> Error {
    let what = match column.generated {
        Some(_) => "a generated column",
        None => "an identity column defined as GENERATED ALWAYS",
    };
    Error::new(SqlState::GeneratedAlways, message)
        .with_detail(format!("Column \"{}\" is {what}.", column.name))
}

/// Evaluates an expression without column references for a number of rows.
pub fn evaluate_constant(expression: &Arc<dyn PhysicalExpr>, rows: usize) -> Result<ArrayRef> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let none = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options)?;
    Ok(expression.evaluate(&none)?.into_array(rows)?)
}
