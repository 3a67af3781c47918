//! What is ours and not in PostgreSQL's grammar: file names in FROM (`FROM 'data.parquet'`), and `(FORMAT json)` of COPY.
//!
//! Where the parser refuses a string that follows FROM, JOIN or a comma, the string becomes a quoted name of the same
//! length, and locations in the tree stay those of the statement.

use crate::syntax_error::SyntaxError;

/// The script in which a `json` that follows FORMAT is quoted, as in the options of COPY. The parser takes both words for the
/// beginning of `FORMAT JSON ENCODING`. `None` if the error is another one.
pub(crate) fn as_format(script: &str, error: &SyntaxError) -> Option<String> {
    let position = error.position?.checked_sub(1)?;
    let start = script.char_indices().nth(position)?.0;
    let (before, rest) = script.split_at(start);
    let (word, behind) = rest.split_at_checked(FORMAT.len())?;
    let gap = behind.len() - behind.trim_start().len();
    let (value, behind) = behind[gap..].split_at_checked(JSON.len())?;
    if !word.eq_ignore_ascii_case(FORMAT) || !value.eq_ignore_ascii_case(JSON) || gap == 0 {
        return None;
    }
    let gap = " ".repeat(gap - 1);
    Some(format!("{before}{word}{gap}\"{JSON}\"{behind}"))
}

const FORMAT: &str = "format";
const JSON: &str = "json";

/// The script in which the string that the parser refuses is a quoted name. `None` if the error is another one.
pub(crate) fn as_name(script: &str, error: &SyntaxError) -> Option<String> {
    let position = error.position?.checked_sub(1)?;
    let start = script.char_indices().nth(position)?.0;
    let (before, rest) = script.split_at(start);
    let inner = rest.strip_prefix('\'')?;
    let length = inner.find('\'')?;
    let name = &inner[..length];
    // A quote within the string is written twice.
    if name.is_empty() || name.contains('"') || inner[length + 1..].starts_with('\'') {
        return None;
    }
    let before_it = before.trim_end();
    let follows = |word: &str| {
        let at = before_it.len().checked_sub(word.len());
        let (head, tail) = match at.filter(|at| before_it.is_char_boundary(*at)) {
            Some(at) => before_it.split_at(at),
            None => return false,
        };
        tail.eq_ignore_ascii_case(word)
            && !head.ends_with(|last: char| last.is_alphanumeric() || last == '_')
    };
    if !(before_it.ends_with(',') || follows("from") || follows("join")) {
        return None;
    }
    Some(format!("{before}\"{name}\"{}", &inner[length + 1..]))
}
