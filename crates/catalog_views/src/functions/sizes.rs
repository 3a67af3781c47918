//! `pg_relation_size`, `pg_database_size` and similar functions, and `pg_size_pretty`.

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
    all.push(function("pg_size_pretty", 1..=1, Form::Text, |row| {
        Ok(row.number(0).map(pretty).into())
    }));
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

/// `pg_size_pretty`: bytes in the largest unit of which there are at least ten.
fn pretty(bytes: i64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    let limit = 10 * 1024;
    if bytes.unsigned_abs() < limit {
        return format!("{bytes} bytes");
    }
    // Half units, for rounding.
    let mut halves = bytes / 512;
    for unit in UNITS {
        if halves.unsigned_abs() < 2 * limit - 1 || unit == "PB" {
            let rounded = if halves < 0 { (halves - 1) / 2 } else { (halves + 1) / 2 };
            return format!("{rounded} {unit}");
        }
        halves /= 1024;
    }
    unreachable!("the last unit has no limit")
}

#[cfg(test)]
mod tests {
    use super::pretty;

    #[test]
    fn sizes_are_written_as_postgresql_does() {
        let all = [
            (0, "0 bytes"),
            (10_239, "10239 bytes"),
            (10_240, "10 kB"),
            (1_000_000, "977 kB"),
            (10_485_760, "10 MB"),
            (123_456_789_012, "115 GB"),
            (-20_000, "-20 kB"),
        ];
        for (bytes, written) in all {
            assert_eq!(pretty(bytes), written);
        }
    }
}
