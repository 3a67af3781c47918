//! `BucketScan`: the leaf of a plan that reads a table's buckets at a snapshot, in key order.
//!
//! What to read is decided before it runs: a list of [`Piece`]s in key order, dealt out to partitions as
//! contiguous stretches of about equal size, so that every partition's output is in key order too. The
//! optimizer may then hand it a predicate (also one that a join or a top-N fills in while it runs),
//! take columns away that only the predicate needed, and set a limit.

use super::statistics::Known;
use super::{pruning, statistics, stream};
use crate::leaf;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics};
use datafusion::config::ConfigOptions;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::utils::reassign_expr_columns;
use datafusion::physical_expr::{
    EquivalenceProperties, LexOrdering, PhysicalExpr, PhysicalSortExpr, conjunction,
};
use datafusion::physical_expr_common::physical_expr::{is_volatile, snapshot_generation};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, SchedulingType};
use datafusion::physical_plan::filter_pushdown::{
    ChildPushdownResult, FilterPushdownPhase, FilterPushdownPropagation, PushedDown,
};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties,
};
use sdds::KeyRange;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use store::catalog::Table;
use store::{Morsel, TableView};

/// One morsel to read, wholly or without its chunk.
#[derive(Clone)]
pub struct Piece {
    pub morsel: Morsel,
    /// False when the zone map has excluded the chunk: only changed rows can match.
    pub with_chunk: bool,
}

/// What was looked at and what was left out, for EXPLAIN.
#[derive(Debug, Clone, Copy, Default)]
pub struct Coverage {
    pub buckets: usize,
    pub(crate) buckets_in_table: usize,
    pub chunks: usize,
    pub(crate) chunks_pruned: usize,
}

/// Reads pieces of one table.
#[derive(Clone)]
pub struct BucketScan {
    pub table: Arc<Table>,
    pub pieces: Arc<[Piece]>,
    /// What is known of the pieces.
    pub(super) known: Arc<Known>,
    /// The stretch of `pieces` that each partition reads.
    pub(crate) stretches: Vec<Range<usize>>,
    /// The table's columns that are read, in the order of `read_schema`.
    pub read: Vec<usize>,
    pub read_schema: SchemaRef,
    /// Which of the read columns come out, in which order.
    pub output: Vec<usize>,
    pub schema: SchemaRef,
    /// Over `read_schema`.
    pub predicate: Option<Arc<dyn PhysicalExpr>>,
    /// The part of the rows that the predicate is believed to keep, once somebody has asked.
    pub(super) kept: Arc<OnceLock<f64>>,
    /// Over `read_schema`, filled in by a join or a top-N while it runs. Who made it checks again, so it
    /// may be left out where it does not pay.
    pub hint: Option<Arc<dyn PhysicalExpr>>,
    pub limit: Option<usize>,
    pub coverage: Coverage,
    properties: Arc<PlanProperties>,
    pub metrics: ExecutionPlanMetricsSet,
}

