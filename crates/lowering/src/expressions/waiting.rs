//! Asynchronous functions in CASE, such as `pg_advisory_lock`.
//!
//! The engine computes them before the expression that they are in, for all rows. Their arguments are NULL for the rows for
//! which CASE takes another branch: with a NULL they do nothing.

use crate::refusal::{Result, missing};
use crate::typed::Typed;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::Case;

/// Whether an expression calls an asynchronous function.
pub(super) fn waits(expr: &Expr) -> bool {
    expr.exists(|part| Ok(is_waiting(part))).unwrap_or(false)
}

fn is_waiting(expr: &Expr) -> bool {
    matches!(expr, Expr::ScalarFunction(call) if call.func.as_async().is_some())
}

/// Has the values of a CASE with these conditions, the last of which is that of ELSE, call asynchronous functions for their
/// own rows only.
///
/// # Errors
/// [`Refusal::Missing`](crate::refusal::Refusal::Missing) behind volatile conditions, and for functions without arguments.
pub(super) fn only_for_own_rows(conditions: &[Expr], values: &mut [Typed]) -> Result<()> {
    for (place, value) in values.iter_mut().enumerate() {
        if !waits(&value.expr) {
            continue;
        }
        let (earlier, own) = conditions.split_at(place.min(conditions.len()));
        let earlier = earlier.iter().map(|condition| Expr::IsNotTrue(Box::new(condition.clone())));
        let own = own.first().map(|condition| Expr::IsTrue(Box::new(condition.clone())));
        let Some(reached) = earlier.chain(own).reduce(Expr::and) else { continue };
        if reached.is_volatile() {
            return missing("CASE with a volatile condition before a function that waits");
        }
        value.expr = only_where(&reached, value.expr.clone())?;
    }
    Ok(())
}

/// A value whose asynchronous functions have NULL as arguments where a condition does not hold.
fn only_where(condition: &Expr, value: Expr) -> Result<Expr> {
    let mut is_known = true;
    let changed = value.transform_down(|part| {
        let Expr::ScalarFunction(mut call) = part else { return Ok(Transformed::no(part)) };
        if call.func.as_async().is_none() {
            return Ok(Transformed::no(Expr::ScalarFunction(call)));
        }
        is_known &= !call.args.is_empty();
        for argument in &mut call.args {
            let branch = (Box::new(condition.clone()), Box::new(std::mem::take(argument)));
            *argument = Expr::Case(Case::new(None, vec![branch], None));
        }
        Ok(Transformed::new(Expr::ScalarFunction(call), true, TreeNodeRecursion::Jump))
    })?;
    match is_known {
        true => Ok(changed.data),
        false => missing("a function that waits and has no arguments in CASE"),
    }
}
