//! Expressions of a table's definition over one of its rows, by way of the analyzer.

use super::relations::table_of;
use super::{Refused, known, refused};
use analyzer::RowExpression;
use analyzer::system::functions::{self, Volatility};
use analyzer::tree::{Conversion, Expr as Tree, Kind};
use datafusion::common::{DFSchema, DFSchemaRef};
use datafusion::logical_expr::Expr;
use lowering::{Rows, Surroundings, lower_over};
use planner::Planner;
use scan::provider::row_schema;
use std::sync::Arc;
use store::catalog::Table;
use values::error::{Error, Result};

/// Expressions over a table's row.
pub(crate) struct OverRow {
    /// The columns of the row.
    pub(crate) schema: DFSchemaRef,
    /// The expressions.
    pub(crate) exprs: Vec<Expr>,
    /// Whether they have the same values in all sessions and at all times.
    pub(crate) is_lasting: bool,
}

/// The conditions of a table's checks, then the values of its generated columns. `None` if the analyzer does not know all
/// of them.
///
/// # Errors
/// What is wrong with an expression.
pub(crate) fn plan(planner: &Planner<'_>, table: &Table) -> Result<Option<OverRow>> {
    known(planned(planner, table))
}

fn planned(planner: &Planner<'_>, table: &Table) -> Result<OverRow, Refused> {
    let schema = DFSchema::try_from_qualified_schema(&table.name, &row_schema(table));
    let schema = Arc::new(schema.map_err(Error::from)?);
    let checks = table.checks.iter().map(|check| RowExpression::Check(&check.expression));
    let generated = table.columns.iter().enumerate();
    let generated = generated.filter_map(|(at, column)| {
        Some(RowExpression::Generated(column.generated.as_deref()?, at))
    });
    let texts: Vec<RowExpression<'_>> = checks.chain(generated).collect();
    if texts.is_empty() {
        return Ok(OverRow { schema, exprs: Vec::new(), is_lasting: true });
    }
    let row = table_of(table, 0)?;
    let bound = analyzer::bind_row(&row, &texts);
    let (relation, bound) = bound.map_err(|error| refused(error, ""))?;
    let is_lasting = bound.iter().all(is_lasting);
    let types = row.columns.iter().map(|column| column.sql_type).collect();
    let rows = Rows { schema: &schema, relations: &[(relation, types)] };
    let surroundings = Surroundings {
        engine: planner.engine,
        functions: planner.functions,
        sources: &[],
        parameters: &[],
        text: "",
    };
    let exprs = lower_over(&bound, &rows, &surroundings)?;
    Ok(OverRow { schema, exprs, is_lasting })
}

/// Whether an expression depends on its row alone, and not on the settings of the session, the user or the time.
fn is_lasting(expr: &Tree) -> bool {
    let is_immutable = |oid| {
        functions::of(oid).is_some_and(|function| function.volatility == Volatility::Immutable)
    };
    !analyzer::contains(expr, &mut |part| match &part.kind {
        Kind::ValueFunction(_) => true,
        Kind::Call(call) => !is_immutable(call.function),
        Kind::Cast(cast) => match cast.conversion {
            Conversion::Function(oid) => !is_immutable(oid),
            // The text of a moment depends on settings.
            Conversion::Text | Conversion::Items => [part.sql_type.oid, cast.value.sql_type.oid]
                .into_iter()
                .any(|oid| oid.category() == 'D'),
            Conversion::Relabel | Conversion::Length => false,
        },
        _ => false,
    })
}
