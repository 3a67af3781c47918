//! `a.b` in a subquery over a table with a column `a`: the column `b` of the outer table `a`.
//!
//! In SQL a name in two parts is always a column of a relation; fields of composite values have parentheses. The engine takes
//! `a.b` for a field of the inner column before it looks at the queries around. So such a name gets parts in front that no
//! relation has and that the engine passes over where it compares whole names: then it can mean nothing but the outer column.

use super::scopes::Scopes;
use datafusion::sql::sqlparser::ast::{Expr, Ident};
use parser::names::fold;
use values::error::{ErrorSite, Result};
use values::translate::undefined_column;

/// What stands in front of a name that means an outer column: nothing is called so.
const OUTER: &str = "?outer";
/// Parts of a whole name: database, schema, relation, column.
const PARTS: usize = 4;

/// An expression that means the outer column, where it is a name that does.
///
/// # Errors
/// 42703: the outer table has no such column.
pub(super) fn rewrite(expr: &mut Expr, scopes: &Scopes<'_>) -> Result<()> {
    let Expr::CompoundIdentifier(parts) = expr else { return Ok(()) };
    let [relation, column] = &parts[..] else { return Ok(()) };
    let (name, column) = (fold(relation), fold(column));
    let inner = scopes.innermost();
    let is_inner = inner.iter().any(|relation| relation.name == name);
    if is_inner || !inner.iter().any(|relation| relation.may_have(&name)) {
        return Ok(());
    }
    let Some(outer) = scopes.relation(&name) else { return Ok(()) };
    if !outer.may_have(&column) {
        let site = ErrorSite::Column { table: Some(name.clone()), name: column.clone() };
        return Err(undefined_column(&name, &column).at_site(site));
    }
    let mut whole: Vec<&str> = outer.qualifier.iter().map(String::as_str).collect();
    whole.extend([name.as_str(), column.as_str()]);
    let lead = std::iter::repeat_n(OUTER, PARTS.saturating_sub(whole.len()));
    *parts = lead.chain(whole).map(|part| Ident::with_quote('"', part)).collect();
    Ok(())
}
