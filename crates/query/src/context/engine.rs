//! The query engine, which all statements of a database share.

use datafusion::execution::memory_pool::TrackConsumersPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::prelude::SessionConfig;
use distributed::{Exchanges, ShipFragments, read_everywhere};
use executor::Checks;
use executor::QueryMemory;
use optimizer::{
    AllRows, ByUniqueNames, ComputedKeys, FewGroups, FloatGroups, LateColumns, LimitedGroups,
    MergedOrders, MissingOrders, OrderedGroups, OuterConstants, ReadOrders, RepeatedOrders, Rule,
    SkippedRows, VolatileArguments, WholeOrders,
};
use planner::casts::Casts;
use planner::kept::PlansKept;
use planner::scales::Scales;
use planner::volatile::VolatileColumns;
use planner::waiting::WaitingValues;
use scan::BATCH_ROWS;
use scan::lookup_join::LookupJoins;
use scan::orders::ReadInOrder;
use scan::portable::Portable;
use scan::spread_scan::ReadEverywhere;
use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use store::Store;
use values::error::Result;

/// Consumers that an out-of-memory error names.
const CONSUMERS_NAMED: usize = 5;

/// Bytes of rows, with as much again for their order, up to which rows are sorted together. More rows are sorted batch by
/// batch and merged. Sorting together takes a third less time for 9,000 rows, half for 20,000 by a number, and a fifth
/// more for 40,000 by texts.
const SORTED_TOGETHER_BYTES: usize = 4 << 20;

/// A rule of the physical optimizer.
type PhysicalRule = Arc<dyn PhysicalOptimizerRule + Send + Sync>;

/// The query engine.
#[derive(Debug)]
pub(crate) struct Engine {
    /// The state with all functions. It is never copied.
    pub(crate) functions: SessionState,
    /// The state that each statement copies. It has only the functions that optimizer rules look up by name: copying some
    /// hundred names would cost more than many statements.
    pub(crate) for_statement: SessionState,
}

impl Engine {
    /// An engine that divides a query's work into `threads` partitions and draws on the store's memory limit. Its plans
    /// find the exchanges of this server.
    pub(crate) fn new(
        store: &Arc<Store>,
        threads: usize,
        exchanges: &Arc<Exchanges>,
    ) -> Result<Self> {
        let consumers = NonZeroUsize::new(CONSUMERS_NAMED).unwrap_or(NonZeroUsize::MIN);
        let pool = TrackConsumersPool::new(QueryMemory::new(store.memory()), consumers);
        let runtime = RuntimeEnvBuilder::new().with_memory_pool(Arc::new(pool)).build_arc()?;
        let builder = SessionStateBuilder::new()
            .with_config(config(threads))
            .with_runtime_env(runtime)
            .with_default_features()
            .with_query_planner(Arc::new(PlansKept))
            .with_analyzer_rule(Arc::new(Casts))
            .with_analyzer_rule(Arc::new(Scales))
            .with_analyzer_rule(Arc::new(WaitingValues))
            .with_analyzer_rule(Arc::new(VolatileColumns))
            .with_optimizer_rule(Arc::new(RepeatedOrders));
        let mut functions = builder.build();
        functions::register_shared(&mut functions)?;
        let portable = Arc::new(Portable::new(&functions));
        functions.config_mut().set_extension(portable);
        functions.config_mut().set_extension(Arc::clone(exchanges));
        functions.config_mut().set_extension(Arc::new(ReadEverywhere(read_everywhere)));
        let for_statement = SessionStateBuilder::new_from_existing(functions.clone())
            .with_scalar_functions(Vec::new())
            .with_higher_order_functions(Vec::new())
            .with_window_functions(Vec::new())
            .with_table_functions(HashMap::new())
            .with_optimizer_rules(logical_rules(functions.optimizers()))
            .with_physical_optimizer_rules(physical_rules(functions.physical_optimizers()))
            .build();
        Ok(Self { functions, for_statement })
    }
}

/// The rules of the logical optimizer, without those of the engine where they are wrong.
fn logical_rules(rules: &[Rule]) -> Vec<Rule> {
    let first: Rule = Arc::new(SkippedRows);
    let last: [Rule; 2] = [Arc::new(ComputedKeys), Arc::new(VolatileArguments)];
    [first].into_iter().chain(rules.iter().map(optimizer::guarded)).chain(last).collect()
}

/// The engine's rules and ours. Plans are given checks before they are divided into fragments, since operators that share
/// state with fragments are not to be replaced any more. Predicates are pushed down to scans before the sides of joins are chosen, because scans
/// estimate their rows better than filters do.
fn physical_rules(rules: &[PhysicalRule]) -> Vec<PhysicalRule> {
    let mut rules = rules.to_vec();
    let place = |name| rules.iter().position(|rule| rule.name() == name);
    if let (Some(from), Some(to)) = (place("FilterPushdown"), place("join_selection")) {
        let pushdown = rules.remove(from);
        rules.insert(to, pushdown);
    }
    let place = |name| rules.iter().position(|rule| rule.name() == name);
    if let Some(sorts) = place("EnsureRequirements") {
        rules[sorts] = Arc::new(MergedOrders);
        rules.insert(sorts, Arc::new(OuterConstants));
    }
    let place = |name| rules.iter().position(|rule| rule.name() == name);
    if let Some(groups) = place("LimitAggregation") {
        rules.insert(groups + 1, Arc::new(OrderedGroups));
    }
    let is_pushdown = |rule: &PhysicalRule| rule.name().starts_with("FilterPushdown");
    for rule in rules.iter_mut().filter(|rule| is_pushdown(rule)) {
        *rule = Arc::new(ByUniqueNames(Arc::clone(rule)));
    }
    let last = rules.iter().rposition(is_pushdown).unwrap_or(rules.len());
    rules.insert(last, Arc::new(WholeOrders));
    rules.insert(last, Arc::new(ReadOrders));
    rules.insert(last, Arc::new(LateColumns));
    rules.insert(last, Arc::new(AllRows));
    rules.insert(last, Arc::new(FewGroups));
    rules.insert(last, Arc::new(LimitedGroups));
    let pushdown = rules.iter_mut().filter(|rule| rule.name() == "PushdownSort");
    pushdown.for_each(|rule| *rule = Arc::new(ReadInOrder));
    let check = rules.iter().position(|rule| rule.name() == "SanityCheckPlan");
    rules.insert(check.unwrap_or(rules.len()), Arc::new(MissingOrders));
    rules.push(Arc::new(FloatGroups));
    rules.push(Arc::new(Checks));
    rules.push(Arc::new(LookupJoins));
    rules.push(Arc::new(ShipFragments));
    rules
}

fn config(threads: usize) -> SessionConfig {
    let mut config = SessionConfig::new()
        .with_target_partitions(threads)
        .with_batch_size(BATCH_ROWS)
        .with_information_schema(false)
        .with_create_default_catalog_and_schema(false);
    let options = config.options_mut();
    options.execution.time_zone = Some("+00:00".to_owned());
    options.execution.sort_in_place_threshold_bytes = SORTED_TOGETHER_BYTES;
    options.explain.logical_plan_only = false;
    // Their rule forgets that windows above one another need rows each, and that lag() of a negative offset looks ahead.
    options.optimizer.enable_window_limits = false;
    // It compares what is known of NULLs in the input of an aggregation with what rules have learned of them since.
    options.execution.skip_physical_aggregate_schema_check = true;
    config
}
