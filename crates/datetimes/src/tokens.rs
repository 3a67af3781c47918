//! The tokens of dates, times and intervals, as PostgreSQL cuts them out of a text.

use crate::words;

/// The most tokens of a text.
const TOKENS_MAX: usize = 25;
/// The most bytes of all tokens, with one more for each.
const BYTES_MAX: usize = 153;

/// What a token looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `2024-02-29`, `jan-08-1999`, and names of zones such as `america/new_york`.
    Date,
    /// `10:11:12.5`
    Time,
    /// `5`, `1.5`
    Number,
    /// Letters.
    Word,
    /// A sign before digits: `+02:00`, `-1.5`.
    Signed,
    /// A sign before letters: `-infinity`.
    SignedWord,
}

/// A token; its letters are small.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) text: String,
}

/// Cuts a text into tokens; `None` if it has something that begins none, or too much.
pub(crate) fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut rest = Rest(text.as_bytes());
    let mut tokens: Vec<Token> = Vec::new();
    let mut bytes = 0;
    while let Some(first) = rest.first() {
        let mut token = Vec::new();
        let kind = match first {
            b if is_space(b) => {
                rest.skip();
                continue;
            }
            b'0'..=b'9' => number(&mut rest, &mut token),
            b'.' => {
                rest.take(&mut token);
                rest.take_while(&mut token, |b| b.is_ascii_digit());
                Kind::Number
            }
            b if b.is_ascii_alphabetic() => word(&mut rest, &mut token),
            b'+' | b'-' => {
                rest.take(&mut token);
                while rest.first().is_some_and(is_space) {
                    rest.skip();
                }
                match rest.first()? {
                    b'0'..=b'9' => {
                        rest.take_while(&mut token, |b| {
                            b.is_ascii_digit() || matches!(b, b':' | b'.' | b'-')
                        });
                        Kind::Signed
                    }
                    b if b.is_ascii_alphabetic() => {
                        rest.take_while(&mut token, |b| b.is_ascii_alphabetic());
                        Kind::SignedWord
                    }
                    _ => return None,
                }
            }
            b if b.is_ascii_punctuation() => {
                rest.skip();
                continue;
            }
            _ => return None,
        };
        bytes += token.len() + 1;
        if tokens.len() == TOKENS_MAX || bytes > BYTES_MAX {
            return None;
        }
        tokens.push(Token { kind, text: String::from_utf8(token).ok()? });
    }
    Some(tokens)
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

fn number(rest: &mut Rest<'_>, token: &mut Vec<u8>) -> Kind {
    rest.take_while(token, |b| b.is_ascii_digit());
    match rest.first() {
        Some(b':') => {
            rest.take_while(token, |b| b.is_ascii_digit() || matches!(b, b':' | b'.'));
            Kind::Time
        }
        Some(delimiter @ (b'-' | b'/' | b'.')) => {
            rest.take(token);
            if !rest.first().is_some_and(|b| b.is_ascii_digit()) {
                rest.take_while(token, |b| b.is_ascii_alphanumeric() || b == delimiter);
                return Kind::Date;
            }
            rest.take_while(token, |b| b.is_ascii_digit());
            // A date of three fields has the same delimiter twice.
            if rest.first() == Some(delimiter) {
                rest.take_while(token, |b| b.is_ascii_digit() || b == delimiter);
                return Kind::Date;
            }
            if delimiter == b'.' { Kind::Number } else { Kind::Date }
        }
        _ => Kind::Number,
    }
}

/// Letters, or what begins with letters and is a date or the name of a zone.
fn word(rest: &mut Rest<'_>, token: &mut Vec<u8>) -> Kind {
    rest.take_while(token, |b| b.is_ascii_alphabetic());
    let is_date = match rest.first() {
        Some(b'-' | b'/' | b'.') => true,
        Some(b) if b == b'+' || b.is_ascii_digit() => {
            std::str::from_utf8(token).is_ok_and(|word| words::of_date(word).is_none())
        }
        _ => false,
    };
    if !is_date {
        return Kind::Word;
    }
    rest.take_while(token, |b| {
        b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'/' | b'_' | b'.' | b':')
    });
    Kind::Date
}

/// What is left of a text.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn first(&self) -> Option<u8> {
        self.0.first().copied()
    }

    fn skip(&mut self) {
        self.0 = self.0.get(1..).unwrap_or_default();
    }

    fn take(&mut self, token: &mut Vec<u8>) {
        token.extend(self.first().map(|byte| byte.to_ascii_lowercase()));
        self.skip();
    }

    fn take_while(&mut self, token: &mut Vec<u8>, is_part: impl Fn(u8) -> bool) {
        while self.first().is_some_and(&is_part) {
            self.take(token);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<(Kind, String)> {
        let tokens = tokens(text).expect("tokens");
        tokens.into_iter().map(|token| (token.kind, token.text)).collect()
    }

    #[test]
    fn tokens_end_where_their_kind_ends() {
        let of = |kind, text: &str| (kind, text.to_owned());
        assert_eq!(
            cut("1999-01-08 04:05:06.7PST"),
            [of(Kind::Date, "1999-01-08"), of(Kind::Time, "04:05:06.7"), of(Kind::Word, "pst")]
        );
        assert_eq!(
            cut("20240229T101112.5-08"),
            [
                of(Kind::Number, "20240229"),
                of(Kind::Word, "t"),
                of(Kind::Number, "101112.5"),
                of(Kind::Signed, "-08")
            ]
        );
        assert_eq!(cut("Jan-08-1999"), [of(Kind::Date, "jan-08-1999")]);
        assert_eq!(cut("America/New_York"), [of(Kind::Date, "america/new_york")]);
        assert_eq!(cut("J2451187"), [of(Kind::Word, "j"), of(Kind::Number, "2451187")]);
        assert_eq!(cut("@ - 1 day"), [of(Kind::Signed, "-1"), of(Kind::Word, "day")]);
        assert_eq!(cut("-infinity"), [of(Kind::SignedWord, "-infinity")]);
        assert_eq!(tokens("1 -"), None);
        assert_eq!(tokens("é"), None);
        assert_eq!(tokens(&"1 ".repeat(26)), None);
    }
}
