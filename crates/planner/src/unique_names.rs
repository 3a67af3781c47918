//! Result columns may share a name in PostgreSQL; in the engine they may not.
//!
//! Of several equal expressions in a select list all but the first get an alias that no one can write;
//! [`shown`] gives the name back.

use super::dialect::column_names;
use datafusion::sql::sqlparser::ast::{Ident, Query, SelectItem, SetExpr, Statement};
use std::collections::HashSet;

const MARK: &str = "?again";

/// The statement with names that differ, in its outermost select list.
pub(crate) fn of_statement(mut statement: Statement) -> Statement {
    if let Statement::Query(query) = &mut statement {
        of_query(query);
    }
    statement
}

fn of_query(query: &mut Query) {
    let SetExpr::Select(select) = &mut *query.body else { return };
    // `SELECT c.oid, c.*`: what an asterisk stands for is not known here, so every other name is made to differ.
    let any_column = |item: &SelectItem| {
        matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..))
    };
    let with_asterisk = select.projection.len() > 1 && select.projection.iter().any(any_column);
    let (mut seen, mut columns, mut aliases) = (HashSet::new(), HashSet::new(), HashSet::new());
    for (position, item) in select.projection.iter_mut().enumerate() {
        let (name, expression, is_taken) = match item {
            SelectItem::UnnamedExpr(expression) => {
                let name = column_names::shown(expression);
                let is_taken = aliases.contains(&name) || with_asterisk;
                columns.insert(name.clone());
                (name, expression.clone(), !seen.insert(expression.to_string()) || is_taken)
            }
            SelectItem::ExprWithAlias { expr, alias } => {
                let name = alias.value.clone();
                let is_taken = columns.contains(&name);
                aliases.insert(name.clone());
                (name.clone(), expr.clone(), !seen.insert(name) || is_taken)
            }
            _ => continue,
        };
        if is_taken {
            let alias = Ident::with_quote('"', again(position, &name));
            *item = SelectItem::ExprWithAlias { expr: expression, alias };
        }
    }
}

/// A name for a column that shares its own with one before it.
pub fn again(position: usize, name: &str) -> String {
    format!("{MARK}{position}?{name}")
}

/// The name that a result column is shown with.
pub fn shown(name: &str) -> &str {
    match name.strip_prefix(MARK) {
        Some(rest) => rest.split_once('?').map_or(rest, |(_, name)| name),
        None => name,
    }
}

/// A text with all columns as they are shown.
pub fn all_shown(text: &str) -> String {
    let mut parts = text.split(MARK);
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let name = part.trim_start_matches(|digit: char| digit.is_ascii_digit()).strip_prefix('?');
        match name {
            Some(name) => all.push_str(name),
            None => all.extend([MARK, part]),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_as_they_were_written() {
        let (first, twelfth) = (again(1, "sum"), again(12, "a?b"));
        assert_eq!((shown(&first), shown(&twelfth), shown("sum")), ("sum", "a?b", "sum"));
        let text = format!("sum@0 as {first}, {twelfth}@12, '?againn', ?again");
        assert_eq!(all_shown(&text), "sum@0 as sum, a?b@12, '?againn', ?again");
    }
}
