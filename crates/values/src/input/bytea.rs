//! `bytea` from text: `\x00ff`, or characters with the escapes `\\` and `\ooo`.

use crate::error::{Error, Result, SqlState};

/// Parses bytes.
///
/// # Errors
/// 22023: invalid hexadecimal digits. 22P02: invalid escape.
pub fn parse(text: &str) -> Result<Vec<u8>> {
    match text.strip_prefix("\\x") {
        Some(digits) => hexadecimal(digits),
        None => escaped(text.as_bytes()),
    }
}

fn hexadecimal(digits: &str) -> Result<Vec<u8>> {
    let invalid = |message: String| Error::new(SqlState::InvalidParameterValue, message);
    let mut bytes = Vec::with_capacity(digits.len() / 2);
    let mut high = None;
    for c in digits.chars() {
        // Blanks divide bytes.
        if high.is_none() && is_blank(c) {
            continue;
        }
        let digit = c.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let digit = digit.ok_or_else(|| invalid(format!("invalid hexadecimal digit: \"{c}\"")))?;
        match high.take() {
            None => high = Some(digit << 4),
            Some(high) => bytes.push(high | digit),
        }
    }
    match high {
        None => Ok(bytes),
        Some(_) => Err(invalid("invalid hexadecimal data: odd number of digits".to_owned())),
    }
}

/// Blanks between bytes are ignored.
fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\n' | '\t' | '\r')
}

fn escaped(mut rest: &[u8]) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(rest.len());
    loop {
        let octal = |digit: u8| matches!(digit, b'0'..=b'7');
        rest = match rest {
            [] => return Ok(bytes),
            [b'\\', b'\\', rest @ ..] => {
                bytes.push(b'\\');
                rest
            }
            [b'\\', a @ b'0'..=b'3', b, c, rest @ ..] if octal(*b) && octal(*c) => {
                bytes.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                rest
            }
            [b'\\', ..] => {
                let message = "invalid input syntax for type bytea";
                return Err(Error::new(SqlState::InvalidTextRepresentation, message));
            }
            [byte, rest @ ..] => {
                bytes.push(*byte);
                rest
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read() {
        assert_eq!(parse("\\x00 fF").ok(), Some(vec![0, 255]));
        assert_eq!(parse("a\\000\\\\\\377").ok(), Some(vec![b'a', 0, b'\\', 255]));
        assert_eq!(parse("ä").ok(), Some("ä".as_bytes().to_vec()));
        let state = |text| parse(text).err().map(|error| error.state().code());
        assert_eq!(state("\\x0"), Some("22023"));
        assert_eq!(state("\\xzz"), Some("22023"));
        assert_eq!(state("\\9"), Some("22P02"));
        assert_eq!(state("\\400"), Some("22P02"));
    }
}
