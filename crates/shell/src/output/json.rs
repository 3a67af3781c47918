//! JSON lines: one object for each row.
//!
//! Numbers, booleans, arrays and `json` values are their JSON equivalents. Numbers that JSON does not have (`NaN`,
//! `Infinity`) and all other values are strings; timestamps are in ISO 8601. Values are converted from PostgreSQL's text
//! format, so rows of servers and of this process are the same.

use super::types::{Column, Kind};
use arrow::array::RecordBatch;
use query::{Error, text::TextColumn};

/// Appends a line for each row.
pub(crate) fn rows(columns: &[Column], batch: &RecordBatch, out: &mut String) -> Result<(), Error> {
    let texts = batch
        .columns()
        .iter()
        .map(|array| TextColumn::new(array))
        .collect::<Result<Vec<_>, _>>()?;
    let keys: Vec<_> = columns.iter().map(|column| quoted(&column.name)).collect();
    let mut text = String::new();
    for row in 0..batch.num_rows() {
        out.push('{');
        for (index, (column, values)) in columns.iter().zip(&texts).enumerate() {
            if index > 0 {
                out.push(',');
            }
            out.push_str(&keys[index]);
            out.push(':');
            text.clear();
            if values.write(row, &mut text) {
                write_value(&column.kind, &text, out);
            } else {
                out.push_str("null");
            }
        }
        out.push_str("}\n");
    }
    Ok(())
}

fn write_value(kind: &Kind, text: &str, out: &mut String) {
    match kind {
        Kind::Boolean => out.push_str(if text == "t" { "true" } else { "false" }),
        Kind::Number if text.ends_with(|c: char| c.is_ascii_digit()) => out.push_str(text),
        // JSON allows line breaks between tokens only, so blanks can replace them.
        Kind::Json => out.push_str(&text.replace(['\n', '\r'], " ")),
        Kind::Timestamp => out.push_str(&quoted(&iso(text))),
        // Lower bounds other than 1 precede the values: `[0:1]={a,b}`.
        Kind::Array(item) => match text.find('{') {
            Some(start) => drop(write_array(item, &text[start + 1..], out)),
            None => out.push_str(&quoted(text)),
        },
        Kind::Number | Kind::Text => out.push_str(&quoted(text)),
    }
}

/// Writes `a,NULL,"b c",{d}}` as a JSON array, and returns the text after the closing brace.
fn write_array<'t>(item: &Kind, text: &'t str, out: &mut String) -> &'t str {
    out.push('[');
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let after = &rest[first.len_utf8()..];
        match first {
            '}' => {
                out.push(']');
                return after;
            }
            ',' | ';' => {
                out.push(',');
                rest = after;
            }
            '{' => rest = write_array(item, after, out),
            '"' => {
                let (value, behind) = unquote(after);
                write_value(item, &value, out);
                rest = behind;
            }
            _ => {
                let end = rest.find([',', ';', '}']).unwrap_or(rest.len());
                match &rest[..end] {
                    "NULL" => out.push_str("null"),
                    value => write_value(item, value, out),
                }
                rest = &rest[end..];
            }
        }
    }
    out.push(']');
    rest
}

/// A value up to its closing quote, and the text after it.
fn unquote(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => value.extend(chars.next()),
            c => value.push(c),
        }
    }
    (value, chars.as_str())
}

/// Converts `2020-01-02 03:04:05+00` to `2020-01-02T03:04:05+00:00`.
fn iso(timestamp: &str) -> String {
    let joined = timestamp.replacen(' ', "T", 1);
    let time = joined.find('T').unwrap_or(joined.len());
    match joined[time..].find(['+', '-']).map(|at| joined.len() - time - at) {
        Some(3) => joined + ":00",
        _ => joined,
    }
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
    use query::{Field, SqlType};
    use std::sync::Arc;

    fn line(sql_type: SqlType, array: ArrayRef) -> String {
        let batch = RecordBatch::try_from_iter([("v", array)]).expect("one column");
        let mut out = String::new();
        let column = Column::of_field(&Field::new("v", sql_type));
        rows(&[column], &batch, &mut out).expect("has text");
        out
    }

    fn value(kind: &Kind, text: &str) -> String {
        let mut out = String::new();
        write_value(kind, text, &mut out);
        out
    }

    #[test]
    fn each_row_is_an_object() {
        let (columns, batch) = awkward();
        let mut out = String::new();
        rows(&columns, &batch, &mut out).expect("has text");
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
    fn timestamps_keep_their_time_zone() {
        let iso = |text| value(&Kind::Timestamp, text);
        assert_eq!(iso("2020-01-02 03:04:05.5-08"), "\"2020-01-02T03:04:05.5-08:00\"");
        assert_eq!(iso("2020-01-02 03:04:05+05:30"), "\"2020-01-02T03:04:05+05:30\"");
        assert_eq!(iso("2020-01-02 03:04:05"), "\"2020-01-02T03:04:05\"");
        assert_eq!(iso("infinity"), "\"infinity\"");
    }

    #[test]
    fn arrays_are_json_arrays() {
        let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1), None])]);
        let sql_type = SqlType::Array(Box::new(SqlType::Integer));
        assert_eq!(line(sql_type, Arc::new(lists)), "{\"v\":[1,null]}\n");
        let texts = Kind::Array(Box::new(Kind::Text));
        let written = r#"{a,"b \"c\"",NULL,"NULL","{,}",""}"#;
        assert_eq!(value(&texts, written), r#"["a","b \"c\"",null,"NULL","{,}",""]"#);
        let numbers = Kind::Array(Box::new(Kind::Number));
        assert_eq!(value(&numbers, "[0:1]={{1,2},{3,4}}"), "[[1,2],[3,4]]");
        assert_eq!(value(&numbers, "{}"), "[]");
        assert_eq!(value(&numbers, "odd"), "\"odd\"");
    }
}
