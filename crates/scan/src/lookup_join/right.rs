//! The right side of a lookup join: operators that work on each row alone, over a scan.

use super::joined::{Joined, can_be_looked_up};
use super::way::{Way, way};
use crate::bucket_scan::{BucketScan, statistics};
use crate::parameters;
use crate::places::{self, Found};
use crate::shipping::Shipping;
use crate::spread_scan::{ReadEverywhere, SpreadScan};
use datafusion::common::{Result, internal_err};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{CastExpr, Column};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use datafusion::prelude::SessionConfig;
use sdds::KeyRange;
use std::sync::Arc;
use store::TableView;

/// The rows of a right side.
#[derive(Clone)]
pub(super) struct Right {
    view: TableView,
    /// The scan that is narrowed; of several servers this one's.
    scan: BucketScan,
    spread: Option<Arc<Shipping>>,
    rows: usize,
    /// The columns of the table with which left values are compared.
    joined: Arc<[Joined]>,
}

impl Right {
    /// The right side of a join; `None` if its rows cannot be looked up.
    pub(super) fn of(join: &HashJoinExec) -> Option<Self> {
        let leaf = leaf_of(join.right())?;
        let spread = leaf.downcast_ref::<SpreadScan>();
        let scan = match spread {
            Some(spread) => &spread.here,
            None => leaf.downcast_ref::<BucketScan>()?,
        };
        let view = match spread {
            Some(spread) => Some(spread.elsewhere.view()),
            None => scan.view.as_ref(),
        };
        if scan.limit.is_some() || scan.is_by_index() {
            return None;
        }
        let joined = join.on().iter().filter_map(|(left, right)| {
            let output = traced(join.right(), column_of(right)?.index())?;
            let column = scan.read[scan.output[output]];
            let is_known = can_be_looked_up(&scan.table.columns[column].sql_type.arrow());
            is_known.then(|| Joined { left: Arc::clone(left), column })
        });
        let (here, _) = statistics::in_pieces(scan);
        let rows = match spread {
            Some(spread) => {
                let total = spread.elsewhere.peers().ok()?.0.total(scan.table.id);
                total.map_or(here, |total| here.max(total.rows as usize))
            }
            None => here,
        };
        Some(Self {
            view: view?.clone(),
            scan: scan.clone(),
            spread: spread.map(|spread| Arc::clone(&spread.shipping)),
            rows,
            joined: joined.collect(),
        })
    }

    /// Whether some rows are on other servers.
    pub(super) fn is_spread(&self) -> bool {
        self.spread.is_some()
    }

    /// How rows of other servers are read, if some are there.
    pub(super) fn shipping(&self) -> Option<&Arc<Shipping>> {
        self.spread.as_ref()
    }

    /// The rows that are read if none are looked up.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// The best way to the rows; `None` if there is none.
    pub(super) fn way(&self) -> Result<Option<Way<'_>>> {
        let filters = parameters::with_values(&self.scan.filters)?;
        Ok(way(&self.view, &filters, &self.joined, &self.scan.implied))
    }

    /// The operators of `right` over the rows in `ranges` alone. `None` if they are not where they were.
    pub(super) async fn narrowed(
        &self,
        right: &Arc<dyn ExecutionPlan>,
        ranges: &[KeyRange],
        config: &SessionConfig,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let scan = &self.scan;
        let schema = &scan.read_schema;
        let Found { pieces, coverage, here, elsewhere } =
            places::find(&self.view, ranges, None, schema, &scan.read).await?;
        let mut narrowed = scan.of_pieces(pieces, coverage).without_hint();
        narrowed.metrics = scan.metrics.clone();
        match &self.spread {
            None if elsewhere.is_empty() => {
                with_leaf(right, &|leaf| match leaf.with_new_state(Arc::new(narrowed.clone())) {
                    Some(leaf) => Ok(leaf),
                    None => internal_err!("a scan cannot be narrowed"),
                })
                .map(Some)
            }
            None => Ok(None),
            Some(_) if elsewhere.is_empty() => {
                let leaf: Arc<dyn ExecutionPlan> = Arc::new(narrowed);
                with_leaf(right, &|_| Ok(Arc::clone(&leaf))).and_then(single).map(Some)
            }
            Some(shipping) => {
                let elsewhere = places::Elsewhere::new(self.view.clone(), here, elsewhere);
                let scan = SpreadScan::new(narrowed, elsewhere, Arc::clone(shipping));
                let leaf = everywhere(&scan, config)?;
                with_leaf(right, &|_| Ok(Arc::clone(&leaf))).and_then(single).map(Some)
            }
        }
    }

    /// The operators of `right` over all rows.
    pub(super) fn whole(
        &self,
        right: &Arc<dyn ExecutionPlan>,
        config: &SessionConfig,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if !self.is_spread() {
            return Ok(Arc::clone(right));
        }
        let read = |leaf: &Arc<dyn ExecutionPlan>| match leaf.downcast_ref::<SpreadScan>() {
            Some(scan) => everywhere(scan, config),
            None => internal_err!("a scan of several servers is missing"),
        };
        single(with_leaf(right, &read)?)
    }
}

