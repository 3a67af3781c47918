//! Asynchronous functions, such as `pg_advisory_lock`, in what only some rows need: CASE, COALESCE, AND and OR.
//!
//! The engine calls them before the expression that they are in, for all rows. There they are called with the expression.

use crate::refusal::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::{Expr, ScalarUDF};
use std::sync::Arc;

/// A part of an expression that some rows do not need.
///
/// # Errors
/// None but the engine's.
pub(super) fn where_needed(part: &mut Expr) -> Result<()> {
    if !part.exists(|part| Ok(calls(part, |function| function.as_async().is_some())))? {
        return Ok(());
    }
    let changed = std::mem::take(part).transform_up(|part| {
        let Expr::ScalarFunction(mut call) = part else { return Ok(Transformed::no(part)) };
        let Some(function) = executor::waited(&call.func) else {
            return Ok(Transformed::no(Expr::ScalarFunction(call)));
        };
        call.func = Arc::new(function);
        Ok(Transformed::yes(Expr::ScalarFunction(call)))
    })?;
    *part = changed.data;
    Ok(())
}

/// A list of expressions. If one of them calls an asynchronous function where some rows need it, all are called with their
/// expressions, so that they are called in the order of the list.
///
/// # Errors
/// None but the engine's.
pub(crate) fn in_order(list: &mut [Expr]) -> Result<()> {
    let is_part = |function: &ScalarUDF| function.as_async().is_none() && executor::waits(function);
    for at in 0..list.len() {
        if list.len() > 1 && list[at].exists(|part| Ok(calls(part, is_part)))? {
            return list.iter_mut().try_for_each(where_needed);
        }
    }
    Ok(())
}

fn calls(expr: &Expr, is: impl Fn(&ScalarUDF) -> bool) -> bool {
    matches!(expr, Expr::ScalarFunction(call) if is(&call.func))
}
