//! Patterns of SIMILAR TO, as regular expressions.

use values::error::{Error, Result, SqlState};

/// The regular expression of a pattern. Without an escape character a backslash is one; an empty text is none.
///
/// # Errors
/// 22025: the escape is no single character.
pub fn to_regular(pattern: &str, escape: Option<&str>) -> Result<String> {
    let escape = match escape {
        None => Some('\\'),
        Some(text) => {
            let mut characters = text.chars();
            let first = characters.next();
            if characters.next().is_some() {
                let hint = "Escape string must be empty or one character.";
                let error = Error::new(SqlState::InvalidEscapeSequence, "invalid escape string");
                return Err(error.with_hint(hint));
            }
            first
        }
    };
    let mut out = String::from("^(?:");
    let mut is_escaped = false;
    let mut in_brackets = false;
    let mut separators = 0;
    for next in pattern.chars() {
        if is_escaped {
            is_escaped = false;
            if next == '"' && !in_brackets {
                separators += 1;
                out.push_str(separator(separators)?);
            } else {
                // A backslash is escaped, too: the escape stands for the character alone.
                out.push('\\');
                out.push(next);
            }
        } else if Some(next) == escape {
            is_escaped = true;
        } else if in_brackets {
            if next == '\\' {
                out.push('\\');
            }
            out.push(next);
            in_brackets = next != ']';
        } else {
            match next {
                '[' => {
                    out.push(next);
                    in_brackets = true;
                }
                '%' => out.push_str(".*"),
                '_' => out.push('.'),
                '(' => out.push_str("(?:"),
                '\\' | '.' | '^' | '$' => {
                    out.push('\\');
                    out.push(next);
                }
                other => out.push(other),
            }
        }
    }
    out.push_str(")$");
    Ok(out)
}

/// Escaped double quotes divide a pattern in what precedes, the wanted part, and what follows.
fn separator(number: usize) -> Result<&'static str> {
    match number {
        1 => Ok("){1,1}?("),
        2 => Ok("){1,1}(?:"),
        _ => {
            let message = "SQL regular expression may not contain more than two escape-double-quote separators";
            Err(Error::new(SqlState::InvalidUseOfEscapeCharacter, message))
        }
    }
}
