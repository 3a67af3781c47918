//! System tables: what the database tells about itself, computed when it is asked.

mod columns;
mod information_schema;
mod pando;

use crate::database::Shared;
use crate::error::Result;
use crate::planner::relations::Tables;
use columns::Columns;
use datafusion::catalog::MemTable;
use datafusion::datasource::TableProvider;
use datafusion::execution::SessionState;
use datafusion::prelude::SessionConfig;
use std::sync::Arc;
use store::Store;
use store::catalog::Sequence;

/// What system tables are computed from, hung into the engine's configuration.
pub(crate) struct Origin {
    pub(crate) shared: std::sync::Weak<Shared>,
    pub(crate) settings: Vec<(String, String)>,
}

/// Hangs the origin of system tables into a configuration.
pub(crate) fn install(config: &mut SessionConfig, origin: Origin) {
    config.set_extension(Arc::new(origin));
}

/// A system table; `None` where there is none of this name.
pub(crate) fn table(
    engine: &SessionState,
    tables: &dyn Tables,
    schema: Option<&str>,
    name: &str,
) -> Result<Option<Arc<dyn TableProvider>>> {
    let Some(origin) = engine.config().get_extension::<Origin>() else { return Ok(None) };
    let Some(shared) = origin.shared.upgrade() else { return Ok(None) };
    let columns = match schema {
        Some("pando") => pando::table(&shared, &origin.settings, tables, name),
        Some("information_schema") => information_schema::table(tables.catalog(), name),
        _ => None,
    };
    columns.map(provider).transpose()
}

/// A sequence as a table of one row.
pub(crate) fn sequence_table(
    engine: &SessionState,
    sequence: &Sequence,
) -> Result<Arc<dyn TableProvider>> {
    let origin = engine.config().get_extension::<Origin>();
    let shared = origin.and_then(|origin| origin.shared.upgrade());
    let store: Option<&Arc<Store>> = shared.as_ref().map(|shared| &shared.store);
    let last = store.and_then(|store| store.sequence_last(sequence.id));
    provider(
        Columns::default()
            .number("last_value", [Some(last.unwrap_or(sequence.start))])
            .flag("is_called", [last.is_some()]),
    )
}

fn provider(columns: Columns) -> Result<Arc<dyn TableProvider>> {
    let batch = columns.batch()?;
    Ok(Arc::new(MemTable::try_new(batch.schema(), vec![vec![batch]])?))
}
