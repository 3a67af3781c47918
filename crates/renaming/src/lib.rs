//! What definitions that are kept as texts become when what they name has another name, schema or columns.
//!
//! Views, defaults, conditions and bodies of functions are SQL texts. A [`Renaming`] has the catalog before and after a
//! change: each name of a text is looked up in the first, and what is found is named anew as the second knows it. A relation
//! whose name the text refers to keeps it as its alias. New names of columns become the names of that alias:
//! `FROM t` reads `FROM t AS t(a)` when `a` is called `b` now, so that every reference and every name of a result stays.
//!
//! Not here: whether a text means the same afterwards, which `query` sees when it binds it again.

mod definitions;
mod different;
mod mentions;
mod moves;
mod names;
mod quoting;
mod text;

pub use definitions::refused;
pub use mentions::{may_call, mentions};
pub use moves::{moved_table, refuse_taken, renamed_schema};

use catalog_views::search_path::SearchPath;
use std::collections::BTreeSet;
use std::sync::Arc;
use store::catalog::{Catalog, RelationId, Table, View};

/// A catalog before and after a change of names.
#[derive(Clone, Copy)]
pub struct Renaming<'a> {
    /// The catalog before.
    pub before: &'a Arc<Catalog>,
    /// The catalog after.
    pub after: &'a Arc<Catalog>,
    /// The schemas in which the names of expressions are looked up.
    pub path: SearchPath<'a>,
    /// The view whose columns have other names now, and the names that they had. What tables have is in the catalogs.
    pub view: Option<(RelationId, &'a [String])>,
    /// The functions of users that a text calls before the change. `None` if nobody knows.
    pub called: &'a dyn Fn(Caller<'_>) -> Option<BTreeSet<RelationId>>,
}

/// A text that calls functions.
#[derive(Clone, Copy)]
pub enum Caller<'a> {
    /// The query of a view.
    View(&'a View),
    /// An expression over a row of a table.
    Expression(&'a Table, &'a str),
}
