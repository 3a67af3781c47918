//! INSERT of rows whose values are operands, and expressions over parameters and the time.

use super::Given;
use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{Field, FieldRef, Schema, SchemaRef};
use datafusion::physical_expr::PhysicalExpr;
use keyed::{Operand, one_value};
use planner::inputs::Inputs;
use std::sync::Arc;
use store::catalog::{SqlType, Table};
use table_rows::Assembly;
use values::error::Result;

/// The rows of an INSERT.
pub(super) struct Insertion {
    pub(super) rows: Vec<Vec<Cell>>,
    /// What the expressions get.
    pub(super) inputs: Inputs,
    /// The parameters of the expressions, with the types that their places say.
    pub(super) of_expressions: Vec<(usize, SqlType)>,
    pub(super) assembly: Assembly,
    /// The columns that get values.
    pub(super) schema: SchemaRef,
}

/// A value of a row.
pub(super) enum Cell {
    Operand(Operand),
    /// An expression over [`Insertion::inputs`].
    Computed(Arc<dyn PhysicalExpr>),
}

impl Cell {
    pub(super) fn operand(&self) -> Option<&Operand> {
        match self {
            Self::Operand(operand) => Some(operand),
            Self::Computed(_) => None,
        }
    }
}

impl Insertion {
    /// The parameters, with the types that their places say.
    pub(super) fn parameters(&self, table: &Table) -> Vec<(usize, SqlType)> {
        let of_row = |row: &Vec<Cell>| -> Vec<(usize, SqlType)> {
            let cells = row.iter().zip(self.schema.fields());
            let parameter = |(cell, field): (&Cell, &FieldRef)| {
                let (_, column) = table.column(field.name())?;
                Some((cell.operand()?.number()?, column.sql_type.clone()))
            };
            cells.filter_map(parameter).collect()
        };
        let of_expressions = self.of_expressions.iter().cloned();
        self.rows.iter().flat_map(of_row).chain(of_expressions).collect()
    }

    /// The values of the key columns of the only row; `None` if there are more rows, or if one is no operand.
    pub(super) fn key(&self, table: &Table) -> Option<Vec<&Operand>> {
        let [row] = &self.rows[..] else { return None };
        let operand = |index: usize| {
            let (at, _) = self.schema.column_with_name(&table.columns[index].name)?;
            row.get(at)?.operand()
        };
        table.key_indices().into_iter().map(operand).collect()
    }

    /// The rows, with all columns of the table. `None` if the values require the long path.
    ///
    /// # Errors
    /// Those of the expressions, of the conversions, and of the table's conditions.
    pub(super) fn assembled(&self, given: Given<'_>) -> Result<Option<Vec<RecordBatch>>> {
        let Some(inputs) = self.inputs.row(given.parameters, given.moment)? else {
            return Ok(None);
        };
        let assembled = |row: &Vec<Cell>| {
            let mut values = Vec::with_capacity(row.len());
            for (cell, field) in row.iter().zip(self.schema.fields()) {
                values.push(match cell {
                    Cell::Operand(operand) => {
                        one_value(operand.value(given.parameters)?, field.data_type())?
                    }
                    Cell::Computed(value) => value.evaluate(&inputs)?.into_array(1)?,
                });
            }
            self.assembly.assemble(&one_row(values)?)
        };
        match self.rows.iter().map(assembled).collect::<Result<_>>() {
            // A row before the one in error may be a duplicate.
            Err(_) if self.rows.len() > 1 => Ok(None),
            rows => rows.map(Some),
        }
    }
}

fn one_row(values: Vec<ArrayRef>) -> Result<RecordBatch> {
    let fields = values.iter().map(|value| Field::new("", value.data_type().clone(), true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    Ok(RecordBatch::try_new_with_options(schema, values, &options)?)
}
