//! Texts that must fit a declared length, as when a type reads them.

use columnar::{Types, hidden};
use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use store::catalog::SqlType;
use values::assign::{Excess, fit, input};
use values::error::Error;
use values::style::Style;

/// The name of the function that returns a text of `varchar(n)`, or of `char(n)` without its blanks, from a text, `n`, and
/// whether it is of `char(n)`; also arrays of such texts. A text that is too long is an error (22001).
pub const WITHIN: &str = "within_length";

/// The function [`WITHIN`].
pub(super) fn within() -> ScalarUDF {
    let types: Types = |types| match types {
        [list @ DataType::List(_), _, _] => {
            Ok((vec![list.clone(), DataType::Int64, DataType::Boolean], list.clone()))
        }
        [_, _, _] => {
            Ok((vec![DataType::Utf8View, DataType::Int64, DataType::Boolean], DataType::Utf8View))
        }
        _ => Err(Error::unsupported("within_length takes three arguments")),
    };
    hidden(WITHIN, types, |args| {
        let (text, length, is_char) = (&args[0], &args[1], &args[2]);
        if text.is_empty() {
            return Ok(Arc::clone(text));
        }
        // They are constants.
        let length = length.as_primitive::<Int64Type>().value(0);
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        let of = match is_char.as_boolean().value(0) {
            true => SqlType::Char(length),
            false => SqlType::Varchar(Some(length)),
        };
        match text.data_type() {
            DataType::List(_) => {
                fit(Arc::clone(text), &SqlType::Array(Box::new(of)), Excess::Refuse)
            }
            _ => fit(input(text, &of, Style::default())?, &of, Excess::Refuse),
        }
    })
}
