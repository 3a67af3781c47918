//! RETURNING: expressions over the written rows.

use crate::analysis::changes::Returned;
use crate::context::outcome::{Outcome, Rows, Tag};
use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::datatypes::{Field as ArrowField, Schema, SchemaRef};
use datafusion::common::DFSchema;
use datafusion::logical_expr::Expr::Column;
use datafusion::logical_expr::ExprSchemable;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::memory::MemoryStream;
use datafusion::sql::sqlparser::ast::{Expr, Ident, SelectItem};
use planner::Planner;
use planner::dialect::column_names;
use planner::origins::field_of;
use scan::provider::row_schema;
use std::sync::Arc;
use store::catalog::Table;
use values::error::{Error, Result};
use values::field::Field;

/// A planned RETURNING clause.
pub(crate) struct Returning {
    /// The columns of the table.
    input: SchemaRef,
    /// The returned columns.
    schema: SchemaRef,
    fields: Vec<Field>,
    expressions: Vec<Arc<dyn PhysicalExpr>>,
}

impl Returning {
    /// Plans the items over the table's columns. `alias` is the name of the table in the statement.
    /// `None` if there is no RETURNING.
    pub(crate) fn new(
        planner: &Planner<'_>,
        table: &Table,
        alias: &str,
        items: Option<&[SelectItem]>,
    ) -> Result<Option<Self>> {
        let Some(items) = items else { return Ok(None) };
        let input = Arc::new(row_schema(table));
        let schema = DFSchema::try_from_qualified_schema(alias, &input)?;
        let (mut fields, mut shown, mut expressions) = (Vec::new(), Vec::new(), Vec::new());
        for (name, expression) in expand(table, items)? {
            let (logical, physical) = planner.plan_expression(expression, &schema)?;
            let (_, field) = logical.to_field(&schema)?;
            let metadata = field.metadata().clone();
            let field = ArrowField::new(name.as_str(), field.data_type().clone(), true);
            let field = field.with_metadata(metadata);
            let column = match &logical {
                Column(column) => table.column(column.name()).map(|(index, _)| index),
                _ => None,
            };
            shown.push(match column {
                Some(index) => Field { name, ..field_of(table, index) },
                None => Field::computed(name, &field),
            });
            fields.push(field);
            expressions.push(physical);
        }
        Ok(Some(Self { input, schema: Arc::new(Schema::new(fields)), fields: shown, expressions }))
    }

    /// RETURNING as the analyzer plans it.
    pub(crate) fn of(returned: Returned) -> Self {
        let Returned { input, schema, fields, expressions } = returned;
        Self { input, schema, fields, expressions }
    }

    fn rows(&self, written: &[ArrayRef]) -> Result<RecordBatch> {
        let written = RecordBatch::try_new(Arc::clone(&self.input), written.to_vec())?;
        let value = |expression: &Arc<dyn PhysicalExpr>| {
            expression.evaluate(&written)?.into_array(written.num_rows())
        };
        let arrays: Result<Vec<_>, _> = self.expressions.iter().map(value).collect();
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), arrays?)?)
    }
}

/// The returned columns; `None` if there is no RETURNING.
pub(crate) fn returning_fields(
    planner: &Planner<'_>,
    table: &Table,
    alias: &str,
    items: Option<&[SelectItem]>,
) -> Result<Option<Vec<Field>>> {
    let returning = Returning::new(planner, table, alias, items)?;
    Ok(returning.map(|returning| returning.fields))
}

/// The outcome of a statement: the returned rows, or without RETURNING a tag with the number of
/// rows. `written` are the columns of the written rows, followed by those of other relations that RETURNING shows.
pub(crate) fn outcome(
    command: &'static str,
    returning: Option<&Returning>,
    count: u64,
    written: &[Vec<ArrayRef>],
) -> Result<Outcome> {
    let Some(returning) = returning else {
        return Ok(Outcome::Done(Tag::counted(command, count)));
    };
    let batches: Result<Vec<_>> = written.iter().map(|columns| returning.rows(columns)).collect();
    let fields = returning.fields.clone();
    let stream = MemoryStream::try_new(batches?, Arc::clone(&returning.schema), None)?;
    Ok(Outcome::Rows(Rows::ready(fields, stream, command)))
}

/// The items with their names. Wildcards are expanded to the declared columns.
fn expand(table: &Table, items: &[SelectItem]) -> Result<Vec<(String, Expr)>> {
    let mut expanded = Vec::new();
    for item in items {
        match item {
            SelectItem::UnnamedExpr(expression) => {
                expanded.push((column_names::shown(expression), expression.clone()));
            }
            SelectItem::ExprWithAlias { expr, alias } => {
                expanded.push((parser::names::fold(alias), expr.clone()));
            }
            SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..) => {
                for column in table.columns.iter().filter(|column| !column.hidden) {
                    let ident = Ident::with_quote('"', column.name.clone());
                    expanded.push((column.name.clone(), Expr::Identifier(ident)));
                }
            }
            other => {
                return Err(Error::unsupported(format!("RETURNING {other} is not supported")));
            }
        }
    }
    Ok(expanded)
}
