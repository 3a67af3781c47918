//! Plans that are made once and executed several times, each time on another snapshot and with other values of
//! their parameters.
//!
//! A plan is kept without rows ([`emptied`]). Before it is executed its scans find the rows of the snapshot in the
//! key ranges of the values ([`renewed`]), and its operators get a new state. It was planned for a number of rows: for
//! many more it is not used.

use crate::bucket_scan::{BucketScan, Coverage, pieces};
use crate::index_lookup::{self, Looked};
use crate::lookup_join::{self, LookupJoin};
use crate::tables::Tables;
use crate::{key_ranges, parameters};
use datafusion::common::Result;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, LogicalPlan, Signature, Volatility};
use datafusion::physical_plan::{ChildrenPropertiesMode, ExecutionPlan, ReplaceChildrenOptions};
use datafusion::prelude::SessionConfig;
use futures::FutureExt;
use sdds::KeyRange;
use std::sync::Arc;
use store::TableView;
use values::translate::external;

/// Rows that the scans of a kept plan read, at most. Planning takes a small part of the time for more.
const ROWS_MAX: usize = 1 << 16;

/// Rows that a scan may always read, however few it was planned for.
const FEW_ROWS: usize = 1 << 12;

/// How many times as many rows a scan may read as it was planned for.
const GROWTH_MAX: usize = 4;

/// The operators of kept plans. Their state is that of one execution, and is renewed.
const OPERATORS: [&str; 16] = [
    "BucketScan",
    "FilterExec",
    "ProjectionExec",
    "HashJoinExec",
    "NestedLoopJoinExec",
    "CrossJoinExec",
    "SortExec",
    "SortExec(TopK)",
    "SortPreservingMergeExec",
    "AggregateExec",
    "GlobalLimitExec",
    "LocalLimitExec",
    "CoalescePartitionsExec",
    "RepartitionExec",
    "UnionExec",
    "InOrder",
];

/// A plan without rows, and the rows that each of its scans was planned for.
#[derive(Debug)]
pub struct Emptied {
    plan: Arc<dyn ExecutionPlan>,
    /// In the order of the scans in the plan; `None` for a scan whose rows are looked up.
    rows: Vec<Option<usize>>,
}

impl Emptied {
    /// Whether it was planned for so few rows that one thread computes them sooner than several.
    pub fn is_small(&self) -> bool {
        self.rows.iter().flatten().sum::<usize>() <= FEW_ROWS
    }
}

