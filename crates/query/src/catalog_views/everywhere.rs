//! Tables with the rows of all servers: each tells of itself, and the session's server puts that together.

use super::pando;
use crate::catalog_views::access::Access;
use crate::catalog_views::session_context::DatabaseContext;
use crate::scan::tables::Tables;
use crate::values::error::Result;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, RecordBatch, StringViewArray,
};
use datafusion::arrow::compute::{concat_batches, filter_record_batch};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use std::collections::BTreeSet;
use std::sync::Arc;
use store::catalog::{Catalog, Object, Privileges, Relation};

/// The tables.
pub(super) const TABLES: [&str; 4] = ["buckets", "runs", "splits", "queries"];

/// What a server without others is called.
const ALONE: &str = "local";

/// One of the tables, with what the session may see of it.
pub(super) async fn table(
    shared: &dyn DatabaseContext,
    access: Access<'_>,
    tables: &dyn Tables,
    name: &str,
) -> Result<RecordBatch> {
    let peers = shared.store().peers();
    let here = peers.map_or_else(|| ALONE.to_owned(), |peers| peers.server_name(peers.here()));
    let own = named(&here, &pando::own(shared, tables.catalog(), name).batch()?)?;
    let schema = own.schema();
    let mut parts = vec![own];
    if let Some(peers) = peers {
        for (server, rows) in peers.gather(name).await {
            // One of another version may tell something else.
            parts.extend(Some(named(&server, &rows)?).filter(|rows| rows.schema() == schema));
        }
    }
    let all = concat_batches(&schema, &parts)?;
    match name {
        "queries" => with_hidden_texts(access, &all),
        _ => Ok(filter_record_batch(&all, &readable(access, tables.catalog(), &all))?),
    }
}

/// What this server tells of itself to another.
pub(crate) fn own_part(shared: &dyn DatabaseContext, name: &str) -> Option<RecordBatch> {
    let is_one = TABLES.contains(&name);
    is_one.then(|| pando::own(shared, &shared.store().catalog().shared(), name).batch().ok())?
}

/// Rows with their server before them.
fn named(server: &str, rows: &RecordBatch) -> Result<RecordBatch> {
    let servers = std::iter::repeat_n(Some(server), rows.num_rows());
    let mut columns: Vec<ArrayRef> = vec![Arc::new(servers.collect::<StringViewArray>())];
    columns.extend(rows.columns().iter().cloned());
    let mut fields = vec![Arc::new(Field::new("server", DataType::Utf8View, true))];
    fields.extend(rows.schema().fields().iter().cloned());
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
}

fn text<'a>(rows: &'a RecordBatch, name: &str, row: usize) -> &'a str {
    let column = rows.column_by_name(name).and_then(|column| column.as_string_view_opt());
    column.filter(|column| column.is_valid(row)).map_or("", |column| column.value(row))
}

/// Whether rows are about tables whose rows may be read: bounds of buckets are keys of rows.
fn readable(access: Access<'_>, catalog: &Catalog, rows: &RecordBatch) -> BooleanArray {
    let may_read = |relation: &&Relation| {
        let object = Object::Relation(relation.id());
        access.privileges(&object).contains(Privileges::SELECT)
    };
    let readable: BTreeSet<(&str, &str)> = catalog
        .relations()
        .filter(may_read)
        .map(|relation| (relation.schema(), relation.name()))
        .collect();
    let is_readable =
        |row| readable.contains(&(text(rows, "schema", row), text(rows, "table", row)));
    (0..rows.num_rows()).map(|row| Some(is_readable(row))).collect()
}

/// Statements of others are shown without their texts.
fn with_hidden_texts(access: Access<'_>, rows: &RecordBatch) -> Result<RecordBatch> {
    let shown = |row| access.shown_text(text(rows, "user", row), text(rows, "text", row));
    let texts: StringViewArray = (0..rows.num_rows()).map(|row| Some(shown(row))).collect();
    let mut columns = rows.columns().to_vec();
    if let Some((at, _)) = rows.schema().column_with_name("text") {
        columns[at] = Arc::new(texts);
    }
    Ok(RecordBatch::try_new(rows.schema(), columns)?)
}
