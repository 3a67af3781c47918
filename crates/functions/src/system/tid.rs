//! Values of `tid`, which tell the rows of a table apart: a number as PostgreSQL's block and the place in it.
//!
//! They are held as text, `(block,place)`. The number is the key of the row; its low 16 bits are the place.

use columnar::{Types, function};
use datafusion::arrow::array::{ArrayRef, AsArray, Int64Array, StringViewArray};
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;

/// The function that makes a value of a number.
pub const OF_NUMBER: &str = "tid_of_number";
/// The function that returns the number, by which values are ordered.
pub const NUMBER: &str = "tid_number";

const PLACE_BITS: u32 = 16;

/// The functions, which statements cannot call.
pub(crate) fn all() -> [ScalarUDF; 2] {
    let of_number: Types = |_| Ok((vec![DataType::Int64], DataType::Utf8View));
    let number_of: Types = |_| Ok((vec![DataType::Utf8View], DataType::Int64));
    [
        function(OF_NUMBER, of_number, |args| {
            let numbers = args[0].as_primitive::<Int64Type>().iter();
            let texts = numbers.map(|number| number.map(text)).collect::<StringViewArray>();
            Ok(Arc::new(texts) as ArrayRef)
        }),
        function(NUMBER, number_of, |args| {
            let texts = args[0].as_string_view().iter();
            let numbers = texts.map(|text| number(text?)).collect::<Int64Array>();
            Ok(Arc::new(numbers) as ArrayRef)
        }),
    ]
}

fn text(number: i64) -> String {
    let number = number.cast_unsigned();
    format!("({},{})", number >> PLACE_BITS, number & 0xffff)
}

/// The number of a text; `None` if that is no value.
fn number(text: &str) -> Option<i64> {
    let (block, place) = text.strip_prefix('(')?.strip_suffix(')')?.split_once(',')?;
    let block: u64 = block.trim_start().parse().ok()?;
    let place: u16 = place.trim_start().parse().ok()?;
    let high = block.checked_mul(1 << PLACE_BITS)?;
    Some((high | u64::from(place)).cast_signed())
}

/// The form in which a value is held; `None` if the text is no value.
pub fn normal(written: &str) -> Option<String> {
    number(written).map(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_their_texts() {
        for value in [0, 1, 65_535, 65_536, i64::MAX, -1, i64::MIN] {
            assert_eq!(number(&text(value)), Some(value));
        }
        assert_eq!(text(65_537), "(1,1)");
        assert_eq!(normal("( 0, 7)").as_deref(), Some("(0,7)"));
        for bad in ["", "0,1", "(0,1", "(0)", "(0,65536)", "(281474976710656,0)", "(-1,1)"] {
            assert_eq!(number(bad), None, "{bad}");
        }
    }
}
