//! The logical optimizer, with the rules that can change a plan.
//!
//! The engine applies each of its rules to every plan, in up to three passes over all rules, and a rule walks over all
//! operators and expressions also if there are none of the kind that it looks for. Most plans have no subqueries, sets or
//! unions: of them the rules for these are left out. Queries of joined tables without such parts ([`is_plain`]) need a single
//! pass.

use crate::correlated::subquery_of;
use chrono::{DateTime, Utc};
use datafusion::common::Result;
use datafusion::common::alias::AliasGenerator;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::execution::{FunctionRegistry, SessionState};
use datafusion::logical_expr::{Expr, ExpressionPlacement, JoinType, LogicalPlan};
use datafusion::optimizer::{Optimizer, OptimizerConfig, OptimizerRule};
use std::sync::Arc;

/// A rule of the logical optimizer.
type Rule = Arc<dyn OptimizerRule + Send + Sync>;

/// The rule that takes joins away, or makes semi joins of them. It needs the keys of joins.
const JOINS: &str = "eliminate_join";

/// The rule behind which conditions and keys are where they belong.
const PUSH_DOWN: &str = "push_down_filter";

/// The plan as the engine's optimizer improves it.
///
/// # Errors
/// Errors of the engine, and of constants that it computes.
pub(crate) fn optimized(engine: &SessionState, plan: &LogicalPlan) -> Result<LogicalPlan> {
    if matches!(plan, LogicalPlan::Explain(_)) {
        return engine.optimize(plan);
    }
    let options = engine.config_options();
    let plan = engine.analyzer().execute_and_check(plan.clone(), options, |_, _| {})?;
    let Some(found) = Found::of(&plan)? else {
        return engine.optimizer().optimize(plan, engine, |_, _| {});
    };
    let needed = engine.optimizers().iter().filter(|rule| found.needs(rule.name())).cloned();
    if !is_plain(&plan) {
        return Optimizer::with_rules(needed.collect()).optimize(plan, engine, |_, _| {});
    }
    let mut once = ConfigOptions::clone(options);
    once.optimizer.max_passes = 1;
    let once = Once { engine, options: Arc::new(once) };
    Optimizer::with_rules(with_joins_again(needed)).optimize(plan, &once, |_, _| {})
}

/// What the rules look for that not all plans have.
#[derive(Debug, Default)]
struct Found {
    aggregates: bool,
    windows: bool,
    sorts: bool,
    limits: bool,
    joins: bool,
    outer_joins: bool,
    unions: bool,
    distinct: bool,
    /// Expressions that are moved to where rows are read.
    leaves: bool,
}

impl Found {
    /// `None` if a plan has subqueries or rare operators, of which any rule may make others.
    fn of(plan: &LogicalPlan) -> Result<Option<Self>> {
        let (mut found, mut is_known) = (Self::default(), true);
        plan.apply(|node| {
            is_known &= found.note(node);
            node.apply_expressions(|expr| {
                expr.apply(|part| {
                    is_known &= subquery_of(part).is_none();
                    let is_call = matches!(part, Expr::ScalarFunction(_));
                    found.leaves |=
                        is_call && part.placement() == ExpressionPlacement::MoveTowardsLeafNodes;
                    Ok(if is_known { TreeNodeRecursion::Continue } else { TreeNodeRecursion::Stop })
                })
            })?;
            Ok(if is_known { TreeNodeRecursion::Continue } else { TreeNodeRecursion::Stop })
        })?;
        Ok(is_known.then_some(found))
    }

    /// Notes an operator. Returns whether it is known what rules make of it.
    fn note(&mut self, node: &LogicalPlan) -> bool {
        match node {
            LogicalPlan::Aggregate(_) => self.aggregates = true,
            LogicalPlan::Window(_) => self.windows = true,
            LogicalPlan::Sort(_) => self.sorts = true,
            LogicalPlan::Limit(_) => self.limits = true,
            LogicalPlan::Join(join) => {
                self.joins = true;
                self.outer_joins |= join.join_type != JoinType::Inner;
            }
            LogicalPlan::Union(_) => self.unions = true,
            LogicalPlan::Distinct(_) => self.distinct = true,
            LogicalPlan::Projection(_)
            | LogicalPlan::Filter(_)
            | LogicalPlan::TableScan(_)
            | LogicalPlan::SubqueryAlias(_)
            | LogicalPlan::Values(_)
            | LogicalPlan::EmptyRelation(_) => {}
            _ => return false,
        }
        true
    }

