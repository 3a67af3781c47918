//! Names of objects in texts, such as the arguments of `nextval` and of casts to `regclass`.

use commands::RelationName;
use values::error::{Error, Result, SqlState};

/// Reads a text that consists of the name of an object: identifiers with points between them, folded to lower case unless
/// they are quoted. A leading database name is ignored.
///
/// # Errors
/// 42602; 42601 if the name has more than three parts.
pub fn object_name(text: &str) -> Result<RelationName> {
    let invalid = || Error::new(SqlState::InvalidName, "invalid name syntax");
    let mut parts = Vec::new();
    let mut rest = text.trim_start();
    loop {
        let (part, behind) = identifier(rest).ok_or_else(invalid)?;
        parts.push(part);
        rest = behind.trim_start();
        if rest.is_empty() {
            break;
        }
        rest = rest.strip_prefix('.').ok_or_else(invalid)?.trim_start();
    }
    let too_many = || {
        let message = format!("improper relation name (too many dotted names): {text}");
        Error::new(SqlState::SyntaxError, message)
    };
    match (parts.pop(), parts.pop(), parts.len()) {
        (Some(name), schema, 0 | 1) => Ok(RelationName { schema, name }),
        _ => Err(too_many()),
    }
}

/// The identifier that a text begins with, and the text behind it.
fn identifier(text: &str) -> Option<(String, &str)> {
    if let Some(quoted) = text.strip_prefix('"') {
        let mut name = String::new();
        let mut rest = quoted;
        loop {
            let (part, behind) = rest.split_once('"')?;
            name.push_str(part);
            match behind.strip_prefix('"') {
                Some(more) => {
                    name.push('"');
                    rest = more;
                }
                None => return Some((name, behind)),
            }
        }
    }
    let end = text.find(|c: char| c == '.' || c.is_ascii_whitespace()).unwrap_or(text.len());
    (end > 0).then(|| (text[..end].to_ascii_lowercase(), &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_folded_unless_they_are_quoted() {
        for (text, schema, name) in [
            ("T", None, "t"),
            ("\"T\"", None, "T"),
            (" s . \"a \"\"b\"\".c\" ", Some("s"), "a \"b\".c"),
            ("Größe", None, "größe"),
            ("db.S.t1$", Some("s"), "t1$"),
            ("1a-B", None, "1a-b"),
        ] {
            let found = object_name(text).expect(text);
            assert_eq!((found.schema.as_deref(), found.name.as_str()), (schema, name));
        }
        for text in ["", " ", "a.", ".a", "a b", "\"a", "\"a\"b"] {
            let state = object_name(text).expect_err(text).state();
            assert_eq!(state, SqlState::InvalidName, "{text}");
        }
        let state = object_name("a.b.c.d").expect_err("four parts").state();
        assert_eq!(state, SqlState::SyntaxError);
    }
}
