//! System tables of the schema `pando` with the rows of all servers. The coordinator requests and
//! concatenates them.

use crate::access::Access;
use crate::pando;
use crate::session_context::DatabaseContext;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, RecordBatch, StringViewArray,
};
use datafusion::arrow::compute::{concat_batches, filter_record_batch};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use scan::tables::Tables;
use std::collections::BTreeSet;
use std::sync::Arc;
use store::catalog::{Catalog, Object, Privileges, Relation};
use values::Result;

/// The names of these tables.
pub(crate) const TABLES: [&str; 4] = ["buckets", "runs", "splits", "queries"];

/// The name of a server that is in no cluster.
const ALONE: &str = "local";

/// The rows of one of these tables that the session may see.
pub(crate) async fn table(
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
            // A server of another version may have other columns; its rows are left out.
            parts.extend(Some(named(&server, &rows)?).filter(|rows| rows.schema() == schema));
        }
    }
    let all = concat_batches(&schema, &parts)?;
    if name == "queries" {
        with_hidden_texts(access, &all)
    } else {
        Ok(filter_record_batch(&all, &readable(access, tables.catalog(), &all))?)
    }
}

/// The rows of this server of one of these tables, for another server; `None` if there is none of
/// this name.
pub fn own_part(shared: &dyn DatabaseContext, name: &str) -> Option<RecordBatch> {
    let is_one = TABLES.contains(&name);
    is_one.then(|| pando::own(shared, &shared.store().catalog().shared(), name).batch().ok())?
}

/// Adds the column `server` in front.
fn named(server: &str, rows: &RecordBatch) -> Result<RecordBatch> {
    let servers = std::iter::repeat_n(Some(server), rows.num_rows());
    let mut columns: Vec<ArrayRef> = vec![Arc::new(servers.collect::<StringViewArray>())];
    columns.extend(rows.columns().iter().cloned());
    let mut fields = vec![Arc::new(Field::new("server", DataType::Utf8View, true))];
    fields.extend(rows.schema().fields().iter().cloned());
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
}

/// The text in a column of a row; empty if it is NULL.
fn text<'a>(rows: &'a RecordBatch, name: &str, row: usize) -> &'a str {
    let column = rows.column_by_name(name).and_then(|column| column.as_string_view_opt());
    column.filter(|column| column.is_valid(row)).map_or("", |column| column.value(row))
}

/// Which rows the role may see: those about tables that it may read. The bounds of buckets are keys
/// of their rows.
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

/// Hides the texts of statements of other users.
fn with_hidden_texts(access: Access<'_>, rows: &RecordBatch) -> Result<RecordBatch> {
    let shown = |row| access.shown_text(text(rows, "user", row), text(rows, "text", row));
    let texts: StringViewArray = (0..rows.num_rows()).map(|row| Some(shown(row))).collect();
    let mut columns = rows.columns().to_vec();
    if let Some((at, _)) = rows.schema().column_with_name("text") {
        columns[at] = Arc::new(texts);
    }
    Ok(RecordBatch::try_new(rows.schema(), columns)?)
}