    /// Whether a rule may change the plan. DISTINCT becomes an aggregation, and of rows without columns a limit.
    fn needs(&self, rule: &str) -> bool {
        let aggregates = self.aggregates || self.distinct;
        match rule {
            "rewrite_set_comparison"
            | "decorrelate_predicate_subquery"
            | "scalar_subquery_to_join"
            | "decorrelate_lateral_join" => false,
            "optimize_unions" | "unions_to_filter" => self.unions,
            "replace_distinct_aggregate" => self.distinct,
            // The engine is not told to use it.
            "filter_null_join_keys" => false,
            JOINS | "extract_equijoin_predicate" | "eliminate_cross_join" => self.joins,
            "eliminate_outer_join" => self.outer_joins,
            "eliminate_duplicated_expr" => self.sorts || aggregates,
            "skipped_rows" | "eliminate_limit" | "push_down_limit" => self.limits || self.distinct,
            "single_distinct_aggregation_to_group_by"
            | "eliminate_group_by_constant"
            | "repeated_orders" => aggregates,
            "computed_keys" => aggregates || self.windows,
            "volatile_arguments" => self.windows,
            "extract_leaf_expressions" | "push_down_leaf_projections" => self.leaves,
            _ => true,
        }
    }
}

/// Whether a plan is projections, sorts, limits and plain aggregates over conditions on inner joins of tables: one pass over
/// the rules puts each condition and key where it belongs, as nothing is in its way that rules have to take away first.
fn is_plain(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Aggregate(aggregate) => {
            let is_set = |key: &Expr| matches!(key, Expr::GroupingSet(_));
            !aggregate.group_expr.iter().any(is_set)
                && aggregate.aggr_expr.iter().all(is_plain_call)
                && is_joined(&aggregate.input)
        }
        LogicalPlan::Projection(projection) => is_plain(&projection.input),
        LogicalPlan::Sort(sort) => is_plain(&sort.input),
        LogicalPlan::Limit(limit) => is_plain(&limit.input),
        plan => is_joined(plan),
    }
}

/// Whether an aggregate takes the values of all rows in any order.
fn is_plain_call(call: &Expr) -> bool {
    match call {
        Expr::AggregateFunction(call) => !call.params.distinct && call.params.order_by.is_empty(),
        Expr::Alias(alias) => is_plain_call(&alias.expr),
        _ => false,
    }
}

fn is_joined(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Filter(filter) => is_joined(&filter.input),
        LogicalPlan::Join(join) => {
            join.join_type == JoinType::Inner && is_joined(&join.left) && is_joined(&join.right)
        }
        LogicalPlan::SubqueryAlias(alias) => match &*alias.input {
            LogicalPlan::Projection(renamed) => {
                renamed.expr.iter().all(is_column) && is_table(&renamed.input)
            }
            input => is_table(input),
        },
        plan => is_table(plan),
    }
}

fn is_table(plan: &LogicalPlan) -> bool {
    matches!(plan, LogicalPlan::TableScan(_))
}

fn is_column(expr: &Expr) -> bool {
    match expr {
        Expr::Column(_) => true,
        Expr::Alias(alias) => is_column(&alias.expr),
        _ => false,
    }
}

/// The rules for a single pass: joins are looked at again when they have their keys.
fn with_joins_again(rules: impl Iterator<Item = Rule>) -> Vec<Rule> {
    let mut all: Vec<Rule> = rules.collect();
    let place = |name: &str| all.iter().position(|rule| rule.name() == name);
    if let (Some(joins), Some(push_down)) = (place(JOINS), place(PUSH_DOWN)) {
        let joins = Arc::clone(&all[joins]);
        all.insert(push_down + 1, joins);
    }
    all
}

/// The configuration of a single pass.
struct Once<'a> {
    engine: &'a SessionState,
    options: Arc<ConfigOptions>,
}

impl OptimizerConfig for Once<'_> {
    fn query_execution_start_time(&self) -> Option<DateTime<Utc>> {
        self.engine.query_execution_start_time()
    }

    fn alias_generator(&self) -> &Arc<AliasGenerator> {
        self.engine.alias_generator()
    }

    fn options(&self) -> Arc<ConfigOptions> {
        Arc::clone(&self.options)
    }

    fn function_registry(&self) -> Option<&dyn FunctionRegistry> {
        self.engine.function_registry()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::datatypes::{DataType, Field, Schema};
    use datafusion::logical_expr::{LogicalPlanBuilder, col, lit, table_scan};

    fn table(name: &str) -> LogicalPlanBuilder {
        let schema = Schema::new(vec![Field::new("id", DataType::Int32, false)]);
        table_scan(Some(name), &schema, None).expect("a scan")
    }

    fn joined(join: JoinType) -> Result<LogicalPlan> {
        let on = (vec!["a.id"], vec!["b.id"]);
        let rows = table("a").join(table("b").build()?, join, on, None)?;
        rows.filter(col("a.id").gt(lit(1)))?.project([col("a.id")])?.build()
    }

    #[test]
    fn inner_joins_of_tables_are_plain() {
        assert!(is_plain(&joined(JoinType::Inner).expect("a plan")));
        assert!(!is_plain(&joined(JoinType::Left).expect("a plan")));
    }

    #[test]
    fn rules_are_left_out_that_find_nothing() {
        let found = Found::of(&joined(JoinType::Inner).expect("a plan")).expect("walked");
        let found = found.expect("known operators");
        assert!(found.needs(JOINS) && found.needs(PUSH_DOWN));
        assert!(!found.needs("eliminate_outer_join") && !found.needs("repeated_orders"));
    }
}
