//! RETURNING of columns.

use crate::context::outcome::{Outcome, Rows};
use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::physical_plan::memory::MemoryStream;
use grammar::tree::ReturningClause;
use planner::origins::field_of;
use scan::provider::plan_schema;
use std::sync::Arc;
use store::catalog::Table;
use values::error::Result;
use values::field::Field;

/// The columns that a change returns.
pub(super) struct Returning {
    columns: Vec<usize>,
    schema: SchemaRef,
    pub(super) fields: Arc<[Field]>,
}

impl Returning {
    /// The columns of a table that a clause names; `None` for other expressions.
    pub(super) fn recognise(
        table: &Table,
        called: Option<&str>,
        clause: &ReturningClause,
    ) -> Option<Self> {
        if !clause.options.is_empty() {
            return None;
        }
        let outputs = keyed::outputs_of(table, called, &clause.exprs)?;
        let (columns, names): (Vec<usize>, Vec<String>) = outputs.into_iter().unzip();
        let fields = fields_of(table, &columns, &names).into();
        let schema = Arc::new(plan_schema(table, &columns));
        Some(Self { columns, schema, fields })
    }

    /// The outcome of a change of rows, which have all columns of the table.
    pub(super) fn outcome(&self, command: &'static str, rows: &[RecordBatch]) -> Result<Outcome> {
        let returned = |rows: &RecordBatch| {
            let columns = self.columns.iter().map(|column| Arc::clone(rows.column(*column)));
            let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
            let schema = Arc::clone(&self.schema);
            RecordBatch::try_new_with_options(schema, columns.collect(), &options)
        };
        let rows = rows.iter().map(returned).collect::<Result<Vec<_>, _>>()?;
        let stream = MemoryStream::try_new(rows, Arc::clone(&self.schema), None)?;
        Ok(Outcome::Rows(Rows::ready(Arc::clone(&self.fields), stream, command)))
    }
}

/// Columns of a table with other names.
pub(super) fn fields_of(table: &Table, columns: &[usize], names: &[String]) -> Vec<Field> {
    let named = |(index, name): (&usize, &String)| {
        let mut field = field_of(table, *index);
        field.name.clone_from(name);
        field
    };
    columns.iter().zip(names).map(named).collect()
}
