//! SQL over JSON: functions, operators, casts and the order of `jsonb`.
//!
//! Most functions come in pairs, one for each [`Kind`]. Functions do the work ([`access`], [`change`], [`build`],
//! [`rows`]); [`operators`] give each operator its function by the types beside it, [`casts`] and [`order`] do the
//! same for casts, comparisons and ORDER BY. Functions that only other parts of Pando name have no name that PostgreSQL
//! has: those that gather rows and those that give them (`planner::dialect`).
//!
//! What JSON is, and all work on its text, is in [`json`](crate::values::json).

mod access;
mod arguments;
pub(crate) mod build;
pub(crate) mod casts;
mod change;
pub(crate) mod gather;
pub(crate) mod operators;
pub(crate) mod order;
mod refused;
pub(crate) mod rows;
mod styled;
mod write;

use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, ScalarUDF};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use store::catalog::SqlType;

/// As many arguments as functions of any number take.
const ARGUMENTS_MAX: usize = 100;

/// The two types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Json,
    Jsonb,
}

impl Kind {
    const ALL: [Self; 2] = [Self::Json, Self::Jsonb];

    /// The one of two names that is this type's.
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
    let functions = functions.chain([order::function()]);
    functions.map(|function| (function.name().to_owned(), Arc::new(function))).collect()
});

/// The functions.
pub(super) fn all() -> impl Iterator<Item = Arc<ScalarUDF>> {
    ALL.values().cloned()
}

/// A call of one of the functions; `None` where there is none of the name.
fn call(name: &str, arguments: Vec<Expr>) -> Option<Expr> {
    let function = ALL.get(name)?;
    Some(Expr::ScalarFunction(ScalarFunction::new_udf(Arc::clone(function), arguments)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operator_has_its_function() {
        for name in operators::functions() {
            assert!(call(name, Vec::new()).is_some(), "{name}");
        }
    }
}
