//! The leaves of a fragment, and what its form says about its output.

use super::constants::constants_of;
use crate::boundary::Stored;
use crate::exchange::{Broadcast, Exchange, carries_rows};
use datafusion::common::Result;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::physical_expr::{EquivalenceProperties, LexOrdering};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, SchedulingType};
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{
    ExecutionPlan, ExecutionPlanProperties, Partitioning, PlanProperties,
};
use scan::bucket_scan::BucketScan;
use std::sync::Arc;

/// Whether the inputs of an operator belong to its fragment: not those of a broadcast, an exchange
/// or stored rows.
pub(super) fn below(node: &Arc<dyn ExecutionPlan>) -> TreeNodeRecursion {
    if carries_rows(node) || node.downcast_ref::<Stored>().is_some() {
        TreeNodeRecursion::Jump
    } else {
        TreeNodeRecursion::Continue
    }
}

/// The broadcasts, exchanges and stored rows of a fragment, from the root down.
pub(super) fn leaves_of(fragment: &Arc<dyn ExecutionPlan>) -> Result<Vec<Arc<dyn ExecutionPlan>>> {
    let mut found = Vec::new();
    fragment.apply(|node| {
        let next = below(node);
        if next == TreeNodeRecursion::Jump {
            found.push(Arc::clone(node));
        }
        Ok(next)
    })?;
    Ok(found)
}

/// The scans of a fragment, from the root down.
pub(super) fn scans_of(fragment: &Arc<dyn ExecutionPlan>) -> Result<Vec<Arc<dyn ExecutionPlan>>> {
    let mut found = Vec::new();
    fragment.apply(|node| {
        if node.downcast_ref::<BucketScan>().is_some() {
            found.push(Arc::clone(node));
        }
        Ok(below(node))
    })?;
    Ok(found)
}

/// The innermost operator of a fragment that must run where its input is: a scan, a join of
/// colocated tables, or the operator above exchanges.
pub(super) fn core_of(fragment: &Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    let mut core = fragment;
    loop {
        let is_gathered =
            |child: &&Arc<dyn ExecutionPlan>| child.downcast_ref::<Broadcast>().is_some();
        let mut inputs = core.children().into_iter().filter(|child| !is_gathered(child));
        match (inputs.next(), inputs.next()) {
            (Some(input), None) if input.downcast_ref::<Exchange>().is_none() => core = input,
            _ => return Arc::clone(core),
        }
    }
}

/// The order of a fragment's output on each server: that of a top-N. The order of a scan is not
/// kept.
pub(crate) fn order_of(fragment: &Arc<dyn ExecutionPlan>) -> Result<Option<LexOrdering>> {
    let mut sorts = false;
    fragment.apply(|node| {
        sorts |= node.downcast_ref::<SortExec>().is_some();
        if let Some(stored) = node.downcast_ref::<Stored>() {
            sorts |= order_of(stored.bundle())?.is_some();
        }
        Ok(below(node))
    })?;
    Ok(fragment.output_ordering().filter(|_| sorts).cloned())
}

/// The properties of an operator that stands for a fragment on another server.
pub(super) fn properties_of(
    fragment: &Arc<dyn ExecutionPlan>,
    order: Option<LexOrdering>,
) -> Result<PlanProperties> {
    let mut equivalences = EquivalenceProperties::new(fragment.schema());
    equivalences.add_constants(constants_of(fragment))?;
    equivalences.add_orderings(order);
    let partitioning = Partitioning::UnknownPartitioning(1);
    let (emission, boundedness) = (EmissionType::Incremental, Boundedness::Bounded);
    let properties = PlanProperties::new(equivalences, partitioning, emission, boundedness);
    Ok(properties.with_scheduling_type(SchedulingType::Cooperative))
}
