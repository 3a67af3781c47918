//! Keeps the keys of ORDER BY behind a primary key where sets or joins repeat its rows.
//!
//! `SELECT id, unnest(v) FROM t ORDER BY id, 2`: the engine takes the key of `t` for one of the rows that `unnest` makes of
//! its rows, and drops the second key. An outer join makes rows in which the key is NULL, and each of them is another one.

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::eliminate_duplicated_expr::EliminateDuplicatedExpr;
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// The engine's rule that drops keys, where no rows are repeated.
#[derive(Debug, Default)]
pub struct KeptOrders(EliminateDuplicatedExpr);

impl OptimizerRule for KeptOrders {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        let repeats =
            |node: &LogicalPlan| Ok(matches!(node, LogicalPlan::Unnest(_) | LogicalPlan::Join(_)));
        if matches!(plan, LogicalPlan::Sort(_)) && plan.exists(repeats)? {
            return Ok(Transformed::no(plan));
        }
        self.0.rewrite(plan, config)
    }
}
