//! `format('%s of %I is %-10L', ...)`: a pattern with places for values.
//!
//! A place is `%`, a position `2$`, a `-` for the left side, a width that may be an argument (`*`, `*2$`), and `s`, `I` or
//! `L`.

use crate::pg_catalog::quote_ident;
use functions::row_function::Row;
use std::iter::Peekable;
use std::str::Chars;
use values::cells::Cell;
use values::{Error, Result, SqlState};

/// Bytes of a value at most.
const BYTES_MAX: usize = (1 << 30) - 1;

/// The text of a pattern and its values.
pub(super) fn format(row: &Row<'_>) -> Result<Cell> {
    let Some(pattern) = row.text(0) else { return Ok(Cell::Null) };
    let mut out = String::new();
    let mut rest = pattern.chars().peekable();
    let mut arguments = Arguments { row, next: 1 };
    while let Some(letter) = rest.next() {
        if letter != '%' {
            out.push(letter);
        } else if rest.next_if_eq(&'%').is_some() {
            out.push('%');
        } else {
            place(&mut rest, &mut arguments, &mut out)?;
        }
    }
    Ok(out.into())
}

fn invalid(message: &str) -> Error {
    Error::new(SqlState::InvalidParameterValue, message)
}

fn unterminated() -> Error {
    let hint = "For a single \"%\" use \"%%\".";
    invalid("unterminated format() type specifier").with_hint(hint)
}

/// The arguments, and the one that a place without a position takes.
struct Arguments<'a> {
    row: &'a Row<'a>,
    next: usize,
}

impl Arguments<'_> {
    /// The place of an argument: the given one, or the next.
    fn take(&mut self, position: Option<usize>) -> Result<usize> {
        let place = position.unwrap_or(self.next);
        if place == 0 {
            return Err(invalid("format specifies argument 0, but arguments are numbered from 1"));
        }
        if place >= self.row.count() {
            return Err(invalid("too few arguments for format()"));
        }
        self.next = place + 1;
        Ok(place)
    }
}

/// Digits as a number; `None` if there are none.
fn number(rest: &mut Peekable<Chars<'_>>) -> Result<Option<usize>> {
    let mut number: Option<usize> = None;
    while let Some(digit) = rest.peek().and_then(|next| next.to_digit(10)) {
        rest.next();
        let more = number.unwrap_or(0).checked_mul(10).and_then(|n| n.checked_add(digit as usize));
        let more = more.filter(|more| i32::try_from(*more).is_ok());
        number = Some(more.ok_or_else(|| {
            Error::new(SqlState::NumericValueOutOfRange, "number is out of range")
        })?);
    }
    Ok(number)
}

fn place(
    rest: &mut Peekable<Chars<'_>>,
    arguments: &mut Arguments<'_>,
    out: &mut String,
) -> Result<()> {
    let mut width = number(rest)?;
    let mut position = None;
    if width.is_some() && rest.next_if_eq(&'$').is_some() {
        position = width.take();
    }
    let mut is_left = false;
    if width.is_none() {
        while rest.next_if_eq(&'-').is_some() {
            is_left = true;
        }
        if rest.next_if_eq(&'*').is_some() {
            let of_width = number(rest)?;
            if of_width.is_some() && rest.next_if_eq(&'$').is_none() {
                return Err(invalid("width argument position must be ended by \"$\""));
            }
            let place = arguments.take(of_width)?;
            // NULL is no width, a negative one is for the left side.
            let given = match (arguments.row.number(place), arguments.row.text(place)) {
                (None, Some(text)) => {
                    let message = format!("invalid input syntax for type integer: \"{text}\"");
                    return Err(Error::new(SqlState::InvalidTextRepresentation, message));
                }
                (given, _) => given.unwrap_or(0),
            };
            is_left |= given < 0;
            width = usize::try_from(given.unsigned_abs()).ok();
        } else {
            width = number(rest)?;
        }
    }
    let Some(kind) = rest.next() else { return Err(unterminated()) };
    if !matches!(kind, 's' | 'I' | 'L') {
        let message = format!("unrecognized format() type specifier \"{kind}\"");
        return Err(invalid(&message).with_hint("For a single \"%\" use \"%%\"."));
    }
    let place = arguments.take(position)?;
    let text = match (kind, arguments.row.text(place)) {
        ('s', value) => value.unwrap_or_default().to_owned(),
        ('I', Some(value)) => quote_ident(value).to_string(),
        ('I', None) => {
            let message = "null values cannot be formatted as an SQL identifier";
            return Err(Error::new(SqlState::NullValueNotAllowed, message));
        }
        (_, Some(value)) => super::names::quote_literal(value),
        (_, None) => "NULL".to_owned(),
    };
    let blanks = width.unwrap_or(0).saturating_sub(text.chars().count());
    if out.len().saturating_add(text.len()).saturating_add(blanks) > BYTES_MAX {
        return Err(Error::new(SqlState::ProgramLimitExceeded, "requested length too large"));
    }
    let blanks = std::iter::repeat_n(' ', blanks);
    if is_left {
        out.push_str(&text);
        out.extend(blanks);
    } else {
        out.extend(blanks);
        out.push_str(&text);
    }
    Ok(())
}
