//! Statistics of the tables of a plan: of all their rows, not only those that the query reads.

use super::texts;
use datafusion::catalog::TableProvider;
use datafusion::common::Statistics;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::execution::SessionState;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use distributed::kinds::scan_of;
use scan::bucket_scan::Piece;
use scan::estimate::Column;
use scan::provider::{BucketTable, Columns};
use scan::spread_scan::SpreadScan;
use scan::tables::Tables;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::TableView;
use store::catalog::TableId;
use values::Result;

/// A column with at least this share of distinct values has more of them in a larger table, as
/// PostgreSQL assumes.
const GROWS_FROM: f64 = 0.1;

/// A scaled table.
#[derive(Debug)]
pub(super) struct KnownTable {
    pub(super) rows: f64,
    /// All columns of the catalog, with hidden ones.
    pub(super) columns: Vec<Column>,
    /// Whether some rows are on other servers.
    pub(super) is_spread: bool,
    /// The number of rows for which each row on this server stands.
    per_row_here: f64,
}

/// The tables of a plan.
pub(super) type KnownTables = BTreeMap<TableId, KnownTable>;

/// The tables that plans read, with `scale` times their rows.
pub(super) async fn of_plans(
    plans: impl Iterator<Item = &Arc<dyn ExecutionPlan>>,
    tables: &dyn Tables,
    engine: &SessionState,
    scale: f64,
) -> Result<KnownTables> {
    let mut ids = Vec::new();
    for plan in plans {
        plan.apply(|node| {
            ids.extend(scan_of(node).map(|scan| scan.table.id));
            Ok(TreeNodeRecursion::Continue)
        })?;
    }
    let mut known = KnownTables::new();
    for id in ids {
        if let Some(view) = tables.table(id).filter(|_| !known.contains_key(&id)) {
            known.insert(id, KnownTable::of(view, engine, scale).await?);
        }
    }
    Ok(known)
}

impl KnownTable {
    /// The scaled numbers of rows and of pieces, without pieces whose chunk is pruned.
    pub(super) fn looked_at(&self, pieces: &[Piece]) -> (f64, f64) {
        let (mut rows, mut count) = (0, 0);
        for piece in pieces.iter().filter(|piece| piece.with_chunk) {
            rows += piece.morsel.rows();
            count += 1;
        }
        let rows = (rows as f64 * self.per_row_here).round();
        (rows.min(self.rows), count as f64 * self.per_row_here)
    }

    async fn of(view: TableView, engine: &SessionState, scale: f64) -> Result<Self> {
        let scan = BucketTable::new(view, Columns::All).scan(engine, None, &[], None).await?;
        let whole = statistics(&scan)?;
        let is_spread = scan.downcast_ref::<SpreadScan>().is_some();
        let here = match scan.downcast_ref::<SpreadScan>() {
            Some(spread) => statistics(&(Arc::new(spread.here.clone()) as _))?,
            None => Arc::clone(&whole),
        };
        let rows = whole.num_rows.get_value().map_or(0.0, |rows| *rows as f64);
        let pieces = scan_of(&scan).map_or_else(|| [].into(), |scan| Arc::clone(&scan.pieces));
        let rows_here: usize = pieces.iter().map(|piece| piece.morsel.rows()).sum();
        let bytes = whole.total_byte_size.get_value().map_or(0.0, |bytes| *bytes as f64);
        let key = scan_of(&scan).map_or_else(Vec::new, |scan| scan.table.key_indices());
        let schema = scan.schema();
        let mut columns: Vec<Column> =
            schema.fields().iter().map(|field| Column::of_type(field.data_type())).collect();
        texts::learn(&mut columns, &schema, &pieces, bytes / rows.max(1.0))?;
        for (index, column) in columns.iter_mut().enumerate() {
            // Servers have different ranges of the key, and similar values of other columns.
            if !is_spread || key.first() != Some(&index) {
                column.learn(&here.column_statistics[index], rows);
            }
            let distinct = if key[..] == [index] {
                Some(rows)
            } else {
                column.distinct.map(|distinct| distinct.min(rows))
            };
            let grows = |distinct: &f64| *distinct >= GROWS_FROM * rows;
            let factor = distinct.filter(grows).map_or(1.0, |_| scale);
            column.distinct = distinct.map(|distinct| (distinct * factor).round());
            column.reach = factor;
        }
        let per_row_here = scale * rows / rows_here.max(1) as f64;
        Ok(Self { rows: (rows * scale).round(), columns, is_spread, per_row_here })
    }
}

/// The statistics of a plan's rows.
pub(super) fn statistics(plan: &Arc<dyn ExecutionPlan>) -> Result<Arc<Statistics>> {
    Ok(StatisticsContext::new().compute(plan.as_ref(), &StatisticsArgs::new())?)
}