impl BucketScan {
    /// A scan of `read` columns of all `pieces` in up to `partitions` partitions.
    pub fn new(
        table: Arc<Table>,
        pieces: Vec<Piece>,
        read: Vec<usize>,
        read_schema: SchemaRef,
        partitions: usize,
        coverage: Coverage,
    ) -> Self {
        let stretches = divide(&pieces, partitions);
        let output: Vec<usize> = (0..read.len()).collect();
        let properties = properties(&table, &read, &output, &read_schema, stretches.len());
        Self {
            known: Arc::new(Known::nothing(table.columns.len())),
            table,
            pieces: pieces.into(),
            stretches,
            read,
            schema: Arc::clone(&read_schema),
            read_schema,
            output,
            predicate: None,
            kept: Arc::default(),
            hint: None,
            limit: None,
            coverage,
            properties: Arc::new(properties),
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }

    /// The same scan with a limit on the rows of each partition.
    pub fn with_limit(mut self, limit: Option<usize>) -> Self {
        self.limit = limit;
        self
    }

    /// The same scan, which nobody tells what a join or a top-N finds out.
    pub fn without_hint(mut self) -> Self {
        self.hint = None;
        self
    }

    /// The same scan with other columns coming out: positions in the present output.
    pub fn with_output(&self, positions: &[usize]) -> Result<Self> {
        let output: Vec<usize> = positions.iter().map(|&p| self.output[p]).collect();
        let schema = Arc::new(self.read_schema.project(&output)?);
        let count = self.stretches.len();
        let properties = properties(&self.table, &self.read, &output, &schema, count);
        Ok(Self { output, schema, properties: Arc::new(properties), ..self.clone() })
    }

    /// The same scan with the columns of a projection, if that does nothing but choose columns.
    pub(super) fn projected(&self, projection: &ProjectionExec) -> Result<Option<Self>> {
        let mut positions = Vec::new();
        for expr in projection.expr() {
            match expr.expr.downcast_ref::<Column>() {
                Some(column) if column.name() == expr.alias => positions.push(column.index()),
                _ => return Ok(None),
            }
        }
        Ok(Some(self.with_output(&positions)?))
    }

    /// The same scan in more partitions, where that splits the work further.
    pub(super) fn divided(&self, partitions: usize) -> Option<Self> {
        if self.limit.is_some() || partitions.min(self.pieces.len()) <= self.stretches.len() {
            return None;
        }
        let stretches = divide(&self.pieces, partitions);
        let properties =
            properties(&self.table, &self.read, &self.output, &self.schema, stretches.len());
        Some(Self { stretches, properties: Arc::new(properties), ..self.clone() })
    }

    /// The same scan with those filters that it takes, and which these are.
    pub(super) fn filtered(
        &self,
        filters: ChildPushdownResult,
        takes: impl Fn(&Arc<dyn PhysicalExpr>) -> bool,
    ) -> Result<(Vec<PushedDown>, Option<Self>)> {
        let filters = filters.parent_filters;
        if self.limit.is_some() {
            return Ok((vec![PushedDown::No; filters.len()], None));
        }
        let (mut taken, mut answers) = (Vec::new(), Vec::new());
        for filter in filters {
            if is_volatile(&filter.filter) || !takes(&filter.filter) {
                answers.push(PushedDown::No);
            } else {
                answers.push(PushedDown::Yes);
                taken.push(filter.filter);
            }
        }
        let scan = if taken.is_empty() { None } else { Some(self.with_conjuncts(taken)?) };
        Ok((answers, scan))
    }

    /// The same scan with other conjuncts, given over the output columns.
    pub fn with_conjuncts(&self, conjuncts: Vec<Arc<dyn PhysicalExpr>>) -> Result<Self> {
        let mut fixed: Vec<_> = self.predicate.iter().cloned().collect();
        let mut hints: Vec<_> = self.hint.iter().cloned().collect();
        for conjunct in conjuncts {
            let conjunct = reassign_expr_columns(conjunct, &self.read_schema)?;
            match snapshot_generation(&conjunct) {
                0 => fixed.push(conjunct),
                _ => hints.push(conjunct),
            }
        }
        let all = |conjuncts: Vec<_>| (!conjuncts.is_empty()).then(|| conjunction(conjuncts));
        let (predicate, hint) = (all(fixed), all(hints));
        Ok(Self { predicate, kept: Arc::default(), hint, ..self.clone() })
    }

    pub fn name_of_table(&self) -> String {
        match self.table.schema.as_str() {
            "public" => self.table.name.clone(),
            schema => format!("{schema}.{}", self.table.name),
        }
    }
}

/// Cuts the pieces into contiguous stretches of about equal numbers of rows.
fn divide(pieces: &[Piece], partitions: usize) -> Vec<Range<usize>> {
    let total: usize = pieces.iter().map(|piece| piece.morsel.rows()).sum();
    let partitions = partitions.clamp(1, pieces.len().max(1));
    let mut stretches = Vec::with_capacity(partitions);
    let (mut start, mut rows) = (0, 0);
    for (index, piece) in pieces.iter().enumerate() {
        rows += piece.morsel.rows();
        let full = rows * partitions >= total * (stretches.len() + 1);
        if full && stretches.len() + 1 < partitions {
            stretches.push(start..index + 1);
            start = index + 1;
        }
    }
    stretches.push(start..pieces.len());
    stretches
}

fn properties(
    table: &Table,
    read: &[usize],
    output: &[usize],
    schema: &SchemaRef,
    partitions: usize,
) -> PlanProperties {
    let mut equivalences = EquivalenceProperties::new(Arc::clone(schema));
    let position = |key: usize| output.iter().position(|&out| read[out] == key);
    let ordered = table.key_indices().into_iter().map_while(position).map(|at| {
        PhysicalSortExpr::new_default(Arc::new(Column::new(schema.field(at).name(), at)))
    });
    if let Some(ordering) = LexOrdering::new(ordered) {
        equivalences.add_ordering(ordering);
    }
    PlanProperties::new(
        equivalences,
        Partitioning::UnknownPartitioning(partitions),
        EmissionType::Incremental,
        Boundedness::Bounded,
    )
    .with_scheduling_type(SchedulingType::Cooperative)
}

impl fmt::Debug for BucketScan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BucketScan({})", self.name_of_table())
    }
}

