//! The keys and the condition of an index as the engine's expressions over the columns of its table.

use datafusion::common::Column;
use datafusion::logical_expr::Expr;
use datafusion::prelude::SessionConfig;
use std::fmt;
use std::sync::Arc;
use store::catalog::{Index, IndexKey, Table};

/// What an index is made of. Columns have no qualifiers.
#[derive(Debug, Clone, Default)]
pub struct Meaning {
    /// Its keys.
    pub keys: Vec<Expr>,
    /// Its condition.
    pub predicate: Option<Expr>,
}

/// Knows what expressions of indexes mean.
pub trait Meanings: fmt::Debug + Send + Sync {
    /// The meaning of an index; `None` if it cannot be planned.
    fn meaning(&self, index: &Arc<Index>, table: &Arc<Table>) -> Option<Arc<Meaning>>;
}

/// What knows the meaning of indexes, in the configuration of a statement.
#[derive(Debug)]
pub struct KnownMeanings(pub Arc<dyn Meanings>);

/// The meaning of an index; `None` if nothing knows it.
pub(crate) fn of(
    index: &Arc<Index>,
    table: &Arc<Table>,
    config: &SessionConfig,
) -> Option<Arc<Meaning>> {
    if index.is_computed(table) {
        return config.get_extension::<KnownMeanings>()?.0.meaning(index, table);
    }
    let key = |key: &IndexKey| {
        let column = &table.columns[table.position(key.column()?)?];
        Some(Expr::Column(Column::new_unqualified(&column.name)))
    };
    let keys = index.columns.iter().map(|column| key(&column.key)).collect::<Option<_>>()?;
    Some(Arc::new(Meaning { keys, predicate: None }))
}
