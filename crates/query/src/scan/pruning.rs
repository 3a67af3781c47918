//! Zone maps against predicates: which chunks cannot hold a matching row.

use datafusion::arrow::array::{ArrayRef, BooleanArray, UInt64Array};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Column;
use datafusion::common::pruning::PruningStatistics;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_optimizer::pruning::PruningPredicateBuilder;
use std::collections::HashSet;
use std::sync::Arc;
use store::{Morsel, Zone, ZoneValue};

/// For each morsel, whether its chunk may hold a row for which the predicate is true.
///
/// `columns` says which table column each field of `schema` is. A predicate that zone maps say nothing
/// about keeps every chunk.
pub(crate) fn chunks_to_read(
    predicate: &Arc<dyn PhysicalExpr>,
    schema: &SchemaRef,
    columns: &[usize],
    morsels: &[&Morsel],
) -> Vec<bool> {
    let keep_all = || vec![true; morsels.len()];
    let pruning = PruningPredicateBuilder::new()
        .with_file_schema(Arc::clone(schema))
        .build(Arc::clone(predicate));
    match pruning {
        Some(pruning) => {
            let zones = Zones { schema, columns, morsels };
            pruning.prune(&zones).unwrap_or_else(|_| keep_all())
        }
        None => keep_all(),
    }
}

/// The zone maps of some morsels, one container each.
struct Zones<'a> {
    schema: &'a SchemaRef,
    columns: &'a [usize],
    morsels: &'a [&'a Morsel],
}

impl Zones<'_> {
    fn values(
        &self,
        column: &Column,
        pick: impl Fn(Zone) -> Option<ZoneValue>,
    ) -> Option<ArrayRef> {
        let field = self.schema.index_of(&column.name).ok()?;
        let table_column = self.columns[field];
        let values = self.morsels.iter().map(|m| m.zone(table_column).and_then(&pick));
        Some(store::zone::to_array(self.schema.field(field).data_type().clone(), values))
    }
}

impl PruningStatistics for Zones<'_> {
    fn min_values(&self, column: &Column) -> Option<ArrayRef> {
        self.values(column, |zone| zone.min)
    }

    fn max_values(&self, column: &Column) -> Option<ArrayRef> {
        self.values(column, |zone| zone.max)
    }

    fn num_containers(&self) -> usize {
        self.morsels.len()
    }

    fn null_counts(&self, column: &Column) -> Option<ArrayRef> {
        let field = self.schema.index_of(&column.name).ok()?;
        let table_column = self.columns[field];
        let nulls = self.morsels.iter().map(|m| m.zone(table_column).map(|zone| zone.nulls));
        Some(Arc::new(nulls.collect::<UInt64Array>()))
    }

    fn row_counts(&self) -> Option<ArrayRef> {
        None
    }

    fn contained(
        &self,
        _: &Column,
        _: &HashSet<datafusion::common::ScalarValue>,
    ) -> Option<BooleanArray> {
        None
    }
}
