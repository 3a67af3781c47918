//! Validation of JSON, with PostgreSQL's grammar, limits and error messages.
//!
//! Open brackets are in a list, not on the stack, so that deep nesting cannot overflow it.

use super::raw::is_blank;
use super::string::{FOUR_DIGITS, syntax};
use crate::error::{Error, Result, SqlState};

/// The maximum nesting depth. The other functions on JSON recurse into values.
pub(crate) const DEPTH_MAX: usize = 1000;

/// Validates a text.
///
/// # Errors
/// 22P02: the text is no JSON; detail and context name the place. 54001: it nests too deeply.
pub fn check(text: &str) -> Result<()> {
    walk(text).map_err(|error| error.at_literal(text))
}

fn walk(text: &str) -> Result<()> {
    let mut lexer = Lexer { text, start: 0, end: 0 };
    let mut open: Vec<Token> = Vec::new();
    let mut token = lexer.next()?;
    loop {
        // At the start of a value.
        match token {
            Token::BeginArray | Token::BeginObject => {
                if open.len() == DEPTH_MAX {
                    return Err(too_deep());
                }
                open.push(token);
                let is_object = token == Token::BeginObject;
                token = lexer.next()?;
                match (is_object, token) {
                    (false, Token::EndArray) | (true, Token::EndObject) => {}
                    (false, _) => continue,
                    (true, Token::Text) => {
                        token = lexer.colon()?;
                        continue;
                    }
                    (true, other) => return Err(lexer.expected("string or \"}\"", other)),
                }
            }
            Token::Scalar | Token::Text => {}
            other => return Err(lexer.expected("JSON value", other)),
        }
        // After a value; the end of its array or object may follow.
        token = loop {
            let after = match token {
                Token::EndArray | Token::EndObject => {
                    open.pop();
                    lexer.next()?
                }
                _ => lexer.next()?,
            };
            match (open.last(), after) {
                (None, Token::End) => return Ok(()),
                (None, other) => return Err(lexer.expected("end of input", other)),
                (Some(Token::BeginArray), Token::Comma) => break lexer.next()?,
                (Some(Token::BeginArray), Token::EndArray) => token = after,
                (Some(Token::BeginArray), other) => {
                    return Err(lexer.expected("\",\" or \"]\"", other));
                }
                (Some(_), Token::Comma) => match lexer.next()? {
                    Token::Text => break lexer.colon()?,
                    other => return Err(lexer.expected("string", other)),
                },
                (Some(_), Token::EndObject) => token = after,
                (Some(_), other) => return Err(lexer.expected("\",\" or \"}\"", other)),
            }
        };
    }
}

fn too_deep() -> Error {
    Error::new(SqlState::StatementTooComplex, "stack depth limit exceeded")
        .with_hint(format!("JSON may nest {DEPTH_MAX} levels deep."))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    BeginArray,
    EndArray,
    BeginObject,
    EndObject,
    Comma,
    Colon,
    Text,
    /// A number, `true`, `false` or `null`.
    Scalar,
    End,
}

/// Splits a text into tokens; `start..end` is the current token.
struct Lexer<'a> {
    text: &'a str,
    start: usize,
    end: usize,
}

