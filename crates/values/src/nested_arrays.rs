//! Arrays of several dimensions as texts: the items are read as those of an array of one dimension, and then grouped.

use crate::error::{Error, Result, SqlState};
use datafusion::arrow::array::{Array, ArrayRef, ListArray};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::datatypes::{DataType, Field};
use std::sync::Arc;

/// The most dimensions of an array.
const DIMENSIONS_MAX: usize = 6;

/// The number of items in each dimension of a text of several dimensions, and the text of an array with the items in one
/// dimension. `None` for other texts.
///
/// # Errors
/// 22P02: it is no array, or one whose parts differ in length; 54000: it has too many dimensions.
pub fn flattened(text: &str) -> Result<Option<(Vec<usize>, String)>> {
    let inner = text.trim_start().strip_prefix('{').map(str::trim_start);
    if !inner.is_some_and(|inner| inner.starts_with('{')) {
        return Ok(None);
    }
    let mut reader = Reader::default();
    let mut rest = text.trim();
    while let Some(next) = rest.chars().next() {
        let length = match next {
            _ if reader.is_over => None,
            '{' => reader.open()?.then_some(1),
            '}' => reader.close().then_some(1),
            ',' => reader.separate().then_some(1),
            next if next.is_ascii_whitespace() => Some(1),
            _ => reader.item(rest),
        };
        rest = rest.get(length.ok_or_else(|| malformed(text))?..).unwrap_or_default();
    }
    let dimensions: Option<Vec<usize>> = reader.lengths.into_iter().collect();
    match dimensions.filter(|_| reader.is_over) {
        Some(dimensions) => Ok(Some((dimensions, format!("{{{}}}", reader.items.join(","))))),
        None => Err(malformed(text)),
    }
}

/// Whether arrays of a type have several dimensions.
pub fn is_nested(data_type: &DataType) -> bool {
    matches!(data_type, DataType::List(item) if matches!(item.data_type(), DataType::List(_)))
}

/// An array of several dimensions from its items.
///
/// # Errors
/// There are not as many items as the dimensions need.
pub fn nested(items: ArrayRef, dimensions: &[usize]) -> Result<ListArray> {
    let mut items = items;
    for length in dimensions.iter().skip(1).rev() {
        let count = items.len().checked_div(*length).unwrap_or(0);
        items = Arc::new(lists(items, vec![*length; count])?);
    }
    let all = items.len();
    lists(items, vec![all])
}

fn lists(items: ArrayRef, lengths: Vec<usize>) -> Result<ListArray> {
    let field = Arc::new(Field::new_list_field(items.data_type().clone(), true));
    Ok(ListArray::try_new(field, OffsetBuffer::from_lengths(lengths), items, None)?)
}

fn malformed(text: &str) -> Error {
    let message = format!("malformed array literal: \"{text}\"");
    Error::new(SqlState::InvalidTextRepresentation, message)
}

/// What is known of a text that is being read.
#[derive(Debug, Default)]
struct Reader<'t> {
    /// The items as they are written.
    items: Vec<&'t str>,
    /// How many parts each open brace has so far.
    open: Vec<usize>,
    /// How many parts the braces of each dimension have.
    lengths: Vec<Option<usize>>,
    /// How deep the items are.
    depth: Option<usize>,
    /// Whether a part is complete, behind which a comma or a closing brace comes.
    is_complete: bool,
    is_over: bool,
}

impl<'t> Reader<'t> {
    fn open(&mut self) -> Result<bool> {
        if self.is_complete || self.depth.is_some_and(|depth| self.open.len() >= depth) {
            return Ok(false);
        }
        self.open.push(0);
        if self.open.len() > DIMENSIONS_MAX {
            let message = format!(
                "number of array dimensions ({}) exceeds the maximum allowed ({DIMENSIONS_MAX})",
                self.open.len()
            );
            return Err(Error::new(SqlState::ProgramLimitExceeded, message));
        }
        if self.lengths.len() < self.open.len() {
            self.lengths.push(None);
        }
        Ok(true)
    }

    fn close(&mut self) -> bool {
        let Some(length) = self.open.pop().filter(|_| self.is_complete) else { return false };
        let Some(known) = self.lengths.get_mut(self.open.len()) else { return false };
        if *known.get_or_insert(length) != length {
            return false;
        }
        self.complete();
        self.is_over = self.open.is_empty();
        true
    }

    fn separate(&mut self) -> bool {
        std::mem::take(&mut self.is_complete)
    }

    /// Reads an item; returns its length.
    fn item(&mut self, rest: &'t str) -> Option<usize> {
        let is_deep = *self.depth.get_or_insert(self.open.len()) == self.open.len();
        let length = item_length(rest).filter(|_| is_deep && !self.is_complete)?;
        self.items.push(rest.get(..length)?.trim_end());
        self.complete();
        Some(length)
    }

    fn complete(&mut self) {
        if let Some(parts) = self.open.last_mut() {
            *parts += 1;
        }
        self.is_complete = true;
    }
}

/// The bytes of an item, with its quotes.
fn item_length(text: &str) -> Option<usize> {
    let is_quoted = text.starts_with('"');
    let mut characters = text.char_indices().skip(usize::from(is_quoted));
    while let Some((at, next)) = characters.next() {
        match next {
            '\\' => {
                characters.next()?;
            }
            '"' => return is_quoted.then_some(at + 1),
            ',' | '{' | '}' if !is_quoted => return Some(at),
            _ => (),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_of_several_dimensions_are_found() {
        let of = |text| flattened(text).expect("a text of an array");
        assert_eq!(of("{1,2}"), None);
        assert_eq!(of(" { {1, 2 },{3,4}} "), Some((vec![2, 2], "{1,2,3,4}".to_owned())));
        let quoted = Some((vec![1, 2], r#"{"a}\"",b c}"#.to_owned()));
        assert_eq!(of(r#"{{"a}\"",b c}}"#), quoted);
        assert_eq!(of("{{{1}},{{2}}}"), Some((vec![2, 1, 1], "{1,2}".to_owned())));
        for text in
            ["{{1,2},{3}}", "{{1},2}", "{{}}", "{{1},}", "{{1}}x", "{{1}", "{{1,{2}}}", "{{a\"b}}"]
        {
            assert!(flattened(text).is_err(), "{text}");
        }
        assert!(flattened("{{{{{{{1}}}}}}}").is_err());
    }
}
