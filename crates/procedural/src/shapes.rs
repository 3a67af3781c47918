//! Texts of EXECUTE that differ in nothing but their constants.
//!
//! The constants of a text become `$1`, `$2`, ..., which is its shape. Texts of a shape that has come before are not parsed:
//! its statement is executed with the constants as values, where that means the same. A string may stand for a value of
//! another type than `text`, as `'2024-01-01'` does; but not in a statement that needs no plan. Numbers are what they are.

use datafusion::common::ScalarValue;
use grammar::tree::NodeEnum;
use parser::Statement;
use planner::{Conflict, NamedParameter};
use std::collections::HashMap;
use store::catalog::SqlType;

/// Shapes that a function remembers, at most.
const SHAPES_MAX: usize = 256;

/// The longest text that is looked at, in bytes.
const TEXT_BYTES_MAX: usize = 4 << 10;

/// The type of a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Of {
    Integer,
    BigInt,
    Text,
}

/// A text with numbers for its constants, and their types.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    pub(crate) text: String,
    types: Vec<Of>,
}

impl Shape {
    /// The parameters.
    pub(crate) fn names(&self, conflict: Conflict) -> Vec<NamedParameter> {
        let name = |(number, of): (usize, &Of)| NamedParameter {
            qualifier: None,
            name: format!("${number}"),
            sql_type: match of {
                Of::Integer => SqlType::Integer,
                Of::BigInt => SqlType::BigInt,
                Of::Text => SqlType::Text,
            },
            conflict,
        };
        (1..).zip(&self.types).map(name).collect()
    }

    /// Whether its statement is an UPDATE or a DELETE with no other constants than numbers.
    pub(crate) fn is_change_by_numbers(&self, statement: &Statement) -> bool {
        self.types.iter().all(|of| *of != Of::Text)
            && matches!(statement.change(), Some(NodeEnum::UpdateStmt(_) | NodeEnum::DeleteStmt(_)))
    }
}

/// What is known of the texts of a shape.
pub(crate) enum Known {
    /// One has come.
    Once,
    /// They mean the same as a statement with parameters.
    Same(Statement),
    /// Each is parsed.
    Other,
}

/// The shapes of the texts that a function has executed.
#[derive(Default)]
pub(crate) struct Shapes(HashMap<Shape, Known>);

impl Shapes {
    /// What is known of a shape.
    pub(crate) fn get(&self, shape: &Shape) -> Option<&Known> {
        self.0.get(shape)
    }

    /// Remembers what is known of a shape.
    pub(crate) fn put(&mut self, shape: Shape, known: Known) {
        if self.0.len() >= SHAPES_MAX {
            self.0.clear();
        }
        self.0.insert(shape, known);
    }

    /// Forgets them.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// What a constant would stand behind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// `(`, `,` or a comparison: a `-` is a sign.
    Opening,
    /// Another operator, or a word such as AND.
    Operator,
    /// LIMIT or OFFSET.
    Limit,
    /// A value or a name.
    Operand,
}

/// The shape of a text, and the values of its constants. `None` of a text without constants, and of what may mean something
/// else with parameters.
pub(crate) fn scanned(text: &str) -> Option<(Shape, Vec<ScalarValue>)> {
    let first = text.trim_start().get(..6)?;
    let is_known = ["select", "insert", "update", "delete"]
        .iter()
        .any(|word| first.eq_ignore_ascii_case(word));
    if !is_known || text.len() > TEXT_BYTES_MAX {
        return None;
    }
    let shape = Shape { text: String::with_capacity(text.len()), types: Vec::new() };
    let (before, values) = (Before::Operand, Vec::new());
    let mut scan = Scan { text, at: 0, before, is_sorted: false, shape, values };
    while scan.at < text.len() {
        scan.token()?;
    }
    (!scan.values.is_empty()).then_some((scan.shape, scan.values))
}

struct Scan<'a> {
    text: &'a str,
    /// The byte that is next.
    at: usize,
    before: Before,
    /// Whether BY has come: a number may be that of a column.
    is_sorted: bool,
    shape: Shape,
    values: Vec<ScalarValue>,
}

