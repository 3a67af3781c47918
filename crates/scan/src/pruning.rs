//! Pruning by zone maps: which chunks cannot hold a matching row.

use datafusion::arrow::array::{ArrayRef, BooleanArray, UInt64Array};
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::Column;
use datafusion::common::pruning::PruningStatistics;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_optimizer::pruning::PruningPredicateBuilder;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashSet;
use std::sync::Arc;
use store::{Morsel, Zone, ZoneValue};

/// For each morsel, whether its chunk may hold a row for which the predicate is true.
///
/// `columns` maps each field of `schema` to a column of the table. A predicate that zone maps
/// cannot decide keeps every chunk.
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
            let zones = Zones::new(schema, columns, morsels);
            pruning.prune(&zones).unwrap_or_else(|_| keep_all())
        }
        None => keep_all(),
    }
}

/// The zones of one column, by morsel.
type ZonesOfColumn<'a> = Vec<Option<Cow<'a, Zone>>>;

/// The zone maps of morsels; each morsel is a container for the engine.
struct Zones<'a> {
    schema: &'a SchemaRef,
    columns: &'a [usize],
    morsels: &'a [&'a Morsel],
    /// By field of the schema, once it is needed: a predicate asks for minima, maxima and numbers
    /// of NULLs.
    by_field: Vec<OnceCell<ZonesOfColumn<'a>>>,
}

impl<'a> Zones<'a> {
    fn new(schema: &'a SchemaRef, columns: &'a [usize], morsels: &'a [&'a Morsel]) -> Self {
        let by_field = schema.fields().iter().map(|_| OnceCell::new()).collect();
        Self { schema, columns, morsels, by_field }
    }

    /// The type and the zones of a column.
    fn of(&self, column: &Column) -> Option<(&DataType, &ZonesOfColumn<'a>)> {
        let field = self.schema.index_of(&column.name).ok()?;
        let zone = |morsel: &&'a Morsel| morsel.zone(self.columns[field]);
        let zones = self.by_field[field].get_or_init(|| self.morsels.iter().map(zone).collect());
        Some((self.schema.field(field).data_type(), zones))
    }

    fn values(
        &self,
        column: &Column,
        pick: impl Fn(&Zone) -> Option<&ZoneValue>,
    ) -> Option<ArrayRef> {
        let (data_type, zones) = self.of(column)?;
        let values = zones.iter().map(|zone| zone.as_deref().and_then(&pick));
        Some(store::zone::to_array(data_type.clone(), values))
    }
}

impl PruningStatistics for Zones<'_> {
    fn min_values(&self, column: &Column) -> Option<ArrayRef> {
        self.values(column, |zone| zone.min.as_ref())
    }

    fn max_values(&self, column: &Column) -> Option<ArrayRef> {
        self.values(column, |zone| zone.max.as_ref())
    }

    fn num_containers(&self) -> usize {
        self.morsels.len()
    }

    fn null_counts(&self, column: &Column) -> Option<ArrayRef> {
        let (_, zones) = self.of(column)?;
        let nulls = zones.iter().map(|zone| zone.as_deref().map(|zone| zone.nulls));
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
