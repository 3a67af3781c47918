//! The tokens of a source, each with its place.

use values::error::{Error, Result, SqlState};

/// The kind of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or keyword, in lower case.
    Word(String),
    /// A name in quotes.
    Quoted(String),
    /// A string, with its value.
    Text(String),
    /// A number or `$n`.
    Number,
    /// `<<`, `>>`, `:=`, `..` or a single other character.
    Symbol(&'static str),
    /// Any other character.
    Other(char),
}

/// A token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    /// The byte at which it begins.
    pub(crate) start: usize,
    /// The byte behind it.
    pub(crate) end: usize,
}

const SYMBOLS: [&str; 17] =
    ["<<", ">>", ":=", "..", "::", "<=", ">=", "<>", "!=", "=>", ";", "(", ")", ",", ".", "=", ":"];

/// The tokens of a source.
///
/// # Errors
/// 42601: a string, name or comment does not end.
pub(crate) fn tokens(source: &str) -> Result<Vec<Token>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = source[at..].chars().next() {
        let rest = &source[at..];
        if next.is_whitespace() {
            at += next.len_utf8();
        } else if rest.starts_with("--") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            at += comment(rest).ok_or_else(|| unterminated("/* comment", source, at))?;
        } else {
            let (kind, length) =
                token(rest).ok_or_else(|| unterminated("quoted string", source, at))?;
            found.push(Token { kind, start: at, end: at + length });
            at += length;
        }
    }
    Ok(found)
}

fn unterminated(what: &str, source: &str, at: usize) -> Error {
    let position = source[..at].chars().count() + 1;
    Error::new(SqlState::SyntaxError, format!("unterminated {what}")).at(position)
}

/// The length of a comment, which may have others in it.
fn comment(text: &str) -> Option<usize> {
    let (mut depth, mut at) = (0, 0);
    while let Some(offset) = text[at..].find(['/', '*']) {
        at += offset;
        if text[at..].starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if text[at..].starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return Some(at);
            }
        } else {
            at += 1;
        }
    }
    None
}

/// The first token of a text, and its length.
fn token(text: &str) -> Option<(Kind, usize)> {
    let first = text.chars().next()?;
    let escaped = text.starts_with("E'") || text.starts_with("e'");
    if first == '\'' || escaped {
        return string(text, usize::from(escaped), escaped);
    }
    if first == '"' {
        let (name, length) = quoted(&text[1..], '"', false)?;
        return Some((Kind::Quoted(name), length + 1));
    }
    if let Some(tag) = dollar_tag(text) {
        let end = text[tag.len()..].find(tag)? + tag.len();
        return Some((Kind::Text(text[tag.len()..end].to_owned()), end + tag.len()));
    }
    if first.is_ascii_digit() || first == '$' {
        let mut end = first.len_utf8();
        for letter in text[end..].chars() {
            // `$1.a` is a field of a parameter.
            let is_point = letter == '.' && first != '$' && !text[end..].starts_with("..");
            if !(letter.is_ascii_alphanumeric() || is_point || letter == '_') {
                break;
            }
            end += letter.len_utf8();
        }
        return Some((Kind::Number, end));
    }
    if first.is_alphabetic() || first == '_' {
        let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$');
        let end = text.find(|letter| !is_part(letter)).unwrap_or(text.len());
        return Some((Kind::Word(text[..end].to_lowercase()), end));
    }
    match SYMBOLS.iter().find(|symbol| text.starts_with(**symbol)) {
        Some(symbol) => Some((Kind::Symbol(symbol), symbol.len())),
        None => Some((Kind::Other(first), first.len_utf8())),
    }
}

fn string(text: &str, prefix: usize, escaped: bool) -> Option<(Kind, usize)> {
    let (value, length) = quoted(&text[prefix + 1..], '\'', escaped)?;
    Some((Kind::Text(value), prefix + 1 + length))
}

/// The value up to a quote, of which two are one, and the length with the quote.
fn quoted(text: &str, quote: char, escaped: bool) -> Option<(String, usize)> {
    let mut value = String::new();
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        if letter == quote {
            if letters.peek().is_some_and(|(_, next)| *next == quote) {
                letters.next();
            } else {
                return Some((value, at + letter.len_utf8()));
            }
        }
        if letter == '\\' && escaped {
            let (_, next) = letters.next()?;
            value.push(match next {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                other => other,
            });
            continue;
        }
        value.push(letter);
    }
    None
}

/// `$tag$` at the beginning of a text.
fn dollar_tag(text: &str) -> Option<&str> {
    let end = text.strip_prefix('$')?.find('$')? + 1;
    let tag = &text[1..end];
    let is_name = tag.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    (is_name && !tag.starts_with(|letter: char| letter.is_ascii_digit())).then(|| &text[..=end])
}