impl DisplayAs for BucketScan {
    fn fmt_as(&self, t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if matches!(t, DisplayFormatType::TreeRender) {
            writeln!(f, "table={}", self.name_of_table())?;
            writeln!(f, "buckets={}/{}", self.coverage.buckets, self.coverage.buckets_in_table)?;
            return writeln!(f, "pruned chunks={}", self.coverage.chunks_pruned);
        }
        let columns: Vec<&str> = self.schema.fields().iter().map(|f| f.name().as_str()).collect();
        let Coverage { buckets, buckets_in_table, chunks, chunks_pruned } = self.coverage;
        write!(
            f,
            "BucketScan: table={}, buckets={buckets}/{buckets_in_table}, chunks={chunks}, \
             chunks_pruned={chunks_pruned}, partitions={}, columns=[{}]",
            self.name_of_table(),
            self.stretches.len(),
            columns.join(", "),
        )?;
        if let Some(predicate) = &self.predicate {
            write!(f, ", predicate={predicate}")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, ", hint={hint}")?;
        }
        if let Some(limit) = self.limit {
            write!(f, ", limit={limit}")?;
        }
        Ok(())
    }
}

impl ExecutionPlan for BucketScan {
    leaf!("BucketScan");

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        for expression in self.predicate.iter().chain(&self.hint) {
            f(expression)?;
        }
        Ok(TreeNodeRecursion::Continue)
    }

    /// More partitions than were planned, where that splits the work further.
    fn repartitioned(
        &self,
        partitions: usize,
        _: &ConfigOptions,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        Ok(self.divided(partitions).map(|scan| Arc::new(scan) as Arc<dyn ExecutionPlan>))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        stream::open(self, partition, &context)
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn statistics_from_inputs(
        &self,
        _: &[Arc<Statistics>],
        args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        Ok(Arc::new(statistics::of_scan(self, args.partition())))
    }

    fn with_fetch(&self, limit: Option<usize>) -> Option<Arc<dyn ExecutionPlan>> {
        Some(Arc::new(self.clone().with_limit(limit)))
    }

    fn fetch(&self) -> Option<usize> {
        self.limit
    }

    fn try_swapping_with_projection(
        &self,
        projection: &ProjectionExec,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let scan = self.projected(projection)?;
        Ok(scan.map(|scan| Arc::new(scan) as Arc<dyn ExecutionPlan>))
    }

    fn handle_child_pushdown_result(
        &self,
        _: FilterPushdownPhase,
        child_pushdown_result: ChildPushdownResult,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        let (answers, scan) = self.filtered(child_pushdown_result, |_| true)?;
        let propagation = FilterPushdownPropagation::with_parent_pushdown_result(answers);
        Ok(match scan {
            Some(scan) => propagation.with_updated_node(Arc::new(scan) as Arc<dyn ExecutionPlan>),
            None => propagation,
        })
    }
}

/// What is to be read of ranges whose rows are here. `columns` says which table column each field of `schema` is.
pub fn pieces(
    view: &TableView,
    ranges: &[KeyRange],
    predicate: Option<&Arc<dyn PhysicalExpr>>,
    schema: &SchemaRef,
    columns: &[usize],
) -> Result<(Vec<Piece>, Coverage), store::Error> {
    let mut morsels = Vec::new();
    for range in ranges {
        morsels.extend(view.morsels(range)?);
    }
    let mut buckets: Vec<_> = morsels.iter().map(|morsel| morsel.bucket()).collect();
    buckets.dedup();
    let mut coverage = Coverage {
        buckets: buckets.len(),
        buckets_in_table: view.bucket_count(),
        ..Coverage::default()
    };
    let pieces = prune(morsels, predicate, schema, columns, &mut coverage);
    Ok((pieces, coverage))
}

/// Drops what the zone maps exclude: whole pieces, or the chunks of pieces that have changes.
fn prune(
    morsels: Vec<Morsel>,
    predicate: Option<&Arc<dyn PhysicalExpr>>,
    schema: &SchemaRef,
    columns: &[usize],
    coverage: &mut Coverage,
) -> Vec<Piece> {
    let keep = match predicate {
        Some(predicate) => {
            let all: Vec<&Morsel> = morsels.iter().collect();
            pruning::chunks_to_read(predicate, schema, columns, &all)
        }
        None => vec![true; morsels.len()],
    };
    let mut pieces = Vec::with_capacity(morsels.len());
    for (morsel, keep) in morsels.into_iter().zip(keep) {
        if morsel.has_chunk() && !keep {
            coverage.chunks_pruned += 1;
        } else if morsel.has_chunk() {
            coverage.chunks += 1;
        }
        if keep || morsel.has_changes() {
            pieces.push(Piece { morsel, with_chunk: keep });
        }
    }
    pieces
}
