//! `pg_relation_size`, `pg_database_size` and similar functions.

use super::Scope;
use crate::pg_catalog::class::Class;
use crate::session_context::SessionContext;
use datafusion::logical_expr::ScalarUDF;
use functions::row_function::{Row, function};
use std::sync::Arc;
use store::catalog::{Relation, TableId};
use values::cells::Cell;
use values::cells::Form;

/// The functions.
pub(super) fn all(session: &Arc<dyn SessionContext>) -> Vec<ScalarUDF> {
    let mut all = Vec::new();
    let of_tables = [("pg_relation_size", 2), ("pg_total_relation_size", 1), ("pg_table_size", 1)];
    for (name, most) in of_tables {
        let session = Arc::clone(session);
        all.push(function(name, 1..=most, Form::Number, move |row| Ok(table(&*session, row))));
    }
    // Rows are stored in key order, without a separate index.
    all.push(function("pg_indexes_size", 1..=1, Form::Number, |_| Ok(Cell::Number(0))));
    for name in ["pg_database_size", "pg_tablespace_size"] {
        let session = Arc::clone(session);
        all.push(function(name, 1..=1, Form::Number, move |_| {
            let bytes = session.database().store().memory().table_bytes();
            Ok(i64::try_from(bytes).unwrap_or(i64::MAX).into())
        }));
    }
    all
}

/// The bytes of a table on this server.
fn table(session: &dyn SessionContext, row: &Row<'_>) -> Cell {
    let scope = Scope::of(session);
    match scope.class(row, 0) {
        Some(Class::Relation(relation @ (Relation::Table(_) | Relation::Index(_)))) => {
            let id = TableId(relation.id().0);
            let buckets = session.database().store().bucket_infos(id);
            let bytes: u64 = buckets.iter().map(|bucket| bucket.bytes).sum();
            i64::try_from(bytes).unwrap_or(i64::MAX).into()
        }
        Some(_) => Cell::Number(0),
        None => Cell::Null,
    }
}
