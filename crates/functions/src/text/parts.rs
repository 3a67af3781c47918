//! Texts with a part replaced or cut: `overlay`, and texts as names.

use crate::overload::Overload;
use columnar::function;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, StringViewArray};
use datafusion::arrow::datatypes::{DataType, Int32Type, Int64Type};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};
use values::input::system::name;

const TEXT: DataType = DataType::Utf8View;

/// `overlay` of texts.
pub(super) const OVERLAY: Overload = Overload {
    types: |types| match types {
        [text, new, places @ ..]
            if text.is_string() && new.is_string() && (1..=2).contains(&places.len()) =>
        {
            Some(([vec![TEXT; 2], vec![DataType::Int32; places.len()]].concat(), TEXT))
        }
        _ => None,
    },
    body: overlay,
};

/// `split_part`: fields are found from the start of the text, also those that are counted from its end.
pub(super) const SPLIT_PART: &[Overload] = &[Overload {
    types: |types| match types {
        [text, delimiter, place]
            if text.is_string() && delimiter.is_string() && place.is_integer() =>
        {
            Some((vec![TEXT, TEXT, DataType::Int64], TEXT))
        }
        _ => None,
    },
    body: split_part,
}];

/// The function that cuts a text to the length of a name.
pub(crate) fn as_name() -> ScalarUDF {
    function(
        "name_of_text",
        |_| Ok((vec![TEXT], TEXT)),
        |args| {
            let texts = args[0].as_string_view().iter();
            Ok(Arc::new(texts.map(|text| text.map(name)).collect::<StringViewArray>()))
        },
    )
}

fn overlay(args: &[ArrayRef]) -> Result<ArrayRef> {
    let (texts, news) = (args[0].as_string_view(), args[1].as_string_view());
    let number = |index: usize, row: usize| args[index].as_primitive::<Int32Type>().value(row);
    let rows = (0..texts.len()).map(|row| {
        if args.iter().any(|array| array.is_null(row)) {
            return Ok(None);
        }
        let (text, new) = (texts.value(row), news.value(row));
        let from = i64::from(number(2, row));
        let length = match args.len() {
            4 => i64::from(number(3, row)),
            _ => new.chars().count() as i64,
        };
        if from <= 0 {
            let message = "negative substring length not allowed";
            return Err(Error::new(SqlState::SubstringError, message));
        }
        if i32::try_from(from + length).is_err() {
            return Err(Error::new(SqlState::NumericValueOutOfRange, "integer out of range"));
        }
        let (before, after) = (place_of(text, from), place_of(text, from + length));
        Ok(Some([&text[..before], new, &text[after..]].concat()))
    });
    Ok(Arc::new(rows.collect::<Result<StringViewArray>>()?))
}

fn split_part(args: &[ArrayRef]) -> Result<ArrayRef> {
    let pairs = args[0].as_string_view().iter().zip(args[1].as_string_view());
    let rows = pairs.zip(args[2].as_primitive::<Int64Type>()).map(|row| {
        let ((Some(text), Some(delimiter)), Some(place)) = row else { return Ok(None) };
        let count = usize::try_from(place.unsigned_abs()).unwrap_or(usize::MAX);
        let mut fields: Box<dyn Iterator<Item = &str>> = match delimiter {
            "" => Box::new(std::iter::once(text)),
            _ => Box::new(text.split(delimiter)),
        };
        let found = match place {
            0 => {
                let message = "field position must not be zero";
                return Err(Error::new(SqlState::InvalidParameterValue, message));
            }
            1.. => fields.nth(count - 1),
            _ => {
                let fields: Vec<&str> = fields.collect();
                fields.len().checked_sub(count).and_then(|index| fields.get(index).copied())
            }
        };
        Ok(Some(found.unwrap_or_default()))
    });
    Ok(Arc::new(rows.collect::<Result<StringViewArray>>()?))
}

/// Where a character begins that is counted from 1; the nearest end of the text for others.
fn place_of(text: &str, character: i64) -> usize {
    let skipped = usize::try_from(character - 1).unwrap_or(0);
    text.char_indices().nth(skipped).map_or(text.len(), |(place, _)| place)
}
