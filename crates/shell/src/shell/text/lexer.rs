//! A lexer for SQL that finds statements, words and quotes, for editing, highlighting, completion and splitting.
//!
//! It never fails: an unclosed token ends at the end of the text.

use std::ops::Range;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Blanks and line breaks.
    Blank,
    /// `-- ...` or `/* ... */`
    Comment,
    /// A keyword, name or number.
    Word,
    /// `'...'`, `E'...'` or `$tag$...$tag$`
    Text,
    /// `"..."`
    QuotedName,
    /// `;`
    Semicolon,
    /// Any other character.
    Symbol,
}

/// A token and its range in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) range: Range<usize>,
    /// False if the text ends inside the token.
    pub(crate) closed: bool,
}

impl Token {
    /// Whether the parser sees it: it is neither a blank nor a comment.
    pub(crate) fn is_solid(&self) -> bool {
        !matches!(self.kind, Kind::Blank | Kind::Comment)
    }
}

/// The tokens of a text from a byte on. They cover it completely.
pub(crate) fn tokens(text: &str, from: usize) -> impl Iterator<Item = Token> + '_ {
    let mut at = from;
    std::iter::from_fn(move || {
        let (kind, length, closed) = next(&text[at..])?;
        assert!(length > 0, "a token is not empty");
        let range = at..at + length;
        at = range.end;
        Some(Token { kind, range, closed })
    })
}

/// Kind and length of the first token, and whether it is closed.
fn next(rest: &str) -> Option<(Kind, usize, bool)> {
    let first = rest.chars().next()?;
    let closed = |kind, length| (kind, length, true);
    Some(match first {
        c if c.is_whitespace() => closed(Kind::Blank, span(rest, char::is_whitespace)),
        '-' if rest.starts_with("--") => {
            let length = rest.find('\n');
            (Kind::Comment, length.unwrap_or(rest.len()), length.is_some())
        }
        '/' if rest.starts_with("/*") => block_comment(rest),
        ';' => closed(Kind::Semicolon, 1),
        '\'' => quoted(Kind::Text, rest, 1, '\'', false),
        '"' => quoted(Kind::QuotedName, rest, 1, '"', false),
        'e' | 'E' if rest[1..].starts_with('\'') => quoted(Kind::Text, rest, 2, '\'', true),
        '$' => dollar(rest),
        c if is_word(c) => closed(Kind::Word, span(rest, |c| is_word(c) || c == '$')),
        c => closed(Kind::Symbol, c.len_utf8()),
    })
}

/// Whether a character can be part of a name or number.
pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn span(rest: &str, inside: impl Fn(char) -> bool) -> usize {
    rest.find(|c| !inside(c)).unwrap_or(rest.len())
}

/// Quoted text. A quote inside is doubled, or follows a backslash if `escapes` is set.
fn quoted(kind: Kind, rest: &str, open: usize, quote: char, escapes: bool) -> (Kind, usize, bool) {
    let mut chars = rest[open..].char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c == '\\' && escapes {
            chars.next();
        } else if c == quote && chars.next_if(|(_, next)| *next == quote).is_none() {
            return (kind, open + at + 1, true);
        }
    }
    (kind, rest.len(), false)
}

/// A block comment. Comments nest.
fn block_comment(rest: &str) -> (Kind, usize, bool) {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        let (step, change) = match &rest.as_bytes()[at..] {
            [b'/', b'*', ..] => (2, 1),
            [b'*', b'/', ..] => (2, -1),
            _ => (1, 0),
        };
        at += step;
        depth += change;
        if depth == 0 {
            return (Kind::Comment, at, true);
        }
    }
    (Kind::Comment, rest.len(), false)
}

/// A dollar-quoted text between two `$$` or `$tag$`; any other dollar (as in `$1`) is a symbol.
fn dollar(rest: &str) -> (Kind, usize, bool) {
    let tag = 1 + span(&rest[1..], is_word);
    let digit = rest[1..].starts_with(|c: char| c.is_ascii_digit());
    if tag == rest.len() && !digit {
        // The text may end inside the tag.
        return (Kind::Symbol, rest.len(), true);
    }
    if digit || !rest[tag..].starts_with('$') {
        return (Kind::Symbol, 1, true);
    }
    let (open, body) = rest.split_at(tag + 1);
    match body.find(open) {
        Some(at) => (Kind::Text, open.len() + at + open.len(), true),
        None => (Kind::Text, rest.len(), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<(Kind, &str)> {
        tokens(text, 0).filter(Token::is_solid).map(|t| (t.kind, &text[t.range])).collect()
    }

    #[test]
    fn quotes_of_all_kinds_are_one_token() {
        for text in ["'a;''b'", "E'a\\';'", "$$a;'b$$", "$q$ $$;$ $q$", "$é$;$é$"] {
            assert_eq!(shown(text), [(Kind::Text, text)]);
        }
        assert_eq!(shown("\"a\"\";b\""), [(Kind::QuotedName, "\"a\"\";b\"")]);
    }

    #[test]
    fn comments_are_not_solid_and_nest() {
        assert_eq!(shown("-- a ; 'b\n/* ; /* ; */ ' */"), []);
        let open = tokens("/* /* */", 0).next().expect("a comment");
        assert_eq!((open.kind, open.closed), (Kind::Comment, false));
    }

    #[test]
    fn words_numbers_and_parameters() {
        let expected = [
            (Kind::Word, "a1_é"),
            (Kind::Symbol, "."),
            (Kind::Word, "b$2"),
            (Kind::Symbol, "="),
            (Kind::Symbol, "$"),
            (Kind::Word, "1"),
            (Kind::Semicolon, ";"),
        ];
        assert_eq!(shown("a1_é.b$2 = $1;"), expected);
    }

    #[test]
    fn unclosed_tokens_end_at_the_end() {
        for text in ["'a;", "\"a;", "$$a;", "$tag$ ; $$", "E'a\\'", "'a''"] {
            let last = tokens(text, 0).last().expect("a token");
            assert_eq!((last.range, last.closed), (0..text.len(), false), "{text}");
        }
    }
}