/// Whether a logical plan means the same in every statement: it calls no function that is not immutable. Subqueries are
/// not looked into.
///
/// # Errors
/// Errors of the engine.
pub fn is_lasting(plan: &LogicalPlan) -> Result<bool> {
    let mut is_lasting = true;
    plan.apply(|node| {
        node.apply_expressions(|expr| {
            is_lasting &= !expr.exists(|part| Ok(is_of_moment(part)))?;
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    Ok(is_lasting)
}

fn is_of_moment(expr: &Expr) -> bool {
    let is_immutable = |signature: &Signature| signature.volatility == Volatility::Immutable;
    match expr {
        Expr::ScalarFunction(call) => !is_immutable(call.func.signature()),
        Expr::AggregateFunction(call) => !is_immutable(call.func.signature()),
        Expr::Exists(_)
        | Expr::InSubquery(_)
        | Expr::ScalarSubquery(_)
        | Expr::SetComparison(_)
        | Expr::OuterReferenceColumn(..)
        | Expr::WindowFunction(_) => true,
        _ => false,
    }
}

/// The plan without rows. `None` if it must not be executed again, or reads too many rows.
///
/// # Errors
/// Errors of the engine.
pub fn emptied(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Emptied>> {
    let mut rows = Vec::new();
    let mut without_rows = |scan: &BucketScan, is_looked_up: bool| {
        rows.push((!is_looked_up).then(|| rows_of(scan)));
        let emptied = || scan.of_pieces(Vec::new(), Coverage::default()).with_view(None);
        // A lookup does without the filter of its join.
        let can_be = is_looked_up || scan.hint.is_none();
        Ok(can_be.then(|| emptied().without_hint()))
    };
    let plan = with_scans(plan, false, &mut without_rows)?;
    let is_small = rows.iter().flatten().sum::<usize>() <= ROWS_MAX;
    Ok(plan.filter(|_| is_small).map(|plan| Emptied { plan, rows }))
}

/// The plan with the rows of a snapshot that is wholly on this server. `None` if it was planned for fewer rows, or if a
/// table is missing.
///
/// # Errors
/// Those of the store and the engine.
pub fn renewed(
    emptied: &Emptied,
    tables: &dyn Tables,
    config: &SessionConfig,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let mut planned = emptied.rows.iter();
    let mut all = 0;
    let mut with_rows = |scan: &BucketScan, _: bool| {
        let Some(view) = tables.table(scan.table.id) else { return Ok(None) };
        let filters = parameters::with_values(&scan.filters)?;
        let mut ranges = key_ranges::of_filters(&scan.table, &filters);
        if scan.is_by_index() && ranges == [KeyRange::all()] {
            match looked_up(scan, &view, &filters, config)? {
                Some(looked) => ranges = looked.rows,
                None => return Ok(None),
            }
        }
        let found = pieces(&view, &ranges, None, &scan.read_schema, &scan.read);
        let (pieces, coverage) = found.map_err(|error| external(error.into()))?;
        let scan = scan.of_pieces(pieces, coverage);
        let Some(planned) = planned.next().copied().unwrap_or_default() else {
            return Ok(Some(scan.with_view(Some(view))));
        };
        let rows = rows_of(&scan);
        all += rows;
        let is_expected = rows <= FEW_ROWS.max(planned.saturating_mul(GROWTH_MAX));
        Ok((is_expected && all <= ROWS_MAX).then_some(scan))
    };
    let plan = with_scans(&emptied.plan, false, &mut with_rows)?;
    match plan {
        Some(plan) if emptied.rows.contains(&None) => lookup_join::with_lookups(plan).map(Some),
        plan => Ok(plan),
    }
}

/// The rows of a scan by an index. All are here: nothing is waited for.
fn looked_up(
    scan: &BucketScan,
    view: &TableView,
    filters: &[Expr],
    config: &SessionConfig,
) -> Result<Option<Looked>> {
    let looked = match &scan.wanted {
        Some(wanted) => wanted.look_up(view, config).now_or_never(),
        None => {
            let looked = index_lookup::rows(view, filters, config).now_or_never();
            looked.map(|looked| looked.map_err(|error| external(error.into())))
        }
    };
    Ok(looked.transpose()?.flatten())
}

/// The rows that a scan reads, before its predicate. A limit on rows that are not selected ends it early.
fn rows_of(scan: &BucketScan) -> usize {
    let rows = scan.pieces.iter().map(|piece| piece.morsel.rows()).sum::<usize>();
    match scan.limit {
        Some(limit) if scan.predicate.is_none() => {
            rows.min(limit.saturating_mul(scan.piece_ranges.len()))
        }
        _ => rows,
    }
}

/// Another scan in the place of one, of which is said whether its rows are looked up.
type Replace<'a> = dyn FnMut(&BucketScan, bool) -> Result<Option<BucketScan>> + 'a;

/// The plan with other scans, and with operators that have not run. Lookups are taken out of joins. `None` where a scan
/// cannot be replaced, or for operators that are not known.
fn with_scans(
    plan: &Arc<dyn ExecutionPlan>,
    is_looked_up: bool,
    replace: &mut Replace<'_>,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let lookup = plan.downcast_ref::<LookupJoin>();
    let plan = lookup.map_or(plan, LookupJoin::join);
    if !OPERATORS.contains(&plan.name()) {
        return Ok(None);
    }
    if let Some(scan) = plan.downcast_ref::<BucketScan>() {
        let Some(scan) = replace(scan, is_looked_up)? else { return Ok(None) };
        return Ok(plan.with_new_state(Arc::new(scan)));
    }
    let mut inputs = Vec::new();
    for (side, input) in plan.children().into_iter().enumerate() {
        let is_looked_up = is_looked_up || lookup.is_some() && side == 1;
        let Some(input) = with_scans(input, is_looked_up, replace)? else { return Ok(None) };
        inputs.push(input);
    }
    // A row without a table is what the engine makes of counts that it knows.
    if inputs.is_empty() {
        return Ok(None);
    }
    // The scans have the properties of those that they replace.
    let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Keep);
    let plan = Arc::clone(plan).replace_children(inputs, options)?;
    plan.reset_state().map(Some)
}
