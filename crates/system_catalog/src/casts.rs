//! Casts (`pg_cast`).

use super::{Oid, rows};
use std::collections::HashMap;
use std::sync::LazyLock;

/// Where a cast applies (`pg_cast.castcontext`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CastContext {
    /// In any expression.
    Implicit,
    /// When a value is stored in a column.
    Assignment,
    /// When a value is assigned to a variable of PL/pgSQL. Where nothing else applies, the value is converted by its text.
    Procedural,
    /// Where it is written.
    Explicit,
}

/// How a cast works (`pg_cast.castmethod`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CastMethod {
    /// By a function.
    Function(Oid),
    /// Not at all: both types have the same representation.
    Relabel,
    /// By the text of the value.
    Text,
}

static CASTS: LazyLock<HashMap<(Oid, Oid), (CastContext, CastMethod)>> = LazyLock::new(|| {
    let cast = |row: super::Row| {
        let context = match row.letter(3) {
            'i' => CastContext::Implicit,
            'a' => CastContext::Assignment,
            _ => CastContext::Explicit,
        };
        let method = match row.letter(4) {
            'f' => CastMethod::Function(row.oid(2)),
            'b' => CastMethod::Relabel,
            _ => CastMethod::Text,
        };
        ((row.oid(0), row.oid(1)), (context, method))
    };
    rows(include_str!("../data/casts.tsv")).map(cast).collect()
});

/// The cast from one type to another that the catalog lists. A cast of a type to itself applies a length.
pub fn listed(from: Oid, to: Oid) -> Option<(CastContext, CastMethod)> {
    CASTS.get(&(from, to)).copied()
}
