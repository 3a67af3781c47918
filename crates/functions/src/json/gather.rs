//! `json_agg` and `json_object_agg`: [`ITEM`] or [`MEMBER`] writes each row, the engine's
//! `array_agg` collects the texts, and a function of [`ARRAYS`] or [`OBJECTS`] joins them (`lowering`).

use super::Kind;
use super::build::{SHORTEST, key, object};
use super::write::{SHORT, has_parts, write, write_list};
use crate::row_function::{Row, typed_function};
use datafusion::arrow::array::{Array, AsArray};
use datafusion::logical_expr::ScalarUDF;
use store::catalog::SqlType;
use values::cells::Cell;
use values::error::Result;
use values::json::invalid;
use values::json::normal::of_json;

/// The function that writes a value as an array element.
pub const ITEM: &str = "json_agg_item";
/// The function that writes a row, given by alternating names and values, as an array element.
pub const ROW_ITEM: &str = "json_agg_row";
/// The function that writes a key and a value as a member of an object.
pub const MEMBER: &str = "json_agg_member";
/// The functions that join elements to an array.
pub const ARRAYS: [&str; 2] = ["json_of_items", "jsonb_of_items"];
/// The functions that write an array of distinct values, which are in order.
pub const SETS: [&str; 2] = ["json_of_set", "jsonb_of_set"];
/// The functions that join members to an object.
pub const OBJECTS: [&str; 2] = ["json_of_members", "jsonb_of_members"];

/// The functions.
pub(super) fn all() -> Vec<ScalarUDF> {
    let mut all = vec![
        typed_function(ITEM, 1..=1, SqlType::Text, item),
        typed_function(ROW_ITEM, 0..=usize::MAX, SqlType::Text, |row| {
            Ok(format!("\n {}", object(row, SHORTEST)?).into())
        }),
        typed_function(MEMBER, 2..=2, SqlType::Text, member),
    ];
    for kind in Kind::ALL {
        let [json, jsonb] = ARRAYS;
        all.push(whole(kind.name(json, jsonb), kind, ["[", "]"]));
        let [json, jsonb] = OBJECTS;
        all.push(whole(kind.name(json, jsonb), kind, ["{ ", " }"]));
        let [json, jsonb] = SETS;
        all.push(set(kind.name(json, jsonb), kind));
    }
    all
}

fn set(name: &'static str, kind: Kind) -> ScalarUDF {
    typed_function(name, 1..=1, kind.sql_type(), move |row| {
        let (Some((SqlType::Array(item), ..)), Some(values)) = (row.value(0), row.list(0)) else {
            return Ok(Cell::Null);
        };
        let mut out = String::new();
        write_list(item, &values, ", ", &mut out)?;
        Ok(match kind {
            Kind::Json => out.into(),
            Kind::Jsonb => of_json(&out)?.into(),
        })
    })
}

/// Arrays and rows are on their own lines, except for the first.
fn item(row: &Row<'_>) -> Result<Cell> {
    let mut out = String::new();
    if let Some((sql_type, array, at)) = row.value(0) {
        if has_parts(sql_type, array) && array.is_valid(at) {
            out.push_str("\n ");
        }
        write(sql_type, array, at, SHORT, &mut out)?;
    }
    Ok(out.into())
}

fn member(row: &Row<'_>) -> Result<Cell> {
    if row.text(0).is_none() {
        return Err(invalid("field name must not be null"));
    }
    let mut out = String::new();
    key(row, 0, &mut out)?;
    out.push_str(" : ");
    if let Some((sql_type, array, at)) = row.value(1) {
        write(sql_type, array, at, SHORT, &mut out)?;
    }
    Ok(out.into())
}

fn whole(name: &'static str, kind: Kind, [open, close]: [&'static str; 2]) -> ScalarUDF {
    typed_function(name, 1..=1, kind.sql_type(), move |row| {
        let Some(parts) = row.list(0) else { return Ok(Cell::Null) };
        let mut out = String::from(open);
        for (index, part) in parts.as_string_view().iter().flatten().enumerate() {
            match index {
                0 => out.push_str(part.trim_start()),
                _ => {
                    out.push_str(", ");
                    out.push_str(part);
                }
            }
        }
        out.push_str(close);
        Ok(match kind {
            Kind::Json => out.into(),
            Kind::Jsonb => of_json(&out)?.into(),
        })
    })
}
