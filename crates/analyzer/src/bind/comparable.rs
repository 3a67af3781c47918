//! Types that can be grouped and ordered.

use crate::error::{Error, Result};
use crate::resolve::{Operands, operator};
use crate::system::Oid;

/// Refuses a type that has no comparison: `=` for groups, `<` for orders.
pub(super) fn comparable(name: &str, oid: Oid, location: i32) -> Result<()> {
    if matches!(oid, Oid::UNKNOWN | Oid::RECORD | Oid::RECORD_ARRAY) {
        return Ok(());
    }
    let item = oid.element().unwrap_or(oid);
    if operator(name, Operands::Both(item, item)).is_ok() && item != Oid::JSON {
        return Ok(());
    }
    let what = if name == "=" { "an equality" } else { "an ordering" };
    let error = Error::new("42883", format!("could not identify {what} operator for type {oid}"));
    Err(match name {
        "=" => error,
        _ => error.hint("Use an explicit ordering operator or modify the query."),
    }
    .at(location))
}
