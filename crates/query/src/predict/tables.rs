//! What the engine knows of the tables of a plan: all their rows, not only those that a query reads.

use super::column::{Column, fixed_bytes, number};
use crate::error::Result;
use crate::kinds::scan_of;
use crate::planner::relations::Tables;
use crate::scan::provider::{BucketTable, Columns};
use crate::scan::spread_scan::SpreadScan;
use datafusion::catalog::TableProvider;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{ColumnStatistics, Statistics};
use datafusion::execution::SessionState;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::TableView;
use store::catalog::TableId;

/// From which part of the rows on a column is supposed to have more values when there are more rows, as PostgreSQL does.
const GROWS_FROM: f64 = 0.1;

/// A table, scaled.
#[derive(Debug)]
pub(super) struct KnownTable {
    pub(super) rows: f64,
    /// All columns of the catalog, hidden ones too.
    pub(super) columns: Vec<Column>,
    /// Whether some rows are on other servers.
    pub(super) is_spread: bool,
}

/// The tables of a plan.
pub(super) type KnownTables = BTreeMap<TableId, KnownTable>;

/// The tables that a plan reads, each row there so many times.
pub(super) async fn of_plan(
    plan: &Arc<dyn ExecutionPlan>,
    tables: &dyn Tables,
    engine: &SessionState,
    scale: f64,
) -> Result<KnownTables> {
    let mut ids = Vec::new();
    plan.apply(|node| {
        ids.extend(scan_of(node).map(|scan| scan.table.id));
        Ok(TreeNodeRecursion::Continue)
    })?;
    let mut known = KnownTables::new();
    for id in ids {
        if let Some(view) = tables.table(id).filter(|_| !known.contains_key(&id)) {
            known.insert(id, KnownTable::of(view, engine, scale).await?);
        }
    }
    Ok(known)
}

impl KnownTable {
    async fn of(view: TableView, engine: &SessionState, scale: f64) -> Result<Self> {
        let scan = BucketTable::new(view, Columns::All).scan(engine, None, &[], None).await?;
        let whole = statistics(&scan)?;
        let is_spread = scan.downcast_ref::<SpreadScan>().is_some();
        let here = match scan.downcast_ref::<SpreadScan>() {
            Some(spread) => statistics(&(Arc::new(spread.here.clone()) as _))?,
            None => Arc::clone(&whole),
        };
        let rows = whole.num_rows.get_value().map_or(0.0, |rows| *rows as f64);
        let bytes = whole.total_byte_size.get_value().map_or(0.0, |bytes| *bytes as f64);
        let key = scan_of(&scan).map_or_else(Vec::new, |scan| scan.table.key_indices());
        let schema = scan.schema();
        let mut columns: Vec<Column> =
            schema.fields().iter().map(|field| Column::of_type(field.data_type())).collect();
        let is_open = |index: &usize| fixed_bytes(schema.field(*index).data_type()).is_none();
        let open: Vec<usize> = (0..columns.len()).filter(is_open).collect();
        let fixed: f64 = schema.fields().iter().filter_map(|f| fixed_bytes(f.data_type())).sum();
        let shared = (bytes / rows.max(1.0) - fixed) / open.len().max(1) as f64;
        if shared >= 1.0 {
            open.iter().for_each(|column| columns[*column].bytes = shared.round());
        }
        for (index, column) in columns.iter_mut().enumerate() {
            // Servers have different stretches of the key, and about the same of all else.
            if !is_spread || key.first() != Some(&index) {
                column.learn(&here.column_statistics[index], rows);
            }
            let distinct = match key[..] == [index] {
                true => Some(rows),
                false => column.distinct.map(|distinct| distinct.min(rows)),
            };
            let grows = |distinct: &f64| *distinct >= GROWS_FROM * rows;
            let factor = distinct.filter(grows).map_or(1.0, |_| scale);
            column.distinct = distinct.map(|distinct| (distinct * factor).round());
        }
        Ok(Self { rows: (rows * scale).round(), columns, is_spread })
    }
}

impl Column {
    /// What a scan knows of so many rows' values.
    fn learn(&mut self, known: &ColumnStatistics, rows: f64) {
        let bounds = known.min_value.get_value().zip(known.max_value.get_value());
        self.bounds = bounds.and_then(|(min, max)| number(min).zip(number(max)));
        let whole = self.bounds.filter(|_| self.whole);
        self.distinct = whole.map(|(min, max)| max - min + 1.0);
        let nulls = known.null_count.get_value();
        self.nulls = nulls.map(|nulls| (*nulls as f64 / rows.max(1.0)).min(1.0));
    }
}

fn statistics(plan: &Arc<dyn ExecutionPlan>) -> Result<Arc<Statistics>> {
    Ok(StatisticsContext::new().compute(plan.as_ref(), &StatisticsArgs::new())?)
}
