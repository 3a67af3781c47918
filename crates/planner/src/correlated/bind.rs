//! Replaces the outer columns in a subquery by values, or by other outer columns.

use datafusion::common::metadata::FieldMetadata;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::{Exists, InSubquery, SetComparison};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, LogicalPlan, Subquery, SubqueryAlias};
use std::sync::Arc;

/// Outer columns with what replaces them.
pub(super) type Values = [(Column, Bound)];

/// What an outer column is replaced by.
#[derive(Debug, Clone)]
pub(super) enum Bound {
    /// A value.
    Value(ScalarValue),
    /// Another column outside.
    Column(Column),
}

/// Replaces outer columns in a plan and in its subqueries.
pub(super) fn bind(plan: &LogicalPlan, values: &Values) -> Result<LogicalPlan> {
    plan.clone().transform_up(|node| of_node(node, values)).data()
}

/// Whether the right side of a join is a subquery, perhaps under an alias: the join is LATERAL.
pub(super) fn is_lateral(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Subquery(_) => true,
        LogicalPlan::SubqueryAlias(alias) => matches!(*alias.input, LogicalPlan::Subquery(_)),
        _ => false,
    }
}

/// Replaces outer columns in the right side of a LATERAL join, which stays one: a subquery, perhaps under an alias.
pub(super) fn bind_lateral(plan: &LogicalPlan, values: &Values) -> Result<LogicalPlan> {
    match plan {
        LogicalPlan::Subquery(subquery) => {
            let mut subquery = subquery.clone();
            subquery.subquery = Arc::new(bind(&subquery.subquery, values)?);
            forget(&mut subquery, values);
            Ok(LogicalPlan::Subquery(subquery))
        }
        LogicalPlan::SubqueryAlias(alias) => {
            let input = bind_lateral(&alias.input, values)?;
            let alias = SubqueryAlias::try_new(Arc::new(input), alias.alias.clone())?;
            Ok(LogicalPlan::SubqueryAlias(alias))
        }
        other => bind(other, values),
    }
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

/// Replaces outer columns in an expression. `schema` has the columns of the plan around it.
pub(super) fn of_expression(
    expr: Expr,
    values: &Values,
    schema: &DFSchema,
) -> Result<Transformed<Expr>> {
    let jump = |expr| Ok(Transformed::new(expr, true, TreeNodeRecursion::Jump));
    match expr {
        Expr::OuterReferenceColumn(ref field, ref column) => {
            match values.iter().find(|(bound, _)| bound == column) {
                Some((_, Bound::Column(other))) => {
                    jump(Expr::OuterReferenceColumn(Arc::clone(field), other.clone()))
                }
                Some((_, Bound::Value(value))) => {
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
    let ours: Vec<(Column, Bound)> =
        values.iter().filter(|(column, _)| !schema.has_column(column)).cloned().collect();
    let plan = bind(&subquery.subquery, &ours)?;
    let mut subquery = Subquery { subquery: Arc::new(plan), ..subquery };
    forget(&mut subquery, &ours);
    Ok(subquery)
}

/// Replaces bound columns among the outer references of a subquery.
fn forget(subquery: &mut Subquery, values: &Values) {
    let references = std::mem::take(&mut subquery.outer_ref_columns).into_iter();
    let left = references.filter_map(|reference| {
        let Expr::OuterReferenceColumn(field, column) = reference else { return Some(reference) };
        match values.iter().find(|(bound, _)| *bound == column) {
            Some((_, Bound::Value(_))) => None,
            Some((_, Bound::Column(other))) => {
                Some(Expr::OuterReferenceColumn(field, other.clone()))
            }
            None => Some(Expr::OuterReferenceColumn(field, column)),
        }
    });
    subquery.outer_ref_columns = left.collect();
}
