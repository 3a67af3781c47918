//! Keeps apart joins whose keys match NULLs (`a IS NOT DISTINCT FROM b`) and joins whose keys do not (`a = b`).
//!
//! `... q JOIN t ON q.a IS NOT DISTINCT FROM t.a JOIN u ON true`: the engine makes one list of the keys of inner joins within
//! each other, and lets all match NULLs as those of the outermost join do. Equalities that come later to a join whose keys
//! match NULLs become such keys, too.

use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{NullEquality, Result};
use datafusion::logical_expr::{Join, JoinType, LogicalPlan, Projection};
use datafusion::optimizer::eliminate_cross_join::EliminateCrossJoin;
use datafusion::optimizer::extract_equijoin_predicate::ExtractEquijoinPredicate;
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use std::sync::Arc;

/// The rule that orders inner joins, in the place of the engine's. Joins with the other kind of keys stay as they are.
#[derive(Debug, Default)]
pub struct JoinOrders(EliminateCrossJoin);

impl OptimizerRule for JoinOrders {
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
        if !plan.exists(|node| Ok(inner(node).is_some_and(matches_nulls)))? {
            return self.0.rewrite(plan, config);
        }
        self.0.rewrite(plan.transform_up_with_subqueries(set_apart).data()?, config)
    }
}

/// Puts a projection on inner joins below another one, or below a condition, that has the other kind of keys.
fn set_apart(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let kind = match &plan {
        LogicalPlan::Filter(_) => Some(false),
        plan => inner(plan).map(matches_nulls),
    };
    let Some(outer) = kind else { return Ok(Transformed::no(plan)) };
    plan.map_children(|child| {
        let is_other = inner(&child).is_some_and(|join| matches_nulls(join) != outer);
        Ok(if is_other { Transformed::yes(projected(child)) } else { Transformed::no(child) })
    })
}

fn inner(plan: &LogicalPlan) -> Option<&Join> {
    match plan {
        LogicalPlan::Join(join) if join.join_type == JoinType::Inner => Some(join),
        _ => None,
    }
}

fn matches_nulls(join: &Join) -> bool {
    join.null_equality == NullEquality::NullEqualsNull
}

/// All columns of a plan.
fn projected(plan: LogicalPlan) -> LogicalPlan {
    let schema = Arc::clone(plan.schema());
    LogicalPlan::Projection(Projection::new_from_schema(Arc::new(plan), schema))
}

/// The rule that makes keys of conditions, in the place of the engine's.
#[derive(Debug, Default)]
pub struct JoinKeys(ExtractEquijoinPredicate);

impl OptimizerRule for JoinKeys {
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
        match &plan {
            LogicalPlan::Join(join) if matches_nulls(join) => Ok(Transformed::no(plan)),
            _ => self.0.rewrite(plan, config),
        }
    }
}
