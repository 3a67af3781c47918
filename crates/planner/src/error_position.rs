//! Finds the position of an error in the statement.
//!
//! DataFusion's errors name functions, operators and constants without a position. After a failure
//! the text is parsed again and searched for them. Errors are also corrected to PostgreSQL's types
//! of constants: for DataFusion each integer literal was a `bigint` when it failed.

mod constants;
mod find;

use constants::{type_of, unreadable, unreadable_operand};
use datafusion::sql::sqlparser::ast::{Spanned, Statement};
use datafusion::sql::sqlparser::tokenizer::{Location, TokenWithSpan};
use values::error::{Error, ErrorSite, SqlState};
use values::lines::Lines;
use values::translate::{undefined_column, undefined_function, undefined_operator, wrong_argument};

/// Adds the position of the site to an error, if it is found in `text`. `same` tells whether two
/// names denote the same function.
pub fn placed(error: Error, text: &str, same: impl Fn(&str, &str) -> bool) -> Error {
    let Some(site) = error.site().cloned() else { return error };
    let is_complete = match &site {
        ErrorSite::Literal(_) | ErrorSite::Relation(_) => true,
        ErrorSite::Column { .. } => error.state() == SqlState::UndefinedColumn,
        _ => false,
    };
    if is_complete && error.position().is_some() {
        return error;
    }
    let Some(statement) = parser::parse(text).ok().and_then(|mut all| all.pop()) else {
        return error;
    };
    let statement = statement.inner().unwrap_or(statement);
    let Some(ast) = statement.ast() else { return error };
    let found = look(&site, ast, text, same);
    let (known, place) = match found {
        Some((Some(known), place)) => (known, place),
        Some((None, place)) => (error.clone(), place),
        None => return error,
    };
    match (place.line, error.position()) {
        (0, None) => known,
        (0, Some(position)) => known.at(position),
        _ => known.at(Lines::new(text).character(place) + 1),
    }
}

/// The location of the site, and a more precise error if the statement allows one.
fn look(
    site: &ErrorSite,
    ast: &Statement,
    text: &str,
    same: impl Fn(&str, &str) -> bool,
) -> Option<(Option<Error>, Location)> {
    match site {
        ErrorSite::Literal(value) => Some((None, find::literal(ast, value)?.start)),
        ErrorSite::Relation(name) => Some((None, find::relation(ast, name)?.start)),
        ErrorSite::Column { table, name } => {
            let place = find::column(ast, table.as_deref(), name)?.start;
            let known = table.as_ref().and_then(|table| match find::in_from(ast, table)? {
                None => Some(undefined_column(table, name)),
                Some(alias) => Some(hidden_by_alias(table, &alias)),
            });
            Some((known, place))
        }
        ErrorSite::Call { name, types } => {
            let (called, types, span) = find::call(ast, name, types, same)?;
            Some((Some(undefined_function(&called, &types)), span.start))
        }
        ErrorSite::Argument { of, needed, given } => {
            let argument = find::argument(ast, of, given)?;
            let error = unreadable(&argument, needed)
                .unwrap_or_else(|| wrong_argument(of, needed, &type_of(&argument, given)));
            Some((Some(error), argument.span().start))
        }
        ErrorSite::Operator { operator, types } => {
            let (left, right) = find::operands(ast, operator, types)?;
            if let Some((error, span)) = unreadable_operand(operator, &left, &right, types) {
                return Some((Some(error), span.start));
            }
            let [one, other] = types;
            let error = undefined_operator(&type_of(&left, one), operator, &type_of(&right, other));
            let nowhere = Location { line: 0, column: 0 };
            Some((Some(error), sign(text, operator, right.span().start).unwrap_or(nowhere)))
        }
    }
}

/// The error for a table that is hidden by its alias.
fn hidden_by_alias(table: &str, alias: &str) -> Error {
    let message = format!("invalid reference to FROM-clause entry for table \"{table}\"");
    Error::new(SqlState::UndefinedTable, message)
        .with_hint(format!("Perhaps you meant to reference the table alias \"{alias}\"."))
}

/// The location of an operator: the last occurrence before its right operand. If the operand has no
/// location, the only occurrence.
fn sign(text: &str, operator: &str, right: Location) -> Option<Location> {
    let written = if operator == "~~" { "LIKE" } else { operator };
    let tokens = parser::tokens(text).ok()?;
    let is_sign = |token: &&TokenWithSpan| token.token.to_string().eq_ignore_ascii_case(written);
    let mut signs = tokens.iter().filter(is_sign).map(|token| token.span.start);
    if right.line == 0 {
        return signs.next().filter(|_| signs.next().is_none());
    }
    signs.rfind(|start| *start < right)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed_in(error: Error, text: &str) -> (String, Option<usize>) {
        let error = placed(error, text, |called, name| called == name);
        (error.message().to_owned(), error.position())
    }

    #[test]
    fn functions_operators_and_constants_are_located() {
        let types = ["bigint".to_owned(), "text".to_owned()];
        let error = undefined_function("f", &types);
        let seen = placed_in(error, "SELECT 1, F(2, v) FROM t");
        assert_eq!(seen, ("function f(integer, text) does not exist".to_owned(), Some(11)));

        let error = undefined_operator("bigint", "+", "text");
        let seen = placed_in(error, "SELECT 'ü' || 'x', 1 + v FROM t");
        assert_eq!(seen, ("operator does not exist: integer + text".to_owned(), Some(22)));

        let error = undefined_operator("bigint", "+", "unknown");
        let seen = placed_in(error, "SELECT 1 + 'a'");
        assert_eq!(seen, ("invalid input syntax for type integer: \"a\"".to_owned(), Some(12)));

        let error = wrong_argument("WHERE", "boolean", "bigint");
        let seen = placed_in(error, "SELECT id FROM t WHERE 1");
        let message = "argument of WHERE must be type boolean, not type integer";
        assert_eq!(seen, (message.to_owned(), Some(24)));
    }
}
