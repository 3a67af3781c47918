//! Expressions over rows at hand: those of RETURNING, ON CONFLICT DO UPDATE, and MERGE.

use crate::Surroundings;
use crate::refusal::Result;
use crate::result;
use crate::scope::Lowering;
use analyzer::system::SqlType;
use analyzer::tree::{Cte, Expr, Output, RelationId};
use datafusion::common::DFSchemaRef;
use datafusion::logical_expr::{EmptyRelation, Expr as Engine, LogicalPlan};
use std::sync::Arc;
use values::field::Field;

/// Rows at hand.
pub struct Rows<'a> {
    /// Their columns.
    pub schema: &'a DFSchemaRef,
    /// The relations that the columns are of, one behind the other, with the types of their columns.
    pub relations: &'a [(RelationId, Vec<SqlType>)],
    /// The columns of each relation's row as a value: their places and names.
    pub row: &'a [(usize, String)],
    /// The queries in WITH that subqueries of the expressions may read.
    pub with: &'a [Cte],
}

/// Expressions over rows.
///
/// # Errors
/// As of [`lower`](crate::lower).
pub fn lower_over<'e>(
    exprs: impl IntoIterator<Item = &'e Expr>,
    rows: &Rows<'_>,
    surroundings: &Surroundings<'_>,
) -> Result<Vec<Engine>> {
    over(rows, surroundings, |lowering| {
        exprs.into_iter().map(|expr| Ok(lowering.expr(expr)?.expr)).collect()
    })
}

/// The columns of a result over rows, with their descriptions. They have no origins.
///
/// # Errors
/// As of [`lower`](crate::lower).
pub fn lower_output(
    output: &[Output],
    rows: &Rows<'_>,
    surroundings: &Surroundings<'_>,
) -> Result<Vec<(Engine, Field)>> {
    over(rows, surroundings, |lowering| {
        output.iter().map(|output| result::column(lowering, output)).collect()
    })
}

fn over<T>(
    rows: &Rows<'_>,
    surroundings: &Surroundings<'_>,
    lower: impl FnOnce(&mut Lowering<'_>) -> Result<T>,
) -> Result<T> {
    let schema = Arc::clone(rows.schema);
    let plan = LogicalPlan::EmptyRelation(EmptyRelation { produce_one_row: false, schema });
    let mut lowering = Lowering::new(surroundings);
    lowering.with(rows.with)?;
    lowering.in_frame(|lowering| {
        for (relation, _) in rows.relations {
            lowering.set_row(*relation, rows.row.to_vec());
        }
        let mut first = 0;
        for (relation, types) in rows.relations {
            lowering.add_relation_at(*relation, &plan, first, types.iter().copied());
            first += types.len();
        }
        let lowered = lower(lowering)?;
        lowering.refuse_constants()?;
        Ok(lowered)
    })
}
