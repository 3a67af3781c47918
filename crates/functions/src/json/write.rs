//! Conversion of SQL values to JSON: numbers and Booleans without quotes, JSON unchanged, arrays and
//! rows by their parts, and the quoted text of other values.

use datafusion::arrow::array::{Array, AsArray};
use store::catalog::SqlType;
use values::error::Result;
use values::json::string::quote;
use values::text::write_value;
use values::types;

/// The separator of the parts of an array or row.
pub(super) const SHORT: &str = ",";
/// The separator that puts each part on its own line.
pub(super) const BY_LINE: &str = ",\n ";

/// Appends the value at a row of an array as `json`.
pub(super) fn write(
    sql_type: &SqlType,
    array: &dyn Array,
    row: usize,
    separator: &str,
    out: &mut String,
) -> Result<()> {
    if array.is_null(row) {
        out.push_str("null");
        return Ok(());
    }
    let sql_type = sql_type.representation().imprecise();
    match sql_type {
        SqlType::Array(item) => {
            if let Some(lists) = array.as_list_opt::<i32>() {
                return write_list(item, &lists.value(row), separator, out);
            }
        }
        SqlType::Other(_) | SqlType::User(_) => {
            if let Some(rows) = array.as_struct_opt() {
                return write_row(rows, row, separator, out);
            }
        }
        _ => {}
    }
    let mut text = String::new();
    if !write_value(array, row, &mut text)? {
        out.push_str("null");
        return Ok(());
    }
    match sql_type {
        SqlType::Json | SqlType::Jsonb => out.push_str(&text),
        SqlType::Boolean => out.push_str(if text == "t" { "true" } else { "false" }),
        SqlType::Timestamp => quote(&text.replacen(' ', "T", 1), out),
        SqlType::TimestampTz => {
            let text = text.replacen(' ', "T", 1);
            let (moment, era) = match text.strip_suffix(" BC") {
                Some(moment) => (moment, " BC"),
                None => (&*text, ""),
            };
            let minutes = if moment.ends_with("+00") { ":00" } else { "" };
            quote(&format!("{moment}{minutes}{era}"), out);
        }
        other if is_number(other) && !text.ends_with(|c: char| c.is_alphabetic()) => {
            out.push_str(&text);
        }
        _ => quote(&text, out),
    }
    Ok(())
}

fn is_number(sql_type: &SqlType) -> bool {
    matches!(
        sql_type,
        SqlType::SmallInt
            | SqlType::Integer
            | SqlType::BigInt
            | SqlType::Real
            | SqlType::Double
            | SqlType::Numeric { .. }
    )
}

/// Whether the values are arrays or rows.
pub(super) fn has_parts(sql_type: &SqlType, array: &dyn Array) -> bool {
    matches!(sql_type, SqlType::Array(_)) || array.as_struct_opt().is_some()
}

pub(super) fn write_list(
    item: &SqlType,
    values: &dyn Array,
    separator: &str,
    out: &mut String,
) -> Result<()> {
    out.push('[');
    for row in 0..values.len() {
        if row > 0 {
            out.push_str(separator);
        }
        write(item, values, row, SHORT, out)?;
    }
    out.push(']');
    Ok(())
}

fn write_row(
    rows: &datafusion::arrow::array::StructArray,
    row: usize,
    separator: &str,
    out: &mut String,
) -> Result<()> {
    out.push('{');
    for (index, (field, values)) in rows.fields().iter().zip(rows.columns()).enumerate() {
        if index > 0 {
            out.push_str(separator);
        }
        quote(field.name(), out);
        out.push(':');
        write(&types::of_field(field), values, row, SHORT, out)?;
    }
    out.push('}');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::common::ScalarValue;

    fn written(sql_type: SqlType, value: ScalarValue) -> String {
        let array = value.to_array().expect("an array");
        let mut out = String::new();
        write(&sql_type, &array, 0, SHORT, &mut out).expect("written");
        out
    }

    #[test]
    fn values_are_written_by_their_types() {
        let text = |text: &str| ScalarValue::Utf8View(Some(text.to_owned()));
        let double = |value| ScalarValue::Float64(Some(value));
        assert_eq!(written(SqlType::Text, text("a\"")), "\"a\\\"\"");
        assert_eq!(written(SqlType::Json, text("[ 1]")), "[ 1]");
        assert_eq!(written(SqlType::Boolean, ScalarValue::Boolean(Some(true))), "true");
        assert_eq!(written(SqlType::Double, double(1.5)), "1.5");
        assert_eq!(written(SqlType::Double, double(f64::NAN)), "\"NaN\"");
        assert_eq!(written(SqlType::Double, double(f64::NEG_INFINITY)), "\"-Infinity\"");
        assert_eq!(written(SqlType::Integer, ScalarValue::Int32(None)), "null");
        let moment = ScalarValue::TimestampMicrosecond(Some(0), None);
        assert_eq!(written(SqlType::Timestamp, moment), "\"1970-01-01T00:00:00\"");
        let moment = ScalarValue::TimestampMicrosecond(Some(0), Some("+00:00".into()));
        assert_eq!(written(SqlType::TimestampTz, moment), "\"1970-01-01T00:00:00+00:00\"");
        let items = [ScalarValue::Int32(Some(1)), ScalarValue::Int32(None)];
        let data_type = datafusion::arrow::datatypes::DataType::Int32;
        let list = ScalarValue::List(ScalarValue::new_list_nullable(&items, &data_type));
        assert_eq!(written(SqlType::Array(Box::new(SqlType::Integer)), list), "[1,null]");
    }
}
