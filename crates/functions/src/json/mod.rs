//! SQL functions and operators on JSON, casts, and the order of `jsonb`.
//!
//! Most functions come in pairs, one for each JSON type. Functions are in `access`, `change`,
//! [`build`] and [`rows`]; [`casts`] replaces casts. Functions of
//! operators and other syntax have names that PostgreSQL does not have.
//!
//! The work on the text of JSON values is in [`values::json`].

mod access;
mod arguments;
pub mod build;
pub mod casts;
mod change;
pub mod gather;
mod order;
pub mod paths;
mod refused;
pub mod rows;
mod styled;
mod write;

use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, ScalarUDF};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use store::catalog::SqlType;

/// The maximum number of arguments of variadic functions.
const ARGUMENTS_MAX: usize = 100;

/// One of the two JSON types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Json,
    Jsonb,
}

impl Kind {
    const ALL: [Self; 2] = [Self::Json, Self::Jsonb];

    /// The function name for this type.
    fn name(self, json: &'static str, jsonb: &'static str) -> &'static str {
        match self {
            Self::Json => json,
            Self::Jsonb => jsonb,
        }
    }

    fn sql_type(self) -> SqlType {
        match self {
            Self::Json => SqlType::Json,
            Self::Jsonb => SqlType::Jsonb,
        }
    }
}

static ALL: LazyLock<HashMap<String, Arc<ScalarUDF>>> = LazyLock::new(|| {
    let functions = access::all().into_iter().chain(build::all()).chain(gather::all());
    let functions =
        functions.chain(rows::all()).chain(refused::all()).chain(change::all()).chain(casts::all());
    let functions = functions.chain(paths::all()).chain([order::function()]);
    functions.map(|function| (function.name().to_owned(), Arc::new(function))).collect()
});

/// The functions.
pub(super) fn all() -> impl Iterator<Item = Arc<ScalarUDF>> {
    ALL.values().cloned()
}

/// A call of one of the functions; `None` if there is none of this name.
fn call(name: &str, arguments: Vec<Expr>) -> Option<Expr> {
    let function = ALL.get(name)?;
    Some(Expr::ScalarFunction(ScalarFunction::new_udf(Arc::clone(function), arguments)))
}
