//! `LIKE 'pg/_%' ESCAPE '/'`, as in SQLAlchemy. DataFusion supports only the backslash.

use super::build::{call, literal_text, take, text};
use datafusion::sql::sqlparser::ast::{Expr, Value, ValueWithSpan};
use functions::text::like_escapes::with_backslashes;

pub(super) fn rewrite(expr: &mut Expr) {
    let (Expr::Like { pattern, escape_char, .. } | Expr::ILike { pattern, escape_char, .. }) = expr
    else {
        return;
    };
    let Some(escape) = escape_char.as_ref().and_then(character) else { return };
    **pattern = match literal_text(pattern) {
        Some(written) => text(with_backslashes(written, escape)),
        None => call("like_escape", vec![take(pattern), text(escape)]),
    };
    *escape_char = None;
}

fn character(value: &ValueWithSpan) -> Option<char> {
    let Value::SingleQuotedString(text) = &value.value else { return None };
    let mut characters = text.chars();
    characters.next().filter(|c| *c != '\\' && characters.next().is_none())
}
