//! System tables: what the database tells about itself, computed when it is asked.

pub(crate) mod access;
mod columns;
mod everywhere;
pub(crate) mod functions;
mod information_schema;
mod pando;
pub(crate) mod pg_catalog;
pub(crate) mod relation_names;
pub(crate) mod rows;
pub(crate) mod search_path;
pub(crate) mod session_context;
pub(crate) mod settings;
pub(crate) mod shape;

pub(crate) use everywhere::own_part;

use crate::catalog_views::access::{Access, denied};
use crate::catalog_views::functions::Functions;
use crate::catalog_views::session_context::{DatabaseContext, SessionContext};
use crate::catalog_views::settings::Settings;
use crate::scan::tables::Tables;
use crate::values::error::{Error, Result, SqlState};
use columns::Columns;
use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::catalog::MemTable;
use datafusion::datasource::TableProvider;
use datafusion::execution::SessionState;
use datafusion::prelude::SessionConfig;
use pg_catalog::world::{ViewColumns, World};
use std::sync::Arc;
use store::Store;
use store::catalog::Sequence;

/// What system tables are computed from, hung into the engine's configuration.
pub(crate) struct Origin {
    pub(crate) shared: std::sync::Weak<dyn DatabaseContext>,
    /// The session that asks.
    pub(crate) session: Arc<dyn SessionContext>,
    pub(crate) settings: Arc<Settings>,
}

/// Hangs the origin of system tables into a configuration.
pub(crate) fn install(config: &mut SessionConfig, origin: Origin) {
    config.set_extension(Arc::new(origin));
}

/// The settings of the session that a statement runs in, with their values.
pub(crate) fn settings(engine: &SessionState) -> Vec<(String, String)> {
    let origin = engine.config().get_extension::<Origin>();
    origin.map_or_else(Vec::new, |origin| {
        let mut settings = origin.settings.all();
        if let Some(shared) = origin.shared.upgrade() {
            settings::cluster::with_values(shared.store(), &mut settings);
        }
        settings
    })
}

/// One setting of the session that a statement runs in.
pub(crate) fn setting(config: &SessionConfig, name: &str) -> Option<String> {
    config.get_extension::<Origin>()?.settings.get(name)
}

/// Whether a name without a schema means a table of `pg_catalog`, which comes first in every search path.
pub(crate) fn is_implicit(name: &str) -> bool {
    shape::of("pg_catalog", name).is_some_and(|shape| !shape.is_function())
}

/// Whether a system table lists the columns of views.
pub(crate) fn lists_view_columns(schema: Option<&str>, name: &str) -> bool {
    match schema {
        None | Some("pg_catalog") => matches!(name, "pg_attribute" | "pg_class"),
        Some("information_schema") => {
            matches!(name, "columns" | "column_privileges" | "role_column_grants" | "element_types")
        }
        Some(_) => false,
    }
}

/// A system table; `None` where there is none of this name.
pub(crate) fn table(
    engine: &SessionState,
    functions: &Functions<'_>,
    access: Access<'_>,
    tables: &dyn Tables,
    views: &ViewColumns,
    schema: Option<&str>,
    name: &str,
) -> Result<Option<Arc<dyn TableProvider>>> {
    let Some(origin) = engine.config().get_extension::<Origin>() else { return Ok(None) };
    let Some(shared) = origin.shared.upgrade() else { return Ok(None) };
    let settings = settings(engine);
    let world = World {
        database: &*shared,
        session: &*origin.session,
        catalog: tables.catalog(),
        settings: &settings,
        views,
        functions: &|name| functions.has(name),
        access,
    };
    if !access.is_superuser() && keeps_secrets(schema, name) {
        let kind = if name == "pg_shadow" { "view" } else { "table" };
        return Err(denied(kind, name));
    }
    let batch = match schema {
        Some("pando") => {
            let columns = pando::table(&world, tables, name);
            columns.map(Columns::batch).transpose()?
        }
        Some("information_schema") => {
            let rows = information_schema::table(&world, name);
            rows.map(|rows| rows.batch()).transpose()?
        }
        None | Some("pg_catalog") => {
            pg_catalog::table(&world, name).map(|rows| rows.batch()).transpose()?
        }
        Some(_) => None,
    };
    batch.map(provider).transpose()
}

