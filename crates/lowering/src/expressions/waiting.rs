//! Asynchronous functions, such as `pg_advisory_lock`, in what only some rows need: CASE, COALESCE, AND and OR.
//!
//! The engine calls them before the expression that they are in, for all rows. There they are called with the expression.

use crate::refusal::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::Expr;
use std::sync::Arc;

/// A part of an expression that some rows do not need.
///
/// # Errors
/// None but the engine's.
pub(super) fn where_needed(part: &mut Expr) -> Result<()> {
    let is_waiting = |part: &Expr| {
        Ok(matches!(part, Expr::ScalarFunction(call) if call.func.as_async().is_some()))
    };
    if !part.exists(is_waiting)? {
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
