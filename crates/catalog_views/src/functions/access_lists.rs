//! `acldefault`: the privileges on an object that nobody has changed.

use crate::pg_catalog::roles;
use crate::session_context::SessionContext;
use datafusion::logical_expr::ScalarUDF;
use functions::row_function::function;
use std::sync::Arc;
use values::cells::{Cell, Form};
use values::{Error, Result, SqlState};

/// The function.
pub(super) fn all(session: &Arc<dyn SessionContext>) -> Vec<ScalarUDF> {
    let session = Arc::clone(session);
    vec![function("acldefault", 2..=2, Form::Texts, move |row| {
        let (Some(kind), Some(owner)) = (row.text(0), row.number(1)) else { return Ok(Cell::Null) };
        let (everybody, own) = letters(kind)?;
        let owner = roles::name_of(&session.catalog(), owner);
        let mut items = Vec::new();
        if !everybody.is_empty() {
            items.push(format!("={everybody}/{owner}"));
        }
        if !own.is_empty() {
            items.push(format!("{owner}={own}/{owner}"));
        }
        Ok(items.into())
    })]
}

/// The letters of what everybody may do with a kind of object, and of what its owner may.
///
/// # Errors
/// XX000 for a letter of no kind, as in PostgreSQL.
fn letters(kind: &str) -> Result<(&'static str, &'static str)> {
    Ok(match kind {
        "c" => ("", ""),
        "r" => ("", "arwdDxt"),
        "s" => ("", "rwU"),
        "d" => ("Tc", "CTc"),
        "f" => ("X", "X"),
        "l" | "T" => ("U", "U"),
        "L" => ("", "rw"),
        "n" => ("", "UC"),
        "t" => ("", "C"),
        "F" | "S" => ("", "U"),
        "p" => ("", "sA"),
        other => {
            let message = format!("unrecognized objtype abbreviation: {other}");
            return Err(Error::new(SqlState::InternalError, message));
        }
    })
}