/// Tables about the cluster.
const OF_THE_CLUSTER: [&str; 5] = ["servers", "groups", "shares", "moves", "images"];

/// A table about the cluster; `None` where there is none of this name.
pub(crate) async fn cluster_table(
    engine: &SessionState,
    access: Access<'_>,
    tables: &dyn Tables,
    schema: Option<&str>,
    name: &str,
) -> Result<Option<Arc<dyn TableProvider>>> {
    let is_everywhere = everywhere::TABLES.contains(&name);
    let is_one = is_everywhere || name == "tables" || OF_THE_CLUSTER.contains(&name);
    if schema != Some("pando") || !is_one {
        return Ok(None);
    }
    let origin = engine.config().get_extension::<Origin>();
    let Some(shared) = origin.and_then(|origin| origin.shared.upgrade()) else { return Ok(None) };
    if is_everywhere {
        return provider(everywhere::table(&*shared, access, tables, name).await?).map(Some);
    }
    // Bounds of what moves are keys of rows.
    if name == "moves" && !access.is_superuser() {
        return Err(denied("table", name));
    }
    if name == "tables" {
        let Some(peers) = shared.store().peers() else { return Ok(None) };
        let shares = peers.describe("shares").await?;
        let totals = shares.as_ref().map(totals).unwrap_or_default();
        return provider(pando::all_tables(&*shared, tables, Some(&totals)).batch()?).map(Some);
    }
    let peers = shared.store().peers().ok_or_else(alone)?;
    peers.describe(name).await?.map(provider).transpose()
}

/// What all servers hold of each table.
fn totals(shares: &RecordBatch) -> pando::Totals {
    let text = |name: &str| shares.column_by_name(name).and_then(|c| c.as_string_view_opt());
    let number = |name: &str| shares.column_by_name(name)?.as_primitive_opt::<Int64Type>();
    let mut totals = pando::Totals::new();
    let (Some(schemas), Some(tables)) = (text("schema"), text("table")) else { return totals };
    for row in 0..shares.num_rows() {
        let name = (schemas.value(row).to_owned(), tables.value(row).to_owned());
        let figures = totals.entry(name).or_default();
        for (figure, column) in figures.iter_mut().zip(["buckets", "rows", "bytes"]) {
            *figure += number(column).map_or(0, |column| column.value(row) as u64);
        }
    }
    totals
}

/// What is about other servers, and there are none.
pub(crate) fn alone() -> Error {
    Error::new(SqlState::ObjectNotInPrerequisiteState, "this server is part of no cluster")
        .with_hint("Start servers with --cluster HOST:PORT, and others with --join.")
}

/// System tables that only superusers see.
fn keeps_secrets(schema: Option<&str>, name: &str) -> bool {
    matches!(schema, None | Some("pg_catalog")) && matches!(name, "pg_authid" | "pg_shadow")
}

/// A sequence as a table of one row.
pub(crate) fn sequence_table(
    engine: &SessionState,
    sequence: &Sequence,
) -> Result<Arc<dyn TableProvider>> {
    let origin = engine.config().get_extension::<Origin>();
    let shared = origin.and_then(|origin| origin.shared.upgrade());
    let store: Option<&Arc<Store>> = shared.as_ref().map(|shared| shared.store());
    let last = match store {
        Some(store) => store.sequence_last(sequence)?,
        None => None,
    };
    let columns = Columns::default()
        .number("last_value", [Some(last.unwrap_or(sequence.start))])
        .flag("is_called", [last.is_some()]);
    provider(columns.batch()?)
}

fn provider(batch: RecordBatch) -> Result<Arc<dyn TableProvider>> {
    Ok(Arc::new(MemTable::try_new(batch.schema(), vec![vec![batch]])?))
}
