//! Defaults as PostgreSQL shows them: a constant has its type (`'x'::text`), by which migration tools know what it is.
//!
//! The catalog keeps the expression as it was written. Only constants and words without arguments are shown in another way.

use super::{type_catalog, user_types};
use crate::search_path::SearchPath;
use crate::view_context::ViewContext;
use datafusion::common::ScalarValue;
use functions::casts::constants;
use store::catalog::{Catalog, Column, DEFAULT_SCHEMA, SqlType};
use values::style::Style;
use values::text::TextColumn;

/// The words that are functions without arguments.
const WORDS: [&str; 7] = [
    "CURRENT_TIMESTAMP",
    "CURRENT_DATE",
    "CURRENT_TIME",
    "CURRENT_USER",
    "LOCALTIMESTAMP",
    "LOCALTIME",
    "SESSION_USER",
];

/// A default that is another expression, in which types that their names alone do not find have their schemas.
pub(crate) fn qualified(context: &ViewContext<'_>, expression: &str, schema: &str) -> String {
    let schemas = context.session.search_path();
    let now = SearchPath::new(&schemas, context.session.temporary_schema());
    let own = [schema.to_owned(), DEFAULT_SCHEMA.to_owned()];
    let meant = SearchPath::new(&own, context.session.temporary_schema());
    let schema_of = |name: &str| user_types::hidden_schema(context.catalog, (meant, now), name);
    let text = grammar::with_type_schemas(expression, schema_of);
    text.unwrap_or_else(|| expression.to_owned())
}

/// Whether a default is no default.
pub(crate) fn is_null(expression: &str) -> bool {
    expression.eq_ignore_ascii_case("null")
}

/// A column's default, unless it is NULL, that of its domain, or the next number of an identity column.
pub(crate) fn own(column: &Column) -> Option<&String> {
    let of_domain = match &column.sql_type {
        SqlType::User(user) => user.domain().and_then(|domain| domain.default.as_ref()),
        _ => None,
    };
    let default = column.default.as_ref().filter(|_| column.identity.is_none());
    default.filter(|default| !is_null(default) && Some(*default) != of_domain)
}

/// The text of a column's default that is a constant or a word; `None` for other expressions.
pub(crate) fn shown(
    context: &ViewContext<'_>,
    expression: &str,
    sql_type: &SqlType,
) -> Option<String> {
    let schemas = context.session.search_path();
    let path = SearchPath::new(&schemas, context.session.temporary_schema());
    let catalog = context.catalog;
    if let Some(word) = WORDS.iter().find(|word| word.eq_ignore_ascii_case(expression)) {
        return Some((*word).to_owned());
    }
    if let Some(number) = number(expression) {
        return Some(number);
    }
    let (value, rest) = literal(expression)?;
    match rest {
        "" => Some(typed(catalog, path, &value, plain(sql_type))),
        rest => {
            let name = rest.strip_prefix("::").filter(|name| !name.contains('('))?;
            let of = type_catalog::by_name(name)?;
            Some(format!("{}::{}", quoted(&value), type_catalog::format(of, Some(-1))))
        }
    }
}

/// A text that is one string literal, perhaps with more behind it, as its value and what is behind.
fn literal(expression: &str) -> Option<(String, &str)> {
    let (escapes, body) = match expression.strip_prefix("E'") {
        Some(body) => (true, body),
        None => (false, expression.strip_prefix('\'')?),
    };
    let mut value = String::new();
    let mut chars = body.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' if chars.peek().is_some_and(|(_, next)| *next == '\'') => {
                chars.next();
                value.push('\'');
            }
            '\'' => return Some((value, &body[at + 1..])),
            '\\' if escapes => match chars.next()?.1 {
                escaped @ ('\\' | '\'') => value.push(escaped),
                _ => return None,
            },
            other => value.push(other),
        }
    }
    None
}

/// The type without what is declared of its values: a constant is converted to that later.
fn plain(sql_type: &SqlType) -> &SqlType {
    match sql_type {
        SqlType::User(user) if user.domain().is_some() => plain(sql_type.representation()),
        SqlType::Precise(of, _) => plain(of),
        SqlType::Numeric { .. } => &SqlType::NUMERIC,
        other => other,
    }
}

/// A constant of a type, given as text.
fn typed(catalog: &Catalog, path: SearchPath<'_>, text: &str, sql_type: &SqlType) -> String {
    let value = output(text, sql_type).unwrap_or_else(|| text.to_owned());
    let is_bare = |value: &str| match sql_type {
        SqlType::Integer => !value.starts_with('-'),
        SqlType::Numeric { .. } => {
            value.starts_with(|c: char| c.is_ascii_digit()) && value.contains(['.', 'e'])
        }
        _ => false,
    };
    match sql_type {
        SqlType::Boolean => return if value == "t" { "true" } else { "false" }.to_owned(),
        _ if is_bare(&value) => return value,
        _ => {}
    }
    let (oid, _) = type_catalog::of_sql(sql_type);
    let name = user_types::format(catalog, path, oid);
    let name = name.unwrap_or_else(|| type_catalog::format(oid, Some(-1)));
    format!("{}::{name}", quoted(&value))
}

/// A constant as its type writes it; `None` where it is written as it was given.
fn output(text: &str, sql_type: &SqlType) -> Option<String> {
    use SqlType::{
        BigInt, Boolean, Date, Double, Integer, Numeric, Real, SmallInt, Time, Timestamp,
        TimestampTz, Uuid,
    };
    let is_moment = matches!(sql_type, Date | Time | Timestamp | TimestampTz);
    let is_known = is_moment && text.trim_start().starts_with(|c: char| c.is_ascii_digit())
        || matches!(
            sql_type,
            Boolean | SmallInt | Integer | BigInt | Real | Double | Numeric { .. } | Uuid
        );
    if !is_known {
        return None;
    }
    let given = ScalarValue::Utf8View(Some(text.to_owned()));
    let value = constants::value_of(&given, sql_type, Style::default()).ok()?;
    let array = value.to_array().ok()?;
    let mut written = String::new();
    let column = TextColumn::styled(&array, Style::default()).ok()?;
    column.write(0, &mut written).then_some(written)
}

/// A constant that is a number: a negative one, and one of more than 32 bits, has its type.
fn number(expression: &str) -> Option<String> {
    let digits = expression.strip_prefix('-').unwrap_or(expression);
    let is_number = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || c == '.')
        && digits.matches('.').count() <= 1;
    if !is_number {
        return None;
    }
    let name = match (expression.parse::<i32>(), expression.parse::<i64>()) {
        (Ok(0..), _) => return Some(expression.to_owned()),
        (Ok(_), _) => "integer",
        (_, Ok(_)) => "bigint",
        _ if digits == expression && digits.contains('.') => return Some(expression.to_owned()),
        _ => "numeric",
    };
    Some(format!("'{expression}'::{name}"))
}

fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}
