//! PostgreSQL's system catalogs of types, casts, operators and functions, as data.
//!
//! The tables lie in `data/` as text; `data/export.sql` writes them. `data/own_functions.tsv` has the functions of the
//! schema `pando`, in the same form.

pub mod casts;
pub mod functions;
pub mod operators;
pub mod resolve;
pub mod types;

pub use types::{Oid, SqlType};

/// One row of a table in `data/`: fields between tabs.
struct Row(Vec<&'static str>);

/// The rows of a table in `data/`.
fn rows(table: &'static str) -> impl Iterator<Item = Row> {
    table.lines().map(|line| Row(line.split('\t').collect()))
}

impl Row {
    fn text(&self, field: usize) -> &'static str {
        self.0.get(field).copied().unwrap_or_default()
    }

    fn letter(&self, field: usize) -> char {
        self.text(field).chars().next().unwrap_or('-')
    }

    fn flag(&self, field: usize) -> bool {
        self.text(field) == "t"
    }

    fn number(&self, field: usize) -> u32 {
        self.text(field).parse().unwrap_or_default()
    }

    fn oid(&self, field: usize) -> Oid {
        Oid(self.number(field))
    }

    /// The id in a field, where 0 stands for none.
    fn some_oid(&self, field: usize) -> Option<Oid> {
        Some(self.oid(field)).filter(|oid| oid.0 != 0)
    }

    /// The ids in a field, between blanks.
    fn oids(&self, field: usize) -> Vec<Oid> {
        self.text(field).split_whitespace().filter_map(|oid| oid.parse().ok()).map(Oid).collect()
    }
}