impl Lexer<'_> {
    fn next(&mut self) -> Result<Token> {
        let rest = &self.text[self.end..];
        let rest = rest.trim_start_matches(is_blank);
        self.start = self.text.len() - rest.len();
        let Some(first) = rest.chars().next() else {
            self.end = self.start;
            return Ok(Token::End);
        };
        let (token, length) = match first {
            '[' => (Token::BeginArray, 1),
            ']' => (Token::EndArray, 1),
            '{' => (Token::BeginObject, 1),
            '}' => (Token::EndObject, 1),
            ',' => (Token::Comma, 1),
            ':' => (Token::Colon, 1),
            '"' => (Token::Text, self.length(length_of_string(rest))?),
            _ => (Token::Scalar, self.length(length_of_scalar(rest))?),
        };
        self.end = self.start + length;
        Ok(token)
    }

    /// Skips a colon and returns the token after it.
    fn colon(&mut self) -> Result<Token> {
        match self.next()? {
            Token::Colon => self.next(),
            other => Err(self.expected("\":\"", other)),
        }
    }

    fn expected(&self, what: &str, found: Token) -> Error {
        let error = match found {
            Token::End => syntax("The input string ended unexpectedly."),
            _ => {
                let found = &self.text[self.start..self.end];
                syntax(format!("Expected {what}, but found \"{found}\"."))
            }
        };
        error.with_context(context(self.text, self.end))
    }

    /// The length of the token at `start`; adds the context to an error.
    fn length(&self, token: Result<usize, InvalidToken>) -> Result<usize> {
        token.map_err(|InvalidToken { error, end }| {
            error.with_context(context(self.text, self.start + end))
        })
    }
}

/// The maximum length of the part of a line that an error shows.
const CONTEXT_BYTES: usize = 50;

/// The context of an error: the line up to the place of the error.
fn context(text: &str, end: usize) -> String {
    let before = &text[..end];
    let line = before.matches('\n').count() + 1;
    let shown = before.rsplit('\n').next().unwrap_or_default();
    let mut from = shown.len().saturating_sub(CONTEXT_BYTES - 1);
    while !shown.is_char_boundary(from) {
        from += 1;
    }
    let (dots, shown) = if from > 3 { ("...", &shown[from..]) } else { ("", shown) };
    let goes_on = text[end..].chars().next().is_some_and(|c| !matches!(c, '\n' | '\r'));
    format!("JSON data, line {line}: {dots}{shown}{}", if goes_on { "..." } else { "" })
}

/// The error of a token, and how far the token was read.
struct InvalidToken {
    error: Error,
    end: usize,
}

fn invalid_token(token: &str) -> InvalidToken {
    InvalidToken { error: syntax(format!("Token \"{token}\" is invalid.")), end: token.len() }
}

fn length_of_string(text: &str) -> Result<usize, InvalidToken> {
    let mut characters = text.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return Ok(at + 1),
            '\\' => match characters.next() {
                None => return Err(invalid_token(text)),
                Some((_, 'u')) => {
                    let rest = text[at + 2..].char_indices().take(4);
                    let wrong = rest.clone().find(|(_, c)| !c.is_ascii_hexdigit());
                    if wrong.is_some() || rest.count() < 4 {
                        let end = wrong.map_or(text.len(), |(i, c)| at + 2 + i + c.len_utf8());
                        return Err(InvalidToken { error: syntax(FOUR_DIGITS), end });
                    }
                }
                Some((_, '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't')) => {}
                Some((at, other)) => {
                    let error = syntax(format!("Escape sequence \"\\{other}\" is invalid."));
                    return Err(InvalidToken { error, end: at + other.len_utf8() });
                }
            },
            c if c < ' ' => {
                let code = u32::from(c);
                let error = syntax(format!("Character with value 0x{code:02x} must be escaped."));
                return Err(InvalidToken { error, end: at });
            }
            _ => {}
        }
    }
    Err(invalid_token(text))
}

fn length_of_scalar(text: &str) -> Result<usize, InvalidToken> {
    if text.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
        return length_of_number(text);
    }
    let length = text.find(|c| !is_word(c)).unwrap_or(text.len());
    match &text[..length] {
        "true" | "false" | "null" => Ok(length),
        "" => Err(invalid_token(&text[..text.chars().next().map_or(0, char::len_utf8)])),
        word => Err(invalid_token(word)),
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii()
}

