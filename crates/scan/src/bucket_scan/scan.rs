//! The definition of a scan, and the changes that the optimizer makes to it.

use super::known::{Known, Overall};
use super::pieces::{Coverage, Piece, divide};
use crate::index_lookup::first::Wanted;
use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::Expr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::utils::reassign_expr_columns;
use datafusion::physical_expr::{
    EquivalenceProperties, LexOrdering, PhysicalExpr, PhysicalSortExpr, conjunction,
};
use datafusion::physical_expr_common::physical_expr::{is_volatile, snapshot_generation};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, SchedulingType};
use datafusion::physical_plan::filter_pushdown::{ChildPushdownResult, PushedDown};
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::{Partitioning, PlanProperties};
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use store::catalog::{Table, TableId};
use store::{End, TableView};

/// Reads pieces of one table.
///
/// Columns are named on three levels: columns of the table, of which `read` are read, of which
/// `output` are returned.
#[derive(Clone)]
pub struct BucketScan {
    /// The table.
    pub table: Arc<Table>,
    /// The pieces to read, in key order.
    pub pieces: Arc<[Piece]>,
    /// Totals and bounds of the pieces.
    pub(super) known: Arc<Known>,
    /// The range of `pieces` that each partition reads.
    pub(crate) piece_ranges: Vec<Range<usize>>,
    /// The end at which each partition begins: its output is in key order, or against it.
    pub(crate) from: End,
    /// The table's columns that are read, in the order of `read_schema`.
    pub read: Vec<usize>,
    /// The schema of the columns that are read.
    pub read_schema: SchemaRef,
    /// Positions in `read` of the columns that are returned.
    pub output: Vec<usize>,
    /// The schema of the columns that are returned.
    pub schema: SchemaRef,
    /// The predicate, over `read_schema`. Rows that do not match are not returned.
    pub predicate: Option<Arc<dyn PhysicalExpr>>,
    /// The estimated selectivity of the predicate, once computed.
    pub(super) selectivity: Arc<OnceLock<f64>>,
    /// The statistics of the rows that are returned.
    pub(super) overall: Overall,
    /// A dynamic filter of a join or a top-N, over `read_schema`. That operator checks every row
    /// again, so the scan may return rows that do not match.
    pub hint: Option<Arc<dyn PhysicalExpr>>,
    /// Rows that each partition returns at most.
    pub limit: Option<usize>,
    /// What the key ranges of `pieces` were found by.
    pub(crate) filters: Arc<[Expr]>,
    /// Numbers for EXPLAIN.
    pub coverage: Coverage,
    /// The name of the index by which the rows were found.
    pub(super) index: Option<Arc<str>>,
    /// The first rows of an index that are wanted, if the rows are those.
    pub(crate) wanted: Option<Arc<Wanted>>,
    /// The table at the snapshot that is read; `None` in plans that are kept.
    pub(crate) view: Option<TableView>,
    /// The partial indexes that have all rows which fulfil the filters.
    pub(crate) implied: Arc<[TableId]>,
    pub(super) properties: Arc<PlanProperties>,
    /// The metrics of all partitions.
    pub metrics: ExecutionPlanMetricsSet,
}

