//! The words of a path.

use values::error::{Error, Result, SqlState};
use values::json::string::quote;

/// A word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// A name without quotes, which may be a keyword.
    Name(String),
    /// The text of a string in quotes.
    Text(String),
    /// `$name`
    Variable(String),
    /// A number, as `numeric` writes it, and whether it is whole.
    Number(String, bool),
    /// Punctuation.
    Mark(&'static str),
}

/// The words, each with the text that it was.
pub(crate) fn tokens(text: &str) -> Result<Vec<(Token, String)>> {
    let mut scanner = Scanner { text, at: 0 };
    let mut tokens = Vec::new();
    while let Some(token) = scanner.next()? {
        tokens.push(token);
    }
    Ok(tokens)
}

/// An error at a word.
pub(crate) fn near(message: &str, word: &str) -> Error {
    let place = match word {
        "" => "at end".to_owned(),
        word => format!("at or near \"{word}\""),
    };
    Error::new(SqlState::SyntaxError, format!("{message} {place} of jsonpath input"))
}

/// Longer marks come before their beginnings.
const MARKS: &[&str] = &[
    "**", "==", "<>", "!=", "<=", ">=", "&&", "||", "?", "%", "$", ".", "[", "]", "{", "}", "(",
    ")", "|", "&", "!", "=", "<", ">", "@", "#", ",", "*", ":", "-", "+", "/",
];

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn next(&mut self) -> Result<Option<(Token, String)>> {
        self.skip_blanks()?;
        let start = self.at;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(None) };
        let after = rest.get(1..).unwrap_or_default();
        let token = match first {
            '"' => Token::Text(self.quoted()?),
            '$' if after.starts_with('"') => {
                self.at += 1;
                Token::Variable(self.quoted()?)
            }
            '$' if after.starts_with(is_of_name) => {
                self.at += 1;
                Token::Variable(self.name()?)
            }
            '0'..='9' => self.number()?,
            '.' if after.starts_with(|c: char| c.is_ascii_digit()) => self.number()?,
            _ => match MARKS.iter().find(|mark| rest.starts_with(**mark)) {
                Some(mark) => {
                    self.at += mark.len();
                    Token::Mark(mark)
                }
                None => Token::Name(self.name()?),
            },
        };
        Ok(Some((token, self.text[start..self.at].to_owned())))
    }

    fn skip_blanks(&mut self) -> Result<()> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{c}']);
            self.at += rest.len() - trimmed.len();
            let Some(comment) = trimmed.strip_prefix("/*") else { return Ok(()) };
            let Some(end) = comment.find("*/") else {
                return Err(near("unexpected end of comment", ""));
            };
            self.at += end + 4;
        }
    }

    fn name(&mut self) -> Result<String> {
        let mut name = String::new();
        while let Some(next) = self.rest().chars().next().filter(|next| is_of_name(*next)) {
            self.at += next.len_utf8();
            match next {
                '\\' => name.push(self.escaped()?),
                other => name.push(other),
            }
        }
        Ok(name)
    }

    /// The text of a string whose quote comes next.
    fn quoted(&mut self) -> Result<String> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let Some(next) = self.rest().chars().next() else {
                return Err(near("unexpected end of quoted string", ""));
            };
            self.at += next.len_utf8();
            match next {
                '"' => return Ok(text),
                '\\' => text.push(self.escaped()?),
                other => text.push(other),
            }
        }
    }

    /// The character of an escape whose backslash was read.
    fn escaped(&mut self) -> Result<char> {
        let Some(next) = self.rest().chars().next() else {
            return Err(near("unexpected end after backslash", ""));
        };
        self.at += next.len_utf8();
        Ok(match next {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            'x' => self.by_code(2)?,
            'u' if self.rest().starts_with('{') => {
                self.at += 1;
                let digits = self.rest().find('}').filter(|digits| (1..=6).contains(digits));
                let code = self
                    .by_code(digits.ok_or_else(|| near("invalid Unicode escape sequence", ""))?)?;
                self.at += 1;
                code
            }
            'u' => self.utf16()?,
            other => other,
        })
    }

    fn code(&mut self, digits: usize) -> Result<u32> {
        let hex =
            self.rest().get(..digits).filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
        let code = hex.and_then(|hex| u32::from_str_radix(hex, 16).ok());
        self.at += digits;
        code.ok_or_else(|| near("invalid hexadecimal character sequence", ""))
    }

    fn by_code(&mut self, digits: usize) -> Result<char> {
        let code = self.code(digits)?;
        char::from_u32(code).filter(|c| *c != '\0').ok_or_else(not_a_character)
    }

    fn utf16(&mut self) -> Result<char> {
        let first = self.code(4)?;
        if !(0xD800..0xDC00).contains(&first) {
            return char::from_u32(first).filter(|c| *c != '\0').ok_or_else(not_a_character);
        }
        if !self.rest().starts_with("\\u") {
            return Err(not_a_character());
        }
        self.at += 2;
        let units = [first as u16, self.code(4)? as u16];
        let mut decoded = char::decode_utf16(units);
        decoded.next().and_then(std::result::Result::ok).ok_or_else(not_a_character)
    }

    fn number(&mut self) -> Result<Token> {
        let start = self.at;
        let whole = self.digits();
        let mut is_whole = true;
        if self.rest().starts_with('.') && !self.rest().starts_with(".*") {
            let after = self.rest().get(1..).unwrap_or_default();
            // A key or method may follow a whole number in parentheses only.
            if after.is_empty()
                || !after.starts_with(is_of_name)
                || after.starts_with(|c: char| c.is_ascii_digit())
            {
                self.at += 1;
                self.digits();
                is_whole = false;
            }
        }
        let rest = self.rest();
        if rest.starts_with(['e', 'E']) {
            let sign = usize::from(rest.get(1..2).is_some_and(|sign| matches!(sign, "+" | "-")));
            if rest
                .get(1 + sign..)
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
            {
                self.at += 1 + sign;
                self.digits();
                is_whole = false;
            }
        }
        let junk = self.rest().starts_with(is_of_name);
        let has_zero = whole > 1 && self.text[start..].starts_with('0');
        if junk || has_zero {
            let first = self.rest().chars().next().map_or(0, char::len_utf8);
            let end = if has_zero { start + 2 } else { self.at + first };
            return Err(near("trailing junk after numeric literal", &self.text[start..end]));
        }
        let text = &self.text[start..self.at];
        Ok(Token::Number(crate::numbers::written(text)?, is_whole))
    }

    fn digits(&mut self) -> usize {
        let rest = self.rest();
        let count = rest.bytes().take_while(u8::is_ascii_digit).count();
        self.at += count;
        count
    }
}

fn is_of_name(c: char) -> bool {
    !matches!(
        c,
        '?' | '%'
            | '$'
            | '.'
            | '['
            | ']'
            | '{'
            | '}'
            | '('
            | ')'
            | '|'
            | '&'
            | '!'
            | '='
            | '<'
            | '>'
            | '@'
            | '#'
            | ','
            | '*'
            | ':'
            | '-'
            | '+'
            | '/'
            | '"'
            | ' '
            | '\t'
            | '\n'
            | '\r'
            | '\u{c}'
    )
}

fn not_a_character() -> Error {
    Error::new(SqlState::UntranslatableCharacter, "unsupported Unicode escape sequence")
}

/// A text as a JSON string.
pub(crate) fn string(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quote(text, &mut quoted);
    quoted
}
