//! `a.b` in a subquery over a table with a column `a`: the column `b` of the outer table `a`.
//!
//! In SQL a name of two parts is always a column of a relation; fields of composite values need
//! parentheses. DataFusion prefers the field `b` of the inner column `a` to the outer column. The
//! name is therefore extended to four parts with a prefix that no relation has. DataFusion ignores
//! the prefix when it compares names, so that only the outer column matches.

use super::scopes::Scopes;
use datafusion::sql::sqlparser::ast::{Expr, Ident};
use parser::names::fold;
use values::error::{ErrorSite, Result};
use values::translate::undefined_column;

/// The prefix of a name that refers to an outer column. No object has this name.
const OUTER: &str = "?outer";
/// The number of parts of a full name: database, schema, relation, column.
const PARTS: usize = 4;

/// Extends a name that refers to an outer column and could be read as a field.
///
/// # Errors
/// 42703 if the outer table has no such column.
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
