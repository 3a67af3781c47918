//! Outer columns in expressions, replaced by columns of the domain.

use super::super::bind::{self, Bound};
use super::Builder;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Column, DFSchema, Result};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, LogicalPlan};

impl Builder<'_> {
    /// The outer columns with the columns of the domain that replace them in subqueries.
    pub(super) fn bound(&self, sets: &[Column]) -> Vec<(Column, Bound)> {
        let replaced = sets[1..].iter().cloned().map(Bound::Column);
        self.columns.iter().cloned().zip(replaced).collect()
    }

    /// An expression of a node over columns of the domain; its name stays.
    pub(super) fn replaced(
        &self,
        expr: &Expr,
        sets: &[Column],
        node: &LogicalPlan,
    ) -> Result<Expr> {
        let mut schema = DFSchema::empty();
        node.inputs().into_iter().for_each(|input| schema.merge(input.schema()));
        let (names, bound) = (NamePreserver::new(node), self.bound(sets));
        let name = names.save(expr);
        let expr = expr.clone().transform_down(|part| bind::of_expression(part, &bound, &schema));
        // What is left are columns outside of the subqueries in the expression, which are inside of this one.
        let inside = |part| match part {
            Expr::OuterReferenceColumn(_, column) if sets.contains(&column) => {
                Ok(Transformed::yes(Expr::Column(column)))
            }
            other => Ok(Transformed::no(other)),
        };
        Ok(name.restore(expr.data()?.transform_up(inside).data()?))
    }

    /// All of some expressions of a node over columns of the domain.
    pub(super) fn all_replaced(
        &self,
        expressions: &[Expr],
        sets: &[Column],
        node: &LogicalPlan,
    ) -> Result<Vec<Expr>> {
        expressions.iter().map(|expr| self.replaced(expr, sets, node)).collect()
    }
}
