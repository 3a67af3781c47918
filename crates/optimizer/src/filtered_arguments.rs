//! Computes arguments of aggregates with FILTER for the rows of the filter only.
//!
//! `sum(1 / x) FILTER (WHERE x <> 0)`: the engine computes the arguments of groups and of windows for all rows, and what
//! several aggregates share before it filters. A CASE computes them where the filter is true.

use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::Case;
use executor::logical_may_fail;

/// An argument of an aggregate. If it may fail, it is computed for the rows only that fulfil a filter.
pub fn where_filtered(argument: Expr, filter: Option<&Expr>) -> Expr {
    match filter {
        Some(filter)
            if logical_may_fail(&argument) && may_repeat(filter) && !has_subquery(&argument) =>
        {
            let branch = (Box::new(filter.clone()), Box::new(argument));
            Expr::Case(Case::new(None, vec![branch], None))
        }
        _ => argument,
    }
}

/// Whether an expression has the same value when it is computed twice, without much work.
fn may_repeat(expr: &Expr) -> bool {
    !expr.is_volatile() && !has_subquery(expr)
}

fn has_subquery(expr: &Expr) -> bool {
    use Expr::{Exists, InSubquery, ScalarSubquery, SetComparison};
    let is_subquery = |part: &Expr| {
        Ok(matches!(part, Exists(_) | InSubquery(_) | ScalarSubquery(_) | SetComparison(_)))
    };
    expr.exists(is_subquery).unwrap_or(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::logical_expr::{col, lit};

    #[test]
    fn arguments_that_may_fail_depend_on_the_filter() {
        let filter = col("x").not_eq(lit(0));
        let divided = lit(1) / col("x");
        let shown = |argument: &Expr| where_filtered(argument.clone(), Some(&filter)).to_string();
        assert_eq!(shown(&divided), "CASE WHEN x != Int32(0) THEN Int32(1) / x END");
        assert_eq!(shown(&col("x")), "x");
        assert_eq!(where_filtered(divided.clone(), None), divided);
    }
}
