//! `string_agg` with a delimiter that differs from row to row: [`PART`] keeps a value with its delimiter, the engine's
//! `array_agg` collects them in their order, and [`WHOLE`] joins them.

use columnar::{Types, function};
use datafusion::arrow::array::{ArrayRef, AsArray, StringViewBuilder};
use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use values::error::{Error, Result};

/// The function of a value and its delimiter; NULL for NULL, which is not joined.
pub const PART: &str = "string_agg_part";
/// The function of an array of parts; NULL if there is none.
pub const WHOLE: &str = "string_agg_whole";

/// The functions.
pub(crate) fn all() -> [ScalarUDF; 2] {
    let texts: Types = |_| Ok((vec![DataType::Utf8View; 2], DataType::Utf8View));
    let lists: Types = |types| match types {
        [list @ DataType::List(_)] => Ok((vec![list.clone()], DataType::Utf8View)),
        _ => Err(Error::unsupported("this delimiter of string_agg is not supported")),
    };
    [function(PART, texts, parts), function(WHOLE, lists, wholes)]
}

/// The length of the delimiter, the delimiter and the value.
fn parts(args: &[ArrayRef]) -> Result<ArrayRef> {
    let pairs = args[0].as_string_view().iter().zip(args[1].as_string_view());
    let mut texts = StringViewBuilder::with_capacity(args[0].len());
    for (value, delimiter) in pairs {
        let delimiter = delimiter.unwrap_or_default();
        let part = |value| format!("{}:{delimiter}{value}", delimiter.len());
        texts.append_option(value.map(part));
    }
    Ok(Arc::new(texts.finish()))
}

fn wholes(args: &[ArrayRef]) -> Result<ArrayRef> {
    let mut texts = StringViewBuilder::with_capacity(args[0].len());
    for list in args[0].as_list::<i32>().iter() {
        let mut whole: Option<String> = None;
        for part in list.iter().flat_map(|list| list.as_string_view().iter().flatten()) {
            let (length, rest) = part.split_once(':').unwrap_or(("0", part));
            match &mut whole {
                Some(whole) => whole.push_str(rest),
                // The delimiter of the first value stands before nothing.
                None => {
                    let length = length.parse().unwrap_or_default();
                    whole = Some(rest.get(length..).unwrap_or_default().to_owned());
                }
            }
        }
        texts.append_option(whole);
    }
    Ok(Arc::new(texts.finish()))
}
