//! Joins of colocated tables: matching rows are on the same server, and no row is sent.
//!
//! One table is colocated with the other, or both with a third one
//! ([`store::catalog::Table::colocate_with`]), and the join's keys include the whole key of the
//! table that determines the placement. While rows move, tables may not be colocated for a moment;
//! then the join is executed in another way.
//!
//! A side may itself be a join: its rows are where the rows are of which they are made.

use super::fragment::Fragment;
use super::partitions::unpartitioned;
use crate::sites::{Owners, Sites};
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
use scan::bucket_scan::BucketScan;
use scan::places::Elsewhere;
use scan::spread_scan::SpreadScan;
use sdds::Bound;
use std::sync::Arc;
use store::catalog::{SqlType, Table, TableId};
use store::key::whole_columns;

/// A scan of each side of a join.
pub(super) type Scans = [Arc<dyn ExecutionPlan>; 2];

/// A scan of each side whose tables are colocated and joined by their keys, if there are any. The
/// sides are without partitions of their own.
pub(super) fn scans_of(
    plan: &Arc<dyn ExecutionPlan>,
    join: &HashJoinExec,
    sides: [&Arc<dyn ExecutionPlan>; 2],
) -> Option<Scans> {
    if plan.output_ordering().is_some() {
        return None;
    }
    let pairs: Vec<(Origin, Origin)> = join
        .on()
        .iter()
        .filter_map(|(left, right)| Some((origin_of(sides[0], left)?, origin_of(sides[1], right)?)))
        .collect();
    let rights = scans_below(sides[1]);
    scans_below(sides[0]).into_iter().find_map(|left| {
        let right = rights.iter().find(|right| are_joined([&left, right], &pairs))?;
        Some([left, Arc::clone(right)])
    })
}

/// A join as a fragment over the fragments of both sides, if these are still colocated by `scans`.
pub(super) fn of_join(
    plan: &Arc<dyn ExecutionPlan>,
    join: &HashJoinExec,
    [left, right]: [Fragment; 2],
    scans: &Scans,
) -> Result<Option<Fragment>> {
    let (Sites::Owners(left_owners), Sites::Owners(right_owners)) = (&left.sites, &right.sites)
    else {
        return Ok(None);
    };
    // The fragment of a side may be over an exchange instead.
    let [left_scan, right_scan] = scans;
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

/// The rows hash-partitioned within each server. A dynamic filter of the rows of one server does
/// not hold on the others, so scans drop it.
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

/// The scans that determine the placement of an operator's rows: each row is made of a row of each
/// of these scans, and is where those are.
fn scans_below(plan: &Arc<dyn ExecutionPlan>) -> Vec<Arc<dyn ExecutionPlan>> {
    if plan.downcast_ref::<SpreadScan>().is_some() {
        return vec![Arc::clone(plan)];
    }
    if let Some(join) = plan.downcast_ref::<HashJoinExec>() {
        let (of_left, of_right) = always_has(join.join_type());
        let sides = [(of_left, join.left()), (of_right, join.right())].into_iter();
        let sides = sides.filter(|(has, _)| *has).map(|(_, side)| unpartitioned(side));
        return sides.flat_map(|side| scans_below(&side)).collect();
    }
    match plan.children().first() {
        Some(child) if keeps_rows(plan) => scans_below(child),
        _ => Vec::new(),
    }
}

/// Whether each row of a join is made of a row of its left side, and of its right side.
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

/// Whether a scan is among those of a fragment's owners.
fn is_of(owners: &Owners, scan: &Arc<dyn ExecutionPlan>) -> bool {
    spread(scan).is_some_and(|scan| owners.scans.iter().any(|own| own.is_same(&scan.elsewhere)))
}

fn spread(scan: &Arc<dyn ExecutionPlan>) -> Option<&SpreadScan> {
    scan.downcast_ref::<SpreadScan>()
}

/// Whether matching rows of two scans are colocated; `pairs` are the keys of the join.
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
    joins_keys && have_same_owners(&left.elsewhere, &right.elsewhere)
}

/// Whether an operator keeps its input rows on their servers, except for columns and filtered rows.
fn keeps_rows(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let is_round_robin = |repartition: &RepartitionExec| {
        matches!(repartition.partitioning(), Partitioning::RoundRobinBatch(_))
    };
    plan.downcast_ref::<FilterExec>().is_some()
        || plan.downcast_ref::<ProjectionExec>().is_some()
        || plan.downcast_ref::<RepartitionExec>().is_some_and(is_round_robin)
}

/// The tables whose keys determine the placement of a table's rows, with itself, and the number of
/// key columns of each.
fn anchors(scan: &SpreadScan) -> Vec<(TableId, usize)> {
    let view = scan.elsewhere.view();
    let all = std::iter::once(view.table()).chain(view.colocated());
    all.map(|table| (table.id, table.key.len())).collect()
}

/// Whether joined rows are equal in the first `columns` columns of their tables' keys.
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

/// The scan and column that an expression over an operator's output is, if it is one.
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
        let (left, right) = (unpartitioned(join.left()), unpartitioned(join.right()));
        let (_, columns) = build_join_schema(&left.schema(), &right.schema(), join.join_type());
        let column = columns.get(at)?;
        return match column.side {
            JoinSide::Left => origin_at(&left, column.index),
            JoinSide::Right => origin_at(&right, column.index),
            JoinSide::None => None,
        };
    }
    let input = plan.children().first().copied().filter(|_| keeps_rows(plan))?;
    if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
        return origin_of(input, &projection.expr().get(at)?.expr);
    }
    match plan.downcast_ref::<FilterExec>().and_then(|filter| filter.projection().as_ref()) {
        Some(columns) => origin_at(input, *columns.get(at)?),
        None => origin_at(input, at),
    }
}

/// Whether rows that are equal in the first `columns` columns of a table's key have the same owner:
/// no border between owners divides them.
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

/// Whether every key that both tables can have belongs to the same server in both.
fn have_same_owners(one: &Elsewhere, other: &Elsewhere) -> bool {
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
