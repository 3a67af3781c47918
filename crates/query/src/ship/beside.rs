//! Joins of tables that lie together: rows that belong together are on the same server, and none has to go anywhere.
//!
//! That is so where one lies beside the other, or both beside a third one ([`store::catalog::Table::colocate_with`]),
//! and the join's keys have the whole key of the one that decides where rows are. Where keys are on their way, and
//! the tables do not lie together for a moment, the join is done in another way.

use super::rule::{Bundle, bundle_of};
use super::sites::Sites;
use crate::scan::bucket_scan::BucketScan;
use crate::scan::places::Elsewhere;
use crate::scan::spread_scan::SpreadScan;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{PhysicalExpr, PhysicalExprRef};
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, Partitioning};
use sdds::Bound;
use std::sync::Arc;
use store::catalog::{SqlType, Table, TableId};
use store::key::whole_columns;

/// A join as a bundle over both sides, if they lie together.
pub(super) fn of_join(
    plan: &Arc<dyn ExecutionPlan>,
    join: &HashJoinExec,
    sides: [&Arc<dyn ExecutionPlan>; 2],
) -> Result<Option<Bundle>> {
    let (Some(left), Some(right)) = (scan_below(sides[0]), scan_below(sides[1])) else {
        return Ok(None);
    };
    let joins_keys = anchors(left).iter().any(|anchor| {
        let (_, columns) = *anchor;
        anchors(right).contains(anchor)
            && joins_on(join.on(), sides, [left, right], columns)
            && [left, right].iter().all(|scan| keeps_together(&scan.elsewhere, columns))
    });
    if !joins_keys
        || plan.output_ordering().is_some()
        || !lie_together(&left.elsewhere, &right.elsewhere)
    {
        return Ok(None);
    }
    let (Some(left), Some(right)) = (bundle_of(sides[0], true)?, bundle_of(sides[1], true)?) else {
        return Ok(None);
    };
    let (Sites::Owners(left_owners), Sites::Owners(right_owners)) = (&left.sites, &right.sites)
    else {
        return Ok(None);
    };
    if !left.ships(plan) {
        return Ok(None);
    }
    let scans = left_owners.scans.iter().chain(&right_owners.scans).cloned().collect();
    let (left_by, right_by) = join.on().iter().cloned().unzip();
    let partitions = left.shipping.partitions;
    let children =
        vec![dealt(&left.plan, left_by, partitions)?, dealt(&right.plan, right_by, partitions)?];
    let builder = join.builder().with_new_children(children)?.reset_state();
    let builder = builder.with_partition_mode(PartitionMode::Partitioned).recompute_properties();
    let (sites, shipping) = (Sites::owners(scans), left.shipping);
    Ok(Some(Bundle { plan: builder.build_exec()?, sites, shipping }))
}

/// Rows dealt out to a server's partitions. What somebody has found out about the rows of one server, which scans look
/// at, is not true of the others: they forget it.
fn dealt(
    plan: &Arc<dyn ExecutionPlan>,
    by: Vec<Arc<dyn PhysicalExpr>>,
    partitions: usize,
) -> Result<Arc<dyn ExecutionPlan>> {
    let plan = Arc::clone(plan).transform_down(|node| match node.downcast_ref::<BucketScan>() {
        Some(scan) => Ok(Transformed::yes(Arc::new(scan.clone().without_hint()) as _)),
        None => Ok(Transformed::no(node)),
    })?;
    Ok(Arc::new(RepartitionExec::try_new(plan.data, Partitioning::Hash(by, partitions))?))
}

/// The scan that an operator's rows come from, one by one.
fn scan_below(plan: &Arc<dyn ExecutionPlan>) -> Option<&SpreadScan> {
    match plan.downcast_ref::<SpreadScan>() {
        Some(scan) => Some(scan),
        None if passes_rows_on(plan) => scan_below(plan.children().first()?),
        None => None,
    }
}

