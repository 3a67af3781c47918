//! Gives result columns that share a name unique aliases ([`unique_names`]).

use super::dialect::column_names;
use super::unique_names;
use datafusion::sql::sqlparser::ast::{Ident, Query, SelectItem, SetExpr, Statement};
use std::collections::HashSet;

/// Gives the columns of the outermost select list unique names.
pub(super) fn of_statement(mut statement: Statement) -> Statement {
    if let Statement::Query(query) = &mut statement {
        of_query(query);
    }
    statement
}

fn of_query(query: &mut Query) {
    let SetExpr::Select(select) = &mut *query.body else { return };
    // `SELECT c.oid, c.*`: the columns of an asterisk are unknown here, so every other column gets
    // an alias.
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
            let alias = Ident::with_quote('"', unique_names::again(position, &name));
            *item = SelectItem::ExprWithAlias { expr: expression, alias };
        }
    }
}