fn length_of_number(text: &str) -> Result<usize, InvalidToken> {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut end = usize::from(bytes[0] == b'-');
    let whole = digits(end);
    let mut good = whole > 0 && (whole == 1 || bytes[end] != b'0');
    end += whole;
    if bytes.get(end) == Some(&b'.') {
        let fraction = digits(end + 1);
        good &= fraction > 0;
        end += 1 + fraction;
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        good &= exponent > 0;
        end += 1 + sign + exponent;
    }
    let word = text[end..].find(|c| !is_word(c)).unwrap_or(text.len() - end);
    if good && word == 0 { Ok(end) } else { Err(invalid_token(&text[..end + word])) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detail(text: &str) -> String {
        let error = check(text).expect_err(text);
        assert_eq!(error.message(), "invalid input syntax for type json");
        error.detail().unwrap_or_default().to_owned()
    }

    #[test]
    fn json_is_accepted() {
        for text in [
            "1",
            " null ",
            "\"\\u00e9\\n\"",
            "[]",
            "{}",
            "[[],{},[1,2,{\"a\":[]}]]",
            "{\"a\":1,\"a\":{\"b\":[true,false]}}",
            "-0.5e-10",
            "\"\u{7f}ä\"",
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn errors_have_postgresqls_details() {
        let ended = "The input string ended unexpectedly.";
        for (text, expected) in [
            ("", ended),
            ("  ", ended),
            ("{\"a\"", ended),
            ("[1", ended),
            ("[", ended),
            ("{a}", "Token \"a\" is invalid."),
            ("{\"a\":}", "Expected JSON value, but found \"}\"."),
            ("{\"a\":1,}", "Expected string, but found \"}\"."),
            ("[1,]", "Expected JSON value, but found \"]\"."),
            ("[1 2]", "Expected \",\" or \"]\", but found \"2\"."),
            ("{\"a\" 1}", "Expected \":\", but found \"1\"."),
            ("{\"a\":1]", "Expected \",\" or \"}\", but found \"]\"."),
            ("1 2", "Expected end of input, but found \"2\"."),
            ("{\"a\":1}}", "Expected end of input, but found \"}\"."),
            ("{1:2}", "Expected string or \"}\", but found \"1\"."),
            ("[}", "Expected JSON value, but found \"}\"."),
            ("01", "Token \"01\" is invalid."),
            ("1.", "Token \"1.\" is invalid."),
            ("-", "Token \"-\" is invalid."),
            ("1abc", "Token \"1abc\" is invalid."),
            ("truef", "Token \"truef\" is invalid."),
            ("\"abc", "Token \"\"abc\" is invalid."),
            ("\"a\nb\"", "Character with value 0x0a must be escaped."),
            ("\"\\x\"", "Escape sequence \"\\x\" is invalid."),
            ("\"\\u12\"", "\"\\u\" must be followed by four hexadecimal digits."),
            ("'a'", "Token \"'\" is invalid."),
        ] {
            assert_eq!(detail(text), expected, "{text}");
        }
    }

    #[test]
    fn the_context_is_the_line_up_to_the_error() {
        let context = |text: &str| check(text).expect_err(text).context().map(str::to_owned);
        assert_eq!(context("{a}").as_deref(), Some("JSON data, line 1: {a..."));
        assert_eq!(context("[1,\n2,]\n").as_deref(), Some("JSON data, line 2: 2,]"));
        assert_eq!(context("").as_deref(), Some("JSON data, line 1: "));
        assert_eq!(context("\"a\\x\"").as_deref(), Some("JSON data, line 1: \"a\\x..."));
        let long = format!("[\"{}\", x]", "ä".repeat(60));
        let shown = context(&long).expect("a context");
        assert!(
            shown.starts_with("JSON data, line 1: ...ä") && shown.ends_with("\", x..."),
            "{shown}"
        );
    }

    #[test]
    fn nesting_has_a_limit() {
        let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(check(&nested(DEPTH_MAX)), Ok(()));
        let error = check(&nested(DEPTH_MAX + 1)).expect_err("too deep");
        assert_eq!(error.state(), SqlState::StatementTooComplex);
        assert!(check(&"{\"a\":[".repeat(1_000_000)).is_err());
    }
}
