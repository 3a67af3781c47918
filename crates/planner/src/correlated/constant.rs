//! Subqueries without a table: `(SELECT a.x + 1)`, `LATERAL (SELECT a.x)`.

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::{Expr, LogicalPlan};

/// The only row of a subquery without a table, over the columns outside, which are those of `schema`.
/// `None` if the subquery has a table or may have no row, or if an expression is not a plain one.
pub(super) fn row(plan: &LogicalPlan, schema: &DFSchema) -> Result<Option<Vec<Expr>>> {
    let LogicalPlan::Projection(projection) = plan else { return Ok(None) };
    let LogicalPlan::EmptyRelation(empty) = &*projection.input else { return Ok(None) };
    if !empty.produce_one_row {
        return Ok(None);
    }
    let mut row = Vec::new();
    for expr in &projection.expr {
        let is_plain = !expr.is_volatile()
            && !expr.exists(|part| {
                Ok(match part {
                    Expr::OuterReferenceColumn(_, column) => !schema.has_column(column),
                    Expr::Unnest(_) => true,
                    part => super::subquery_of(part).is_some(),
                })
            })?;
        if !is_plain {
            return Ok(None);
        }
        let outside = expr.clone().unalias_nested().data.transform(|part| {
            Ok(match part {
                Expr::OuterReferenceColumn(_, column) => Transformed::yes(Expr::Column(column)),
                other => Transformed::no(other),
            })
        })?;
        row.push(outside.data);
    }
    Ok(Some(row))
}