impl Scan<'_> {
    /// Reads what is next.
    fn token(&mut self) -> Option<()> {
        let text = self.text;
        let rest = &text[self.at..];
        let bytes = rest.as_bytes();
        let follows = |byte: u8| bytes.get(1) == Some(&byte);
        let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        let before = match bytes.first()? {
            b' ' | b'\n' | b'\t' | b'\r' => self.before,
            b'\'' => return self.string(rest),
            b'0'..=b'9' => return self.number(rest),
            b'-' if self.before == Before::Opening && is_digit(1) => return self.number(rest),
            b'-' if self.before == Before::Operand && !follows(b'-') => Before::Operator,
            b'/' if !follows(b'*') => Before::Operator,
            b'(' | b',' | b'=' | b'<' | b'>' => Before::Opening,
            b'+' | b'*' | b'%' | b'|' | b'!' => Before::Operator,
            b')' | b'.' => Before::Operand,
            b'"' => {
                let length = rest[1..].find('"')? + 2;
                self.copy(length, Before::Operand);
                return Some(());
            }
            first if is_of_name(*first) => return self.word(rest),
            // Parameters, casts, subscripts, comments and other operators.
            _ => return None,
        };
        self.copy(1, before);
        Some(())
    }

    fn copy(&mut self, length: usize, before: Before) {
        let end = self.at + length;
        self.shape.text.push_str(&self.text[self.at..end]);
        (self.at, self.before) = (end, before);
    }

    fn word(&mut self, rest: &str) -> Option<()> {
        let is_part = |byte: u8| is_of_name(byte) || byte.is_ascii_digit() || byte == b'$';
        let length = rest.bytes().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        let word = &rest[..length];
        let is = |words: &[&str]| words.iter().any(|of| word.eq_ignore_ascii_case(of));
        // The numbers of a type, and those of columns.
        if is(&["cast", "distinct"]) {
            return None;
        }
        self.is_sorted |= is(&["by"]);
        let before = match word {
            _ if is(&["limit", "offset"]) => Before::Limit,
            _ if is(&["and", "or", "between", "when", "then", "else"]) => Before::Operator,
            _ => Before::Operand,
        };
        self.copy(length, before);
        Some(())
    }

    fn number(&mut self, rest: &str) -> Option<()> {
        let digits = rest.trim_start_matches('-');
        let is_part = |byte: u8| is_of_name(byte) || byte.is_ascii_digit() || byte == b'.';
        let count = digits.bytes().position(|byte| !is_part(byte)).unwrap_or(digits.len());
        let length = rest.len() - digits.len() + count;
        let number: i64 = rest[..length].parse().ok()?;
        match i32::try_from(number) {
            Ok(number) => self.constant(length, Of::Integer, ScalarValue::Int32(Some(number))),
            Err(_) => self.constant(length, Of::BigInt, ScalarValue::Int64(Some(number))),
        }
    }

    fn string(&mut self, rest: &str) -> Option<()> {
        let (mut value, mut at) = (String::new(), 1);
        loop {
            let length = rest[at..].find('\'')?;
            value.push_str(&rest[at..at + length]);
            at += length + 1;
            if !rest[at..].starts_with('\'') {
                break;
            }
            value.push('\'');
            at += 1;
        }
        // Blanks at the end count for some types; a string may go on in the next line.
        let is_open = rest[at..].trim_start().starts_with('\'');
        if is_open || value.ends_with(' ') || value.contains('\\') {
            return None;
        }
        self.constant(at, Of::Text, ScalarValue::Utf8View(Some(value)))
    }

    fn constant(&mut self, length: usize, of: Of, value: ScalarValue) -> Option<()> {
        let is_place = match self.before {
            Before::Opening | Before::Operator => !self.is_sorted,
            Before::Limit => true,
            Before::Operand => false,
        };
        if !is_place {
            return None;
        }
        self.values.push(value);
        self.shape.types.push(of);
        self.shape.text.push_str(&format!("${}", self.values.len()));
        (self.at, self.before) = (self.at + length, Before::Operand);
        Some(())
    }
}

/// Whether a name may begin with a byte. Letters behind ASCII have several.
fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<(String, Vec<String>)> {
        let (shape, values) = scanned(text)?;
        Some((shape.text, values.iter().map(ToString::to_string).collect()))
    }

    #[test]
    fn constants_become_parameters() {
        for (text, shape, values) in [
            ("INSERT INTO t VALUES (1, 'a''b')", "INSERT INTO t VALUES ($1, $2)", vec!["1", "a'b"]),
            ("select a1 from \"T 2\" where k=-5", "select a1 from \"T 2\" where k=$1", vec!["-5"]),
            (
                "UPDATE é SET a = a - 2 WHERE k = 3",
                "UPDATE é SET a = a - $1 WHERE k = $2",
                vec!["2", "3"],
            ),
            (
                "SELECT a FROM t WHERE k = 1 ORDER BY a LIMIT 2",
                "SELECT a FROM t WHERE k = $1 ORDER BY a LIMIT $2",
                vec!["1", "2"],
            ),
            (
                "DELETE FROM t WHERE k IN (1, 3000000000)",
                "DELETE FROM t WHERE k IN ($1, $2)",
                vec!["1", "3000000000"],
            ),
        ] {
            let values = values.into_iter().map(str::to_owned).collect();
            assert_eq!(shown(text), Some((shape.to_owned(), values)), "{text}");
        }
        let (shape, _) = scanned("DELETE FROM t WHERE k IN (1, 3000000000, '')").expect("a shape");
        assert_eq!(shape.types, [Of::Integer, Of::BigInt, Of::Text]);
    }

    #[test]
    fn other_texts_are_left() {
        for text in [
            "SELECT a FROM t",
            "SELECT a FROM t ORDER BY a, 2",
            "SELECT a FROM t WHERE d = date '2024-01-01'",
            "SELECT a FROM t WHERE d = '2024-01-01'::date",
            "SELECT a FROM t WHERE c = 'a '",
            "SELECT a FROM t WHERE c = E'a'",
            "SELECT a FROM t WHERE c = 'a'\n'b'",
            "SELECT a FROM t WHERE c = '\\'",
            "SELECT a FROM t WHERE k = 1.5",
            "UPDATE t SET a = CAST(b AS numeric(5, 2)) WHERE k = 1",
            "SELECT DISTINCT ON (1) a FROM t",
            "SELECT a FROM t WHERE k = 1e3",
            "SELECT a FROM t WHERE k = .5",
            "SELECT a FROM t WHERE k = - 5",
            "SELECT a FROM t WHERE k = $1 + 1",
            "SELECT a FROM t WHERE k = 1 -- b",
            "SELECT a FROM t WHERE k = 1 /* b */",
            "SELECT a FROM t WHERE k = 1; SELECT 2",
            "SELECT a FROM t WHERE k = 99999999999999999999",
            "SELECT a FROM t WHERE k = '",
            "CREATE TABLE t (a varchar(5))",
            "",
        ] {
            assert_eq!(shown(text), None, "{text}");
        }
    }
}
