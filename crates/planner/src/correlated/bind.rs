//! Replaces the outer columns in a subquery by values.

use datafusion::common::metadata::FieldMetadata;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::{Exists, InSubquery, SetComparison};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, LogicalPlan, Subquery};
use std::sync::Arc;

/// Outer columns with their values.
pub(super) type Values = [(Column, ScalarValue)];

/// Replaces outer columns in a plan and in its subqueries.
pub(super) fn bind(plan: &LogicalPlan, values: &Values) -> Result<LogicalPlan> {
    plan.clone().transform_up(|node| of_node(node, values)).data()
}

fn of_node(node: LogicalPlan, values: &Values) -> Result<Transformed<LogicalPlan>> {
    if let LogicalPlan::Subquery(mut subquery) = node {
        forget(&mut subquery, values);
        if subquery.outer_ref_columns.is_empty() {
            return Ok(Transformed::yes(Arc::unwrap_or_clone(subquery.subquery)));
        }
        return Ok(Transformed::yes(LogicalPlan::Subquery(subquery)));
    }
    let mut schema = DFSchema::empty();
    node.inputs().into_iter().for_each(|input| schema.merge(input.schema()));
    let names = NamePreserver::new(&node);
    let replaced = node.map_expressions(|expr| {
        let name = names.save(&expr);
        let replaced = expr.transform_down(|expr| of_expression(expr, values, &schema))?;
        Ok(replaced.update_data(|expr| name.restore(expr)))
    })?;
    if replaced.transformed {
        replaced.map_data(LogicalPlan::recompute_schema)
    } else {
        Ok(replaced)
    }
}

fn of_expression(expr: Expr, values: &Values, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let jump = |expr| Ok(Transformed::new(expr, true, TreeNodeRecursion::Jump));
    match expr {
        Expr::OuterReferenceColumn(ref field, ref column) => {
            match values.iter().find(|(bound, _)| bound == column) {
                Some((_, value)) => {
                    let metadata = field.metadata();
                    let metadata =
                        (!metadata.is_empty()).then(|| FieldMetadata::from(metadata.clone()));
                    jump(Expr::Literal(value.clone(), metadata))
                }
                None => Ok(Transformed::no(expr)),
            }
        }
        Expr::ScalarSubquery(subquery) => {
            jump(Expr::ScalarSubquery(of_subquery(subquery, values, schema)?))
        }
        Expr::Exists(Exists { subquery, negated }) => {
            let subquery = of_subquery(subquery, values, schema)?;
            jump(Expr::Exists(Exists { subquery, negated }))
        }
        Expr::InSubquery(InSubquery { expr, subquery, negated }) => {
            let expr = expr.transform_down(|expr| of_expression(expr, values, schema)).data()?;
            let subquery = of_subquery(subquery, values, schema)?;
            jump(Expr::InSubquery(InSubquery { expr: Box::new(expr), subquery, negated }))
        }
        Expr::SetComparison(SetComparison { expr, subquery, op, quantifier }) => {
            let expr = expr.transform_down(|expr| of_expression(expr, values, schema)).data()?;
            let subquery = of_subquery(subquery, values, schema)?;
            let expr = Box::new(expr);
            jump(Expr::SetComparison(SetComparison { expr, subquery, op, quantifier }))
        }
        other => Ok(Transformed::no(other)),
    }
}

/// Binds a nested subquery. Columns of `schema`, the plan around it, hide outer columns of the same
/// name.
fn of_subquery(subquery: Subquery, values: &Values, schema: &DFSchema) -> Result<Subquery> {
    let ours: Vec<(Column, ScalarValue)> =
        values.iter().filter(|(column, _)| !schema.has_column(column)).cloned().collect();
    let plan = bind(&subquery.subquery, &ours)?;
    let mut subquery = Subquery { subquery: Arc::new(plan), ..subquery };
    forget(&mut subquery, &ours);
    Ok(subquery)
}

/// Removes bound columns from the outer references of a subquery.
fn forget(subquery: &mut Subquery, values: &Values) {
    subquery.outer_ref_columns.retain(|reference| match reference {
        Expr::OuterReferenceColumn(_, column) => !values.iter().any(|(bound, _)| bound == column),
        _ => true,
    });
}
