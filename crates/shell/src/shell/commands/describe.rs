//! Lists of relations and schemas: `\d`, `\dt`, `\dv`, `\dn`.
//!
//! The queries work on Pando and PostgreSQL, except for sizes: Pando reports buckets, PostgreSQL files and estimated rows.

use super::command::{CommandError, Kinds};
use crate::output::{Align, Grid, Heading};
use crate::quantity::{bytes, count};
use crate::shell::Shell;
use std::io::Write;

/// System schemas.
pub(crate) const SYSTEM_SCHEMAS: &str = "('pando', 'information_schema')";
/// Names of `relkind`.
const KIND: &str = "CASE c.relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'partitioned table' WHEN 'v' THEN 'view' \
                    WHEN 'm' THEN 'materialized view' WHEN 'S' THEN 'sequence' WHEN 'f' THEN 'foreign table' END";

/// A row of an answer as text.
type Row = Vec<Option<String>>;

/// Lists tables, views and sequences.
pub(crate) async fn list(shell: &mut Shell, kinds: Kinds) -> Result<(), CommandError> {
    let is_pando = shell.place.is_pando();
    let rows = shell.place.texts(&query(kinds, is_pando)).await?;
    if rows.is_empty() {
        let what = match kinds {
            Kinds::All => "tables, views or sequences",
            Kinds::Tables => "tables",
            Kinds::Views => "views",
        };
        writeln!(shell.out, "There are no {what}.")?;
        return Ok(());
    }
    let mut grid = Grid::new(headings(kinds, is_pando));
    for row in rows {
        grid.push(shown(row, kinds));
    }
    let total = grid.rows() as u64;
    shell.view.write_grid(&grid, total, None, &mut shell.out)?;
    Ok(())
}

fn query(kinds: Kinds, is_pando: bool) -> String {
    let letters = match kinds {
        Kinds::All => "'r', 'p', 'v', 'm', 'S', 'f'",
        Kinds::Tables => "'r', 'p', 'f'",
        Kinds::Views => "'v', 'm'",
    };
    let has_size = "c.relkind IN ('r', 'p', 'm')";
    let (columns, join) = match (kinds, is_pando) {
        (Kinds::Views, _) => ("pg_catalog.pg_get_viewdef(c.oid)".to_owned(), ""),
        (_, true) => (
            format!("{KIND}, t.rows::text, t.bytes::text, t.buckets::text"),
            "LEFT JOIN pando.tables t ON t.schema = n.nspname AND t.\"table\" = c.relname",
        ),
        (_, false) => (
            format!(
                "{KIND}, CASE WHEN {has_size} AND c.reltuples >= 0 THEN c.reltuples::bigint::text END, \
                 CASE WHEN {has_size} THEN pg_catalog.pg_total_relation_size(c.oid)::text END"
            ),
            "",
        ),
    };
    format!(
        "SELECT n.nspname, c.relname, {columns}, pg_catalog.obj_description(c.oid, 'pg_class') \
         FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace {join} \
         WHERE c.relkind IN ({letters}) AND n.nspname NOT IN {SYSTEM_SCHEMAS} AND n.nspname NOT LIKE 'pg\\_%' \
         ORDER BY n.nspname, c.relname"
    )
}

fn headings(kinds: Kinds, is_pando: bool) -> Vec<Heading> {
    let text = |name| Heading::new(name, Align::Left);
    let number = |name| Heading::new(name, Align::Right);
    match kinds {
        Kinds::Views => vec![text("schema"), text("view"), text("query"), text("comment")],
        Kinds::All | Kinds::Tables => {
            let mut headings = vec![text("schema"), text("name"), text("kind")];
            headings.extend([number("rows"), number("bytes")]);
            headings.extend(is_pando.then(|| number("buckets")));
            headings.push(text("comment"));
            headings
        }
    }
}

/// A row with formatted sizes.
fn shown(row: Row, kinds: Kinds) -> Vec<String> {
    let last = row.len() - 1;
    let cell = |(index, text): (usize, Option<String>)| {
        let text = text.unwrap_or_default();
        match (kinds, index, text.parse()) {
            (Kinds::Views, ..) => text.trim().to_owned(),
            (_, 0..=2, _) | (_, _, Err(_)) => text,
            (_, index, _) if index == last => text,
            (_, 4, Ok(size)) => bytes(size),
            (_, _, Ok(size)) => count(size),
        }
    };
    row.into_iter().enumerate().map(cell).collect()
}

/// Lists schemas.
pub(crate) async fn schemas(shell: &mut Shell) -> Result<(), CommandError> {
    let query = format!(
        "SELECT n.nspname, count(c.oid)::text, pg_catalog.obj_description(n.oid, 'pg_namespace') \
         FROM pg_catalog.pg_namespace n LEFT JOIN pg_catalog.pg_class c \
             ON c.relnamespace = n.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f') \
         WHERE n.nspname NOT IN {SYSTEM_SCHEMAS} AND n.nspname NOT LIKE 'pg\\_%' \
         GROUP BY n.nspname, n.oid ORDER BY n.nspname"
    );
    let headings = [("schema", Align::Left), ("relations", Align::Right), ("comment", Align::Left)];
    let headings = headings.map(|(name, align)| Heading::new(name, align));
    let mut grid = Grid::new(headings.into());
    for row in shell.place.texts(&query).await? {
        grid.push(row.into_iter().map(Option::unwrap_or_default));
    }
    let total = grid.rows() as u64;
    shell.view.write_grid(&grid, total, None, &mut shell.out)?;
    Ok(())
}