/// The plan that reads the rows of a scan wherever they are.
pub(super) fn everywhere(
    scan: &SpreadScan,
    config: &SessionConfig,
) -> Result<Arc<dyn ExecutionPlan>> {
    match config.get_extension::<ReadEverywhere>() {
        Some(read) => read.0(scan),
        None => internal_err!("{scan:?} cannot be read"),
    }
}

/// The plan in one partition.
pub(super) fn single(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    Ok(match plan.output_partitioning().partition_count() {
        1 => plan,
        _ => Arc::new(CoalescePartitionsExec::new(plan)),
    })
}

/// The input of an operator that works on each row alone.
fn input_of(plan: &Arc<dyn ExecutionPlan>) -> Option<&Arc<dyn ExecutionPlan>> {
    let is_by_row = plan.is::<FilterExec>()
        || plan.is::<ProjectionExec>()
        || plan.is::<RepartitionExec>()
        || plan.is::<CoalescePartitionsExec>();
    if !is_by_row || plan.fetch().is_some() {
        return None;
    }
    plan.children().first().copied()
}

/// The leaf below operators that work on each row alone.
fn leaf_of(plan: &Arc<dyn ExecutionPlan>) -> Option<&Arc<dyn ExecutionPlan>> {
    let mut plan = plan;
    while !plan.children().is_empty() {
        plan = input_of(plan)?;
    }
    Some(plan)
}

/// What another leaf is made by.
type NewLeaf<'a> = dyn Fn(&Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> + 'a;

/// The plan with another leaf.
fn with_leaf(plan: &Arc<dyn ExecutionPlan>, leaf: &NewLeaf<'_>) -> Result<Arc<dyn ExecutionPlan>> {
    match plan.children().first() {
        None => leaf(plan),
        Some(input) => {
            let input = with_leaf(input, leaf)?;
            replace_children_if_necessary(Arc::clone(plan), vec![input])
        }
    }
}

/// A column, which may be a smaller integer that is compared as a larger one.
fn column_of(expr: &Arc<dyn PhysicalExpr>) -> Option<&Column> {
    match expr.downcast_ref::<CastExpr>() {
        Some(cast) if cast.cast_type().is_signed_integer() => cast.expr().downcast_ref::<Column>(),
        Some(_) => None,
        None => expr.downcast_ref::<Column>(),
    }
}

/// The output column of the leaf that is the given one of the plan; `None` if it is computed.
fn traced(plan: &Arc<dyn ExecutionPlan>, column: usize) -> Option<usize> {
    let Some(input) = plan.children().first().copied() else { return Some(column) };
    let column = if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
        projection.expr().get(column)?.expr.downcast_ref::<Column>()?.index()
    } else if let Some(filter) = plan.downcast_ref::<FilterExec>() {
        match filter.projection() {
            Some(kept) => *kept.get(column)?,
            None => column,
        }
    } else {
        column
    };
    traced(input, column)
}
