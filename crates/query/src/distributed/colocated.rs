//! Joins of tables that lie together: rows that belong together are on the same server, and none has to go anywhere.
//!
//! That is so where one lies beside the other, or both beside a third one ([`store::catalog::Table::colocate_with`]),
//! and the join's keys have the whole key of the one that decides where rows are. Where keys are on their way, and
//! the tables do not lie together for a moment, the join is done in another way.
//!
//! A side may be a join itself: its rows are where those are that they were made of.

use super::rule::{Fragment, fragment_of, gathered};
use super::sites::{Owners, Sites};
use crate::scan::bucket_scan::BucketScan;
use crate::scan::places::Elsewhere;
use crate::scan::spread_scan::SpreadScan;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{JoinSide, JoinType, Result};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{PhysicalExpr, PhysicalExprRef};
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::utils::build_join_schema;
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, Partitioning};
use sdds::Bound;
use std::sync::Arc;
use store::catalog::{SqlType, Table, TableId};
use store::key::whole_columns;

/// A join as a fragment over both sides, if they lie together.
pub(super) fn of_join(
    plan: &Arc<dyn ExecutionPlan>,
    join: &HashJoinExec,
    sides: [&Arc<dyn ExecutionPlan>; 2],
) -> Result<Option<Fragment>> {
    let pairs: Vec<(Origin, Origin)> = join
        .on()
        .iter()
        .filter_map(|(left, right)| Some((origin_of(sides[0], left)?, origin_of(sides[1], right)?)))
        .collect();
    let rights = scans_below(sides[1]);
    let together = scans_below(sides[0]).into_iter().find_map(|left| {
        let right = rights.iter().find(|right| are_joined([&left, right], &pairs))?;
        Some([left, Arc::clone(right)])
    });
    let Some(together) = together.filter(|_| plan.output_ordering().is_none()) else {
        return Ok(None);
    };
    let (Some(left), Some(right)) = (fragment_of(sides[0], true)?, fragment_of(sides[1], true)?)
    else {
        return Ok(None);
    };
    let (Sites::Owners(left_owners), Sites::Owners(right_owners)) = (&left.sites, &right.sites)
    else {
        return Ok(None);
    };
    // Rows of a side may have been sent to others after all.
    let [left_scan, right_scan] = &together;
    if !left.ships(plan) || !is_of(left_owners, left_scan) || !is_of(right_owners, right_scan) {
        return Ok(None);
    }
    let scans = left_owners.scans.iter().chain(&right_owners.scans).cloned().collect();
    let (left_by, right_by) = join.on().iter().cloned().unzip();
    let partitions = left.shipping.partitions;
    let children = vec![
        repartition(&left.plan, left_by, partitions)?,
        repartition(&right.plan, right_by, partitions)?,
    ];
    let builder = join.builder().with_new_children(children)?.reset_state();
    let builder = builder.with_partition_mode(PartitionMode::Partitioned).recompute_properties();
    let (sites, shipping) = (Sites::owners(scans), left.shipping);
    Ok(Some(Fragment { plan: builder.build_exec()?, sites, shipping }))
}

