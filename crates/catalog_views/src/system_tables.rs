//! System tables by name: their rows, computed when a statement reads them.

use crate::access::{Access, denied};
use crate::columns::Columns;
use crate::errors::not_in_cluster;
use crate::functions::Functions;
use crate::names::closed_kind;
use crate::origin::{self, settings};
use crate::view_context::{ViewColumns, ViewContext};
use crate::{all_servers, information_schema, pando, pg_catalog, shape};
use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::catalog::MemTable;
use datafusion::datasource::TableProvider;
use datafusion::execution::SessionState;
use scan::tables::Tables;
use std::sync::Arc;
use store::catalog::Sequence;
use values::Result;

/// Whether a name without a schema is that of a table of `pg_catalog`, which is first in every
/// search path.
pub fn is_implicit(name: &str) -> bool {
    shape::of("pg_catalog", name).is_some_and(|shape| !shape.is_function())
}

/// Whether a system table lists the columns of views.
pub fn lists_view_columns(schema: Option<&str>, name: &str) -> bool {
    match schema {
        None | Some("pg_catalog") => matches!(name, "pg_attrdef" | "pg_attribute" | "pg_class"),
        Some("information_schema") => {
            let of_usage = matches!(name, "column_domain_usage" | "column_udt_usage");
            of_usage
                || matches!(
                    name,
                    "columns" | "column_privileges" | "role_column_grants" | "element_types"
                )
        }
        Some(_) => false,
    }
}

/// A system table that this server computes alone; `None` if there is none of this name.
///
/// # Errors
/// 42501 if only superusers may read it.
pub fn table(
    engine: &SessionState,
    functions: &Functions<'_>,
    access: Access<'_>,
    tables: &dyn Tables,
    views: &ViewColumns,
    schema: Option<&str>,
    name: &str,
) -> Result<Option<Arc<dyn TableProvider>>> {
    let Some((origin, database)) = origin::of(engine) else { return Ok(None) };
    let settings = settings(engine);
    let context = ViewContext {
        database: &*database,
        session: &*origin.session,
        catalog: tables.catalog(),
        settings: &settings,
        views,
        functions: &|name| functions.has(name),
        access,
    };
    if let None | Some("pg_catalog") = schema
        && let Some(kind) = closed_kind(name)
        && !access.is_superuser()
    {
        return Err(denied(kind, name));
    }
    let batch = match schema {
        Some("pando") => {
            let columns = pando::table(&context, tables, name);
            columns.map(Columns::batch).transpose()?
        }
        Some("information_schema") => {
            let rows = information_schema::table(&context, name);
            rows.map(|rows| rows.batch()).transpose()?
        }
        None | Some("pg_catalog") => {
            pg_catalog::table(&context, name).map(|rows| rows.batch()).transpose()?
        }
        Some(_) => None,
    };
    batch.map(provider).transpose()
}

/// Tables of the schema `pando` about the cluster.
const CLUSTER_TABLES: [&str; 5] = ["servers", "groups", "shares", "moves", "images"];

/// A system table of the schema `pando` that other servers contribute to; `None` if there is none
/// of this name.
///
/// # Errors
/// 55000 if the server is in no cluster, 42501 if only superusers may read it, and errors of the
/// other servers.
pub async fn cluster_table(
    engine: &SessionState,
    access: Access<'_>,
    tables: &dyn Tables,
    schema: Option<&str>,
    name: &str,
) -> Result<Option<Arc<dyn TableProvider>>> {
    let is_of_all_servers = all_servers::TABLES.contains(&name);
    let is_one = is_of_all_servers || name == "tables" || CLUSTER_TABLES.contains(&name);
    if schema != Some("pando") || !is_one {
        return Ok(None);
    }
    let Some((_, database)) = origin::of(engine) else { return Ok(None) };
    if is_of_all_servers {
        return provider(all_servers::table(&*database, access, tables, name).await?).map(Some);
    }
    // The bounds of a move are keys of rows.
    if name == "moves" && !access.is_superuser() {
        return Err(denied("table", name));
    }
    if name == "tables" {
        let Some(peers) = database.store().peers() else { return Ok(None) };
        let shares = peers.describe("shares").await?;
        let totals = shares.as_ref().map(totals).unwrap_or_default();
        return provider(pando::all_tables(&*database, tables, Some(&totals)).batch()?).map(Some);
    }
    let peers = database.store().peers().ok_or_else(not_in_cluster)?;
    peers.describe(name).await?.map(provider).transpose()
}

/// Adds up the shares of all servers, by table.
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

/// A sequence as a table with one row.
///
/// # Errors
/// The state of the sequence cannot be read.
pub fn sequence_table(
    engine: &SessionState,
    sequence: &Sequence,
) -> Result<Arc<dyn TableProvider>> {
    let last = match origin::of(engine) {
        Some((_, database)) => database.store().sequence_last(sequence)?,
        None => None,
    };
    let columns = Columns::default()
        .number("last_value", [Some(last.unwrap_or(sequence.start))])
        .number("log_cnt", [Some(0)])
        .flag("is_called", [last.is_some()]);
    provider(columns.batch()?)
}

fn provider(batch: RecordBatch) -> Result<Arc<dyn TableProvider>> {
    Ok(Arc::new(MemTable::try_new(batch.schema(), vec![vec![batch]])?))
}
