//! JSON lines: one object a row.
//!
//! Numbers, booleans, arrays and `json` values are themselves; a number that JSON cannot write (`NaN`,
//! `Infinity`) and everything else is a string, timestamps in ISO 8601.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::DataType;
use pando::{Error, Field, RecordBatch, SqlType, text::TextColumn};

/// Appends a line for each row.
pub(crate) fn rows(fields: &[Field], batch: &RecordBatch, out: &mut String) -> Result<(), Error> {
    let columns = fields
        .iter()
        .zip(batch.columns())
        .map(|(field, array)| JsonColumn::new(&field.sql_type, array))
        .collect::<Result<Vec<_>, _>>()?;
    let keys: Vec<_> = fields.iter().map(|field| quoted(&field.name)).collect();
    for row in 0..batch.num_rows() {
        out.push('{');
        for (index, (key, column)) in keys.iter().zip(&columns).enumerate() {
            if index > 0 {
                out.push(',');
            }
            out.push_str(key);
            out.push(':');
            column.write(row, out)?;
        }
        out.push_str("}\n");
    }
    Ok(())
}

/// How the values of one array become JSON.
struct JsonColumn<'a> {
    kind: Kind<'a>,
    text: TextColumn<'a>,
}

enum Kind<'a> {
    Boolean,
    Number,
    Json,
    Timestamp,
    Array(&'a SqlType, &'a ArrayRef),
    Text,
}

impl<'a> JsonColumn<'a> {
    fn new(sql_type: &'a SqlType, array: &'a ArrayRef) -> Result<Self, Error> {
        let kind = match sql_type {
            SqlType::Boolean => Kind::Boolean,
            SqlType::Json => Kind::Json,
            SqlType::Timestamp | SqlType::TimestampTz => Kind::Timestamp,
            SqlType::Array(item) if matches!(array.data_type(), DataType::List(_)) => {
                Kind::Array(item, array)
            }
            other if super::types::is_number(other) => Kind::Number,
            _ => Kind::Text,
        };
        Ok(Self { kind, text: TextColumn::new(array)? })
    }

    fn write(&self, row: usize, out: &mut String) -> Result<(), Error> {
        let start = out.len();
        if !self.text.write(row, out) {
            out.push_str("null");
            return Ok(());
        }
        match &self.kind {
            Kind::Boolean => {
                replace(start, out, |text| if text == "t" { "true" } else { "false" }.into())
            }
            Kind::Number if out.ends_with(|c: char| c.is_ascii_digit()) => (),
            // The grammar of JSON has line breaks between tokens only, so blanks do as well.
            Kind::Json => replace(start, out, |text| text.replace(['\n', '\r'], " ")),
            Kind::Timestamp => replace(start, out, |text| quoted(&iso(text))),
            Kind::Array(item, array) => {
                out.truncate(start);
                write_array(item, &array.as_list::<i32>().value(row), out)?;
            }
            Kind::Number | Kind::Text => replace(start, out, quoted),
        }
        Ok(())
    }
}

fn write_array(item: &SqlType, values: &ArrayRef, out: &mut String) -> Result<(), Error> {
    let column = JsonColumn::new(item, values)?;
    out.push('[');
    for row in 0..values.len() {
        if row > 0 {
            out.push(',');
        }
        column.write(row, out)?;
    }
    out.push(']');
    Ok(())
}

/// `2020-01-02 03:04:05+00` to `2020-01-02T03:04:05+00:00`.
fn iso(timestamp: &str) -> String {
    let joined = timestamp.replacen(' ', "T", 1);
    match joined.strip_suffix("+00") {
        Some(local) => format!("{local}+00:00"),
        None => joined,
    }
}

fn replace(start: usize, out: &mut String, by: impl FnOnce(&str) -> String) {
    let text = by(&out[start..]);
    out.truncate(start);
    out.push_str(&text);
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::super::grid::tests::awkward;
    use super::*;
    use arrow::array::*;
    use arrow::datatypes::Int32Type;
    use std::sync::Arc;

    fn line(sql_type: SqlType, array: ArrayRef) -> String {
        let batch = RecordBatch::try_from_iter([("v", array)]).expect("one column");
        let mut out = String::new();
        rows(&[Field { name: "v".to_owned(), sql_type }], &batch, &mut out).expect("has text");
        out
    }

    #[test]
    fn an_object_a_row() {
        let (fields, batch) = awkward();
        let mut out = String::new();
        rows(&fields, &batch, &mut out).expect("has text");
        let expected = "{\"id\":1,\"näme\":\"plain\"}\n\
             {\"id\":-20,\"näme\":\"two\\nlines, \\\"quoted\\\"\"}\n{\"id\":null,\"näme\":\"\"}\n";
        assert_eq!(out, expected);
        assert!(out.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
    }

    #[test]
    fn values_keep_their_kind() {
        let floats: ArrayRef = Arc::new(Float64Array::from(vec![1e20, f64::NAN]));
        assert_eq!(line(SqlType::Double, floats), "{\"v\":1e+20}\n{\"v\":\"NaN\"}\n");
        let booleans: ArrayRef = Arc::new(BooleanArray::from(vec![true]));
        assert_eq!(line(SqlType::Boolean, booleans), "{\"v\":true}\n");
        let json: ArrayRef = Arc::new(StringViewArray::from(vec!["{\"a\":\n1}"]));
        assert_eq!(line(SqlType::Json, json), "{\"v\":{\"a\": 1}}\n");
        let moments = TimestampMicrosecondArray::from(vec![0]).with_timezone("+00:00");
        let expected = "{\"v\":\"1970-01-01T00:00:00+00:00\"}\n";
        assert_eq!(line(SqlType::TimestampTz, Arc::new(moments)), expected);
    }

    #[test]
    fn arrays_are_arrays() {
        let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1), None])]);
        let sql_type = SqlType::Array(Box::new(SqlType::Integer));
        assert_eq!(line(sql_type, Arc::new(lists)), "{\"v\":[1,null]}\n");
    }
}