impl BucketScan {
    /// A scan of the columns `read` of all `pieces` in at most `partitions` partitions.
    pub fn new(
        table: Arc<Table>,
        pieces: Vec<Piece>,
        read: Vec<usize>,
        read_schema: SchemaRef,
        partitions: usize,
        coverage: Coverage,
    ) -> Self {
        let piece_ranges = divide(&pieces, partitions);
        let output: Vec<usize> = (0..read.len()).collect();
        let ends = (End::First, piece_ranges.len());
        let properties = properties(&table, &read, &output, &read_schema, ends);
        Self {
            known: Arc::new(Known::nothing(table.columns.len())),
            table,
            pieces: pieces.into(),
            piece_ranges,
            from: End::First,
            read,
            schema: Arc::clone(&read_schema),
            read_schema,
            output,
            predicate: None,
            selectivity: Arc::default(),
            overall: Overall::default(),
            hint: None,
            limit: None,
            filters: Arc::default(),
            coverage,
            index: None,
            wanted: None,
            view: None,
            implied: Arc::default(),
            properties: Arc::new(properties),
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }

    /// The scan with a limit on the rows of each partition.
    pub fn with_limit(self, limit: Option<usize>) -> Self {
        Self { limit, overall: Overall::default(), ..self }
    }

    /// The scan of rows that were found by an index.
    pub(crate) fn with_index(self, index: Option<Arc<str>>) -> Self {
        Self { index, ..self }
    }

    /// The scan of the first rows that are wanted.
    pub(crate) fn with_wanted(self, wanted: Option<Arc<Wanted>>) -> Self {
        Self { wanted, ..self }
    }

    /// The scan of a table whose rows can also be looked up.
    pub(crate) fn with_view(self, view: Option<TableView>) -> Self {
        Self { view, ..self }
    }

    /// The scan, whose filters imply the conditions of some partial indexes.
    pub(crate) fn with_implied(self, implied: Arc<[TableId]>) -> Self {
        Self { implied, ..self }
    }

    /// Whether the rows were found by an index.
    pub(crate) fn is_by_index(&self) -> bool {
        self.index.is_some()
    }

    /// The scan, whose key ranges were found by these filters.
    pub(crate) fn with_filters(mut self, filters: &[Expr]) -> Self {
        self.filters = filters.into();
        self
    }

    /// The same scan of other pieces, in as many partitions.
    pub(crate) fn of_pieces(&self, pieces: Vec<Piece>, coverage: Coverage) -> Self {
        let partitions = self.piece_ranges.len();
        let mut piece_ranges = divide(&pieces, partitions);
        piece_ranges.resize(partitions, pieces.len()..pieces.len());
        Self {
            known: Arc::new(Known::nothing(self.table.columns.len())),
            pieces: pieces.into(),
            piece_ranges,
            selectivity: Arc::default(),
            coverage,
            metrics: ExecutionPlanMetricsSet::new(),
            ..self.clone()
        }
    }

    /// The scan without its dynamic filter.
    pub fn without_hint(self) -> Self {
        Self { hint: None, overall: Overall::default(), ..self }
    }

    /// The scan with some of its output columns, given by their present positions.
    pub fn with_output(&self, positions: &[usize]) -> Result<Self> {
        let output: Vec<usize> = positions.iter().map(|&p| self.output[p]).collect();
        let schema = Arc::new(self.read_schema.project(&output)?);
        let ends = (self.from, self.piece_ranges.len());
        let properties = properties(&self.table, &self.read, &output, &schema, ends);
        Ok(Self { output, schema, properties: Arc::new(properties), ..self.clone() })
    }

    /// The scan with the columns of a projection, if that only selects columns.
    pub(crate) fn projected(&self, projection: &ProjectionExec) -> Result<Option<Self>> {
        let mut positions = Vec::new();
        for expr in projection.expr() {
            match expr.expr.downcast_ref::<Column>() {
                Some(column) if column.name() == expr.alias => positions.push(column.index()),
                _ => return Ok(None),
            }
        }
        Ok(Some(self.with_output(&positions)?))
    }

    /// The scan with its output in another order; `None` if it is neither key order nor its
    /// reverse.
    pub(crate) fn ordered(&self, order: &[PhysicalSortExpr]) -> Result<Option<Self>> {
        for from in [End::First, End::Last] {
            let ends = (from, self.piece_ranges.len());
            let properties = properties(&self.table, &self.read, &self.output, &self.schema, ends);
            if properties.equivalence_properties().ordering_satisfy(order.iter().cloned())? {
                let properties = Arc::new(properties);
                return Ok(Some(Self { from, properties, ..self.clone() }));
            }
        }
        Ok(None)
    }

    /// The scan in more partitions; `None` if it cannot be divided further.
    pub(crate) fn divided(&self, partitions: usize) -> Option<Self> {
        if self.limit.is_some() || partitions.min(self.pieces.len()) <= self.piece_ranges.len() {
            return None;
        }
        let piece_ranges = divide(&self.pieces, partitions);
        let ends = (self.from, piece_ranges.len());
        let properties = properties(&self.table, &self.read, &self.output, &self.schema, ends);
        Some(Self { piece_ranges, properties: Arc::new(properties), ..self.clone() })
    }

    /// The scan with those filters that `takes` accepts, and whether each filter was accepted. The
    /// scan is `None` if it does not change.
    pub(crate) fn filtered(
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
            let is_refused = is_volatile(&filter.filter) || self.may_misjudge(&filter.filter);
            if is_refused || !takes(&filter.filter) {
                answers.push(PushedDown::No);
            } else {
                answers.push(PushedDown::Yes);
                taken.push(filter.filter);
            }
        }
        let scan = if taken.is_empty() { None } else { Some(self.with_conjuncts(taken)?) };
        Ok((answers, scan))
    }

    /// Whether a filter is what is known of the keys of a join while the plan runs, and these are arrays. The engine computes
    /// their least and greatest values in another order than it compares them in, if they have NULLs.
    fn may_misjudge(&self, filter: &Arc<dyn PhysicalExpr>) -> bool {
        let is_nested = |part: &Arc<dyn PhysicalExpr>| {
            Ok(part.data_type(&self.schema).is_ok_and(|data_type| data_type.is_nested()))
        };
        snapshot_generation(filter) != 0 && filter.exists(is_nested).unwrap_or(true)
    }

    /// The scan with additional conjuncts over its output columns. Conjuncts that change while the
    /// plan runs become part of the dynamic filter.
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
        Ok(Self { predicate, selectivity: Arc::default(), hint, ..self.clone() })
    }

    /// The table's name, qualified unless its schema is `public`.
    pub fn name_of_table(&self) -> String {
        match self.table.schema.as_str() {
            "public" => self.table.name.clone(),
            schema => format!("{schema}.{}", self.table.name),
        }
    }
}

fn properties(
    table: &Table,
    read: &[usize],
    output: &[usize],
    schema: &SchemaRef,
    (from, partitions): (End, usize),
) -> PlanProperties {
    let mut equivalences = EquivalenceProperties::new(Arc::clone(schema));
    let position = |key: usize| output.iter().position(|&out| read[out] == key);
    let backwards = from == End::Last;
    let options = SortOptions { descending: backwards, nulls_first: !backwards };
    // The engine has another order of intervals and arrays.
    let is_ordered = |key: &usize| {
        let data_type = table.columns[*key].sql_type.arrow();
        !matches!(data_type, DataType::Interval(_) | DataType::List(_))
    };
    let key = table.key_indices().into_iter().take_while(is_ordered);
    let ordered = key.map_while(position).map(|at| {
        PhysicalSortExpr::new(Arc::new(Column::new(schema.field(at).name(), at)), options)
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
