//! Which of the simulator's operators the engine's are: what EXPLAIN (PREDICT) simulates ([`crate::predict`]), and what the
//! relation of bindable operators is about ([`crate::distributed::bundles`]).

use crate::scan::bucket_scan::BucketScan;
use crate::scan::spread_scan::SpreadScan;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::{
    CrossJoinExec, HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec,
};
use datafusion::physical_plan::limit::{GlobalLimitExec, LocalLimitExec};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use dbsim::plan::Kind;
use std::sync::Arc;

/// What an operator of the engine is to the relation.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// An operator that does these steps, the last one first; none where the relation knows nothing of it.
    Operator(Vec<Kind>),
    /// It changes rows or leaves some out, as a part of the operator below.
    Changes,
    /// It puts the parts together that the operator below has made of an aggregate without groups: both are one.
    Finishes,
    /// It brings rows where the operator above needs them, as a part of that.
    Moves,
}

/// What an operator is to the relation.
pub(crate) fn role_of(plan: &Arc<dyn ExecutionPlan>) -> Role {
    if moves_rows(plan) {
        return Role::Moves;
    }
    if hands_rows_on(plan)
        || plan.downcast_ref::<FilterExec>().is_some()
        || plan.downcast_ref::<ProjectionExec>().is_some()
    {
        return Role::Changes;
    }
    if let Some(aggregate) = plan.downcast_ref::<AggregateExec>() {
        return role_of_aggregate(aggregate);
    }
    Role::Operator(if plan.children().is_empty() {
        vec![Kind::SequentialScan]
    } else if plan.downcast_ref::<SortExec>().is_some() {
        vec![Kind::Sort]
    } else {
        of_join(plan).into_iter().collect()
    })
}

/// Grouping is what the first half of an aggregate does, and what the second half does is the aggregate.
fn role_of_aggregate(aggregate: &AggregateExec) -> Role {
    let is_grouped = !aggregate.group_expr().is_empty();
    Role::Operator(match (is_grouped, aggregate.mode()) {
        (false, _) if is_of_parts(aggregate) => return Role::Finishes,
        (false, _) => vec![Kind::Aggregate],
        (true, AggregateMode::Partial) => vec![Kind::GroupBy],
        (true, _) if is_of_parts(aggregate) => vec![Kind::Aggregate],
        (true, _) => vec![Kind::Aggregate, Kind::GroupBy],
    })
}

/// The scan of a table, wherever its rows are.
pub(crate) fn scan_of(plan: &Arc<dyn ExecutionPlan>) -> Option<&BucketScan> {
    plan.downcast_ref::<BucketScan>()
        .or_else(|| plan.downcast_ref::<SpreadScan>().map(|spread| &spread.here))
}

/// Whether an aggregate puts together what others have made of parts of the rows.
pub(crate) fn is_of_parts(aggregate: &AggregateExec) -> bool {
    matches!(
        aggregate.mode(),
        AggregateMode::Final | AggregateMode::FinalPartitioned | AggregateMode::PartialReduce
    )
}

/// Whether an operator only brings rows somewhere else.
pub(crate) fn moves_rows(plan: &Arc<dyn ExecutionPlan>) -> bool {
    plan.downcast_ref::<CoalescePartitionsExec>().is_some()
        || plan.downcast_ref::<RepartitionExec>().is_some()
        || plan.downcast_ref::<SortPreservingMergeExec>().is_some()
}

/// Whether an operator hands rows on as they are, all or the first of them.
pub(crate) fn hands_rows_on(plan: &Arc<dyn ExecutionPlan>) -> bool {
    plan.downcast_ref::<CooperativeExec>().is_some()
        || plan.downcast_ref::<GlobalLimitExec>().is_some()
        || plan.downcast_ref::<LocalLimitExec>().is_some()
}

/// What kind of join an operator is; `None` for any other.
pub(crate) fn of_join(plan: &Arc<dyn ExecutionPlan>) -> Option<Kind> {
    if plan.downcast_ref::<HashJoinExec>().is_some() {
        Some(Kind::HashJoin)
    } else if plan.downcast_ref::<SortMergeJoinExec>().is_some() {
        Some(Kind::MergeJoin)
    } else if plan.downcast_ref::<NestedLoopJoinExec>().is_some()
        || plan.downcast_ref::<CrossJoinExec>().is_some()
    {
        Some(Kind::NestedLoopJoin)
    } else {
        None
    }
}