/// Rows dealt out to a server's partitions. What somebody has found out about the rows of one server, which scans look
/// at, is not true of the others: they forget it.
fn repartition(
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

/// A scan, and one of its table's columns.
type Origin = (Arc<dyn ExecutionPlan>, usize);

/// The scans that say where an operator's rows are: each is made of a row of each of them, and is where those are.
fn scans_below(plan: &Arc<dyn ExecutionPlan>) -> Vec<Arc<dyn ExecutionPlan>> {
    if plan.downcast_ref::<SpreadScan>().is_some() {
        return vec![Arc::clone(plan)];
    }
    if let Some(join) = plan.downcast_ref::<HashJoinExec>() {
        let (of_left, of_right) = always_has(join.join_type());
        let sides = [(of_left, join.left()), (of_right, join.right())].into_iter();
        let sides = sides.filter(|(has, _)| *has).map(|(_, side)| gathered(side));
        return sides.flat_map(|side| scans_below(&side)).collect();
    }
    match plan.children().first() {
        Some(child) if passes_rows_on(plan) => scans_below(child),
        _ => Vec::new(),
    }
}

/// Whether each row of a join is made of a row of its left side, and of its right one.
fn always_has(join: &JoinType) -> (bool, bool) {
    match join {
        JoinType::Inner => (true, true),
        JoinType::Left | JoinType::LeftSemi | JoinType::LeftAnti | JoinType::LeftMark => {
            (true, false)
        }
        JoinType::Right | JoinType::RightSemi | JoinType::RightAnti | JoinType::RightMark => {
            (false, true)
        }
        JoinType::Full => (false, false),
    }
}

/// Whether a scan is one of those that owners of a fragment's rows read.
fn is_of(owners: &Owners, scan: &Arc<dyn ExecutionPlan>) -> bool {
    spread(scan).is_some_and(|scan| owners.scans.iter().any(|own| own.is_same(&scan.elsewhere)))
}

fn spread(scan: &Arc<dyn ExecutionPlan>) -> Option<&SpreadScan> {
    scan.downcast_ref::<SpreadScan>()
}

/// Whether rows of two scans lie together that the pairs of a join's keys join.
fn are_joined(scans: [&Arc<dyn ExecutionPlan>; 2], pairs: &[(Origin, Origin)]) -> bool {
    let of_both = pairs.iter().filter(|((left, _), (right, _))| {
        Arc::ptr_eq(left, scans[0]) && Arc::ptr_eq(right, scans[1])
    });
    let pairs: Vec<(usize, usize)> =
        of_both.map(|((_, left), (_, right))| (*left, *right)).collect();
    let (Some(left), Some(right)) = (spread(scans[0]), spread(scans[1])) else { return false };
    let joins_keys = anchors(left).iter().any(|anchor| {
        let (_, columns) = *anchor;
        anchors(right).contains(anchor)
            && joins_on(&pairs, [left, right], columns)
            && [left, right].iter().all(|scan| keeps_together(&scan.elsewhere, columns))
    });
    joins_keys && lie_together(&left.elsewhere, &right.elsewhere)
}

fn passes_rows_on(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let is_round_robin = |repartition: &RepartitionExec| {
        matches!(repartition.partitioning(), Partitioning::RoundRobinBatch(_))
    };
    plan.downcast_ref::<FilterExec>().is_some()
        || plan.downcast_ref::<ProjectionExec>().is_some()
        || plan.downcast_ref::<RepartitionExec>().is_some_and(is_round_robin)
}

/// The tables whose keys decide where a table's rows are, itself among them, and how many columns such a key has.
fn anchors(scan: &SpreadScan) -> Vec<(TableId, usize)> {
    let view = scan.elsewhere.view();
    let all = std::iter::once(view.table()).chain(view.colocated());
    all.map(|table| (table.id, table.key.len())).collect()
}

/// Whether rows that are joined are equal in the first columns of their tables' keys, as many as that.
fn joins_on(pairs: &[(usize, usize)], scans: [&SpreadScan; 2], columns: usize) -> bool {
    let keys = scans.map(|scan| key_types(scan.elsewhere.view().table()));
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

/// The scan's column that an expression over an operator's output is, if it is one.
fn origin_of(plan: &Arc<dyn ExecutionPlan>, expression: &PhysicalExprRef) -> Option<Origin> {
    origin_at(plan, expression.downcast_ref::<Column>()?.index())
}

fn origin_at(plan: &Arc<dyn ExecutionPlan>, at: usize) -> Option<Origin> {
    if let Some(scan) = spread(plan) {
        let column = scan.here.read.get(*scan.here.output.get(at)?)?;
        return Some((Arc::clone(plan), *column));
    }
    if let Some(join) = plan.downcast_ref::<HashJoinExec>() {
        let at = match &join.projection {
            Some(columns) => *columns.get(at)?,
            None => at,
        };
        let (left, right) = (gathered(join.left()), gathered(join.right()));
        let (_, columns) = build_join_schema(&left.schema(), &right.schema(), join.join_type());
        let column = columns.get(at)?;
        return match column.side {
            JoinSide::Left => origin_at(&left, column.index),
            JoinSide::Right => origin_at(&right, column.index),
            JoinSide::None => None,
        };
    }
    let input = plan.children().first().copied().filter(|_| passes_rows_on(plan))?;
    if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
        return origin_of(input, &projection.expr().get(at)?.expr);
    }
    match plan.downcast_ref::<FilterExec>().and_then(|filter| filter.projection().as_ref()) {
        Some(columns) => origin_at(input, *columns.get(at)?),
        None => origin_at(input, at),
    }
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