fn passes_rows_on(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let is_dealt_in_turn =
        |dealt: &RepartitionExec| matches!(dealt.partitioning(), Partitioning::RoundRobinBatch(_));
    plan.downcast_ref::<FilterExec>().is_some()
        || plan.downcast_ref::<ProjectionExec>().is_some()
        || plan.downcast_ref::<RepartitionExec>().is_some_and(is_dealt_in_turn)
}

/// The tables whose keys decide where a table's rows are, itself among them, and how many columns such a key has.
fn anchors(scan: &SpreadScan) -> Vec<(TableId, usize)> {
    let view = scan.elsewhere.view();
    let all = std::iter::once(view.table()).chain(view.beside());
    all.map(|table| (table.id, table.key.len())).collect()
}

/// Whether rows that are joined are equal in the first columns of their tables' keys, as many as that.
fn joins_on(
    on: &[(PhysicalExprRef, PhysicalExprRef)],
    sides: [&Arc<dyn ExecutionPlan>; 2],
    scans: [&SpreadScan; 2],
    columns: usize,
) -> bool {
    let keys = scans.map(|scan| key_types(scan.elsewhere.view().table()));
    let pairs: Vec<_> = on
        .iter()
        .filter_map(|(left, right)| Some((column_of(sides[0], left)?, column_of(sides[1], right)?)))
        .collect();
    (0..columns).all(|at| match (keys[0].get(at), keys[1].get(at)) {
        (Some((left, left_type)), Some((right, right_type))) => {
            left_type == right_type && pairs.contains(&(*left, *right))
        }
        _ => false,
    })
}

/// The positions and types of a table's key.
fn key_types(table: &Table) -> Vec<(usize, &SqlType)> {
    table.key_indices().into_iter().map(|at| (at, &table.columns[at].sql_type)).collect()
}

/// The table's column that an expression over an operator's output is, if it is one.
fn column_of(plan: &Arc<dyn ExecutionPlan>, expression: &Arc<dyn PhysicalExpr>) -> Option<usize> {
    let at = expression.downcast_ref::<Column>()?.index();
    if let Some(scan) = plan.downcast_ref::<SpreadScan>() {
        return scan.here.read.get(*scan.here.output.get(at)?).copied();
    }
    let input = plan.children().first().copied()?;
    if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
        return column_of(input, &projection.expr().get(at)?.expr);
    }
    let at = match plan.downcast_ref::<FilterExec>().and_then(|filter| filter.projection().as_ref())
    {
        Some(columns) => *columns.get(at)?,
        None => at,
    };
    let name = input.schema().fields().get(at)?.name().clone();
    column_of(input, &(Arc::new(Column::new(&name, at)) as Arc<dyn PhysicalExpr>))
}

/// Whether rows that are equal in the first columns of a table's key, as many as that, have one owner: no owner's keys end
/// among them.
fn keeps_together(elsewhere: &Elsewhere, columns: usize) -> bool {
    let types: Vec<_> =
        key_types(elsewhere.view().table()).into_iter().map(|(_, of)| of.arrow()).collect();
    let ends_between = |border: &Bound| match border {
        Bound::At(key) => whole_columns(&types, key).is_some_and(|count| count <= columns),
        Bound::NegInf | Bound::PosInf => true,
    };
    let parts = elsewhere.parts();
    let mut borders = parts.windows(2).filter_map(|pair| {
        let [(one, owner), (other, next)] = pair else { return None };
        (owner != next && one.high == other.low).then_some(&one.high)
    });
    columns == types.len() || borders.all(ends_between)
}

/// Whether no key of one belongs to another server than the same key of the other.
fn lie_together(one: &Elsewhere, other: &Elsewhere) -> bool {
    let (ones, others) = (one.parts(), other.parts());
    let mut others = others.iter().peekable();
    for (range, owner) in ones {
        while others.next_if(|(other, _)| other.high <= range.low).is_some() {}
        let overlapping = others.clone().take_while(|(other, _)| other.low < range.high);
        if overlapping.into_iter().any(|(_, of)| *of != owner) {
            return false;
        }
    }
    true
}
