//! Functions on `bytea` that the engine only has for text.

use columnar::{Types, function};
use datafusion::arrow::array::{ArrayRef, AsArray, BinaryViewArray, Int32Array};
use datafusion::arrow::datatypes::{DataType, Int32Type};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

/// The functions that statements can call.
pub(super) fn all() -> Vec<ScalarUDF> {
    vec![
        function("octet_length", of_text_or_bytes, |args| {
            let lengths: Int32Array = match args[0].data_type() {
                DataType::BinaryView => {
                    let values = args[0].as_binary_view().iter();
                    values.map(|value| i32::try_from(value?.len()).ok()).collect()
                }
                _ => {
                    let values = args[0].as_string_view().iter();
                    values.map(|value| i32::try_from(value?.len()).ok()).collect()
                }
            };
            Ok(Arc::new(lengths))
        }),
        function(
            "get_byte",
            |_| Ok((vec![DataType::BinaryView, DataType::Int32], DataType::Int32)),
            get_byte,
        ),
    ]
}

/// Concatenation of `bytea` values.
pub fn concat() -> ScalarUDF {
    let types: Types = |_| Ok((vec![DataType::BinaryView; 2], DataType::BinaryView));
    function("bytea_concat", types, |args| {
        let pairs = args[0].as_binary_view().iter().zip(args[1].as_binary_view());
        let joined = pairs.map(|(left, right)| Some([left?, right?].concat()));
        Ok(Arc::new(joined.collect::<BinaryViewArray>()))
    })
}

fn of_text_or_bytes(types: &[DataType]) -> Result<(Vec<DataType>, DataType)> {
    match types {
        [DataType::Binary | DataType::LargeBinary | DataType::BinaryView] => {
            Ok((vec![DataType::BinaryView], DataType::Int32))
        }
        [_] => Ok((vec![DataType::Utf8View], DataType::Int32)),
        _ => {
            let message = "octet_length takes one argument";
            Err(Error::new(SqlState::UndefinedFunction, message))
        }
    }
}

fn get_byte(args: &[ArrayRef]) -> Result<ArrayRef> {
    let places = args[1].as_primitive::<Int32Type>();
    let values = args[0].as_binary_view().iter().zip(places).map(|(bytes, place)| {
        let Some((bytes, place)) = bytes.zip(place) else { return Ok(None) };
        let byte = usize::try_from(place).ok().and_then(|place| bytes.get(place));
        byte.map(|byte| Some(i32::from(*byte))).ok_or_else(|| {
            let last = bytes.len() as i64 - 1;
            let message = format!("index {place} out of valid range, 0..{last}");
            Error::new(SqlState::ArraySubscriptError, message)
        })
    });
    Ok(Arc::new(values.collect::<Result<Int32Array>>()?))
}
