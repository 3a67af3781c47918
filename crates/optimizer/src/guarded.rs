//! Rules of the engine that are applied only where their answers are right.

use crate::{decimal_constants, kept_orders, kept_types, null_keys, pushed_filters, repeated_rows};
use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use std::fmt;
use std::sync::Arc;

/// A rule of the logical optimizer.
pub type Rule = Arc<dyn OptimizerRule + Send + Sync>;

/// Rewrites a plan by a rule of the engine, or otherwise.
pub(crate) type Guard =
    fn(&dyn OptimizerRule, LogicalPlan, &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>>;

/// The guards, by the names of the engine's rules.
const GUARDS: [(&str, Guard); 9] = [
    ("eliminate_cross_join", null_keys::order_joins),
    ("eliminate_duplicated_expr", kept_orders::drop_keys),
    ("eliminate_join", repeated_rows::without_keys),
    ("extract_equijoin_predicate", null_keys::find_keys),
    ("optimize_projections", repeated_rows::without_keys),
    ("push_down_filter", pushed_filters::push_down),
    ("replace_distinct_aggregate", repeated_rows::without_keys),
    ("single_distinct_aggregation_to_group_by", kept_types::with_casts),
    ("simplify_expressions", decimal_constants::simplify),
];

/// A rule of the engine behind a [`Guard`]. It has the same name and order of application.
struct Guarded {
    rule: Rule,
    guard: Guard,
}

/// The rule to use in the place of a rule of the engine.
pub fn guarded(rule: &Rule) -> Rule {
    let rule = Arc::clone(rule);
    match GUARDS.iter().find(|(name, _)| *name == rule.name()) {
        Some((_, guard)) => Arc::new(Guarded { rule, guard: *guard }),
        None => rule,
    }
}

impl fmt::Debug for Guarded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Guarded({})", self.rule.name())
    }
}

impl OptimizerRule for Guarded {
    fn name(&self) -> &str {
        self.rule.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.rule.apply_order()
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        (self.guard)(&*self.rule, plan, config)
    }
}
