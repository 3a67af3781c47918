//! Operators of the engine as operators of the simulator, for EXPLAIN (PREDICT) and for the
//! relation of bindable operators ([`crate::bundles`]).

use bundling::Kind;
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
use datafusion::physical_plan::recursive_query::RecursiveQueryExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use executor::InOrder;
use executor::kept::KeptRowsExec;
use scan::bucket_scan::BucketScan;
use scan::lookup_join::LookupJoin;
use scan::spread_scan::SpreadScan;
use std::sync::Arc;

/// The role of an operator of the engine in the relation.
#[derive(Debug, PartialEq, Eq)]
pub enum Role {
    /// An operator that performs these steps, the last one first; empty if the relation does not
    /// have it.
    Operator(Vec<Kind>),
    /// It changes or filters rows, as a part of the operator below.
    Changes,
    /// It combines the partial results of an aggregate without groups: it forms one operator with
    /// that below.
    Finishes,
    /// It moves rows for the operator above, as a part of that.
    Moves,
}

/// The role of an operator.
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

/// With groups, the partial part of an aggregate is the group-by, and the final part is the
/// aggregate.
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

/// Whether the plans below an operator run once, and may be parts of other bundles.
pub(crate) fn is_cut(plan: &Arc<dyn ExecutionPlan>) -> bool {
    plan.downcast_ref::<RecursiveQueryExec>().is_none()
        && plan.downcast_ref::<KeptRowsExec>().is_none()
}

/// The scan of a table, on one server or several.
pub fn scan_of(plan: &Arc<dyn ExecutionPlan>) -> Option<&BucketScan> {
    plan.downcast_ref::<BucketScan>()
        .or_else(|| plan.downcast_ref::<SpreadScan>().map(|spread| &spread.here))
}

/// Whether an aggregate combines partial results.
pub fn is_of_parts(aggregate: &AggregateExec) -> bool {
    matches!(
        aggregate.mode(),
        AggregateMode::Final | AggregateMode::FinalPartitioned | AggregateMode::PartialReduce
    )
}

/// Whether an operator only moves rows between partitions.
pub fn moves_rows(plan: &Arc<dyn ExecutionPlan>) -> bool {
    plan.downcast_ref::<CoalescePartitionsExec>().is_some()
        || plan.downcast_ref::<InOrder>().is_some()
        || plan.downcast_ref::<RepartitionExec>().is_some()
        || plan.downcast_ref::<SortPreservingMergeExec>().is_some()
}

/// Whether an operator returns rows unchanged, all or the first of them.
pub fn hands_rows_on(plan: &Arc<dyn ExecutionPlan>) -> bool {
    plan.downcast_ref::<CooperativeExec>().is_some()
        || plan.downcast_ref::<GlobalLimitExec>().is_some()
        || plan.downcast_ref::<LocalLimitExec>().is_some()
}

/// The kind of a join; `None` for other operators. One with lookups is the join that it is around.
pub fn of_join(plan: &Arc<dyn ExecutionPlan>) -> Option<Kind> {
    if let Some(lookup) = plan.downcast_ref::<LookupJoin>() {
        return of_join(lookup.join());
    }
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
