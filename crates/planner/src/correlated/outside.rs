//! What a subquery has to do with the query around it.

use super::subquery_of;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::{Expr, FetchType, LogicalPlan, SkipType};

/// A subquery without the LIMIT and OFFSET on top of it.
pub(super) struct Cut<'a> {
    /// The rows that they cut.
    pub(super) rows: &'a LogicalPlan,
    /// Rows that are passed over.
    pub(super) skip: usize,
    /// Rows that are returned at most.
    pub(super) fetch: Option<usize>,
}

/// Takes LIMIT and OFFSET off a subquery; `None` if they are computed.
pub(super) fn cut(plan: &LogicalPlan) -> Result<Option<Cut<'_>>> {
    let LogicalPlan::Limit(limit) = plan else {
        return Ok(Some(Cut { rows: plan, skip: 0, fetch: None }));
    };
    Ok(match (limit.get_skip_type()?, limit.get_fetch_type()?) {
        (SkipType::Literal(skip), FetchType::Literal(fetch)) => {
            Some(Cut { rows: &limit.input, skip, fetch })
        }
        _ => None,
    })
}

/// Whether a plan or a subquery in it refers to one of some outer columns.
pub(super) fn is_correlated(plan: &LogicalPlan, columns: &[Column]) -> Result<bool> {
    is_anywhere(plan, |expressions| are_referred_to(columns, expressions))
}

/// Whether one of some expressions, or a subquery in it, refers to one of some outer columns.
pub(super) fn are_referred_to(columns: &[Column], expressions: &[Expr]) -> Result<bool> {
    for expr in expressions {
        if is_referred_to(columns, expr)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether an expression or a subquery in it refers to one of some outer columns.
pub(super) fn is_referred_to(columns: &[Column], expr: &Expr) -> Result<bool> {
    expr.exists(|part| match part {
        Expr::OuterReferenceColumn(_, column) => Ok(columns.contains(column)),
        part => match subquery_of(part) {
            Some(subquery) => is_correlated(&subquery.subquery, columns),
            None => Ok(false),
        },
    })
}

/// Whether a plan calls volatile functions, which run once for each outer row.
pub(super) fn is_volatile(plan: &LogicalPlan) -> Result<bool> {
    is_anywhere(plan, |expressions| Ok(expressions.iter().any(Expr::is_volatile)))
}

/// Whether the expressions of a node of a plan, or of a subquery in it, are such.
fn is_anywhere(plan: &LogicalPlan, are_such: impl Fn(&[Expr]) -> Result<bool>) -> Result<bool> {
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        found = found || are_such(&node.expressions())?;
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(found)
}
