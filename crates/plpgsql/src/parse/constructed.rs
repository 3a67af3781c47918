//! Rows that expressions make of their fields: `(1, 'x')`, `ROW(a, b)`.

use crate::tokens::{Kind, Token, tokens};

/// What a query in parentheses begins with.
const OF_QUERY: [&str; 4] = ["select", "with", "values", "table"];

/// The fields of a row that an expression is, as they are written, and for each whether it is a constant without a type.
/// `None` of other expressions.
pub(crate) fn constructed(text: &str) -> Option<(&str, Vec<bool>)> {
    let all = tokens(text).ok()?;
    let is_word = |at: usize, words: &[&str]| match all.get(at).map(|token| &token.kind) {
        Some(Kind::Word(word)) => words.contains(&word.as_str()),
        _ => false,
    };
    let open = usize::from(is_word(0, &["row"]));
    if all.get(open)?.kind != Kind::Symbol("(") || is_word(open + 1, &OF_QUERY) {
        return None;
    }
    let (mut depth, mut fields, mut start) = (0_usize, Vec::new(), open + 1);
    for (at, token) in all.iter().enumerate().skip(open) {
        match token.kind {
            Kind::Symbol("(") | Kind::Other('[') => depth += 1,
            Kind::Symbol(")") | Kind::Other(']') => depth = depth.checked_sub(1)?,
            Kind::Symbol(",") if depth == 1 => {
                fields.push(is_unknown(&all[start..at]));
                start = at + 1;
            }
            _ => {}
        }
        if depth == 0 && at + 1 < all.len() {
            return None;
        }
    }
    let last = all.len() - 1;
    if depth > 0 || last < start {
        return None;
    }
    fields.push(is_unknown(&all[start..last]));
    Some((&text[all[open].end..all[last].start], fields))
}

/// Whether a field is a string or NULL, which has no type of its own.
fn is_unknown(field: &[Token]) -> bool {
    match field {
        [only] => match &only.kind {
            Kind::Text(_) => true,
            Kind::Word(word) => word == "null",
            _ => false,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::constructed;

    #[test]
    fn rows_are_known_by_their_fields() {
        let fields =
            |text: &str| constructed(text).map(|(fields, unknown)| (fields.to_owned(), unknown));
        let row = |text: &str, unknown: &[bool]| Some((text.to_owned(), unknown.to_vec()));
        assert_eq!(fields("(1, 'x')"), row("1, 'x'", &[false, true]));
        assert_eq!(fields("ROW(f(a, b), NULL)"), row("f(a, b), NULL", &[false, true]));
        assert_eq!(fields("(ARRAY[1, 2], 'x'::text)"), row("ARRAY[1, 2], 'x'::text", &[false; 2]));
        for other in ["(1, 'x')::pair", "(SELECT 1, 2)", "a", "(1) + (2)", "((1, 2)", "f(1, 2)", ""]
        {
            assert_eq!(fields(other), None, "{other}");
        }
    }
}
