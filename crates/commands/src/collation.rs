//! COLLATE.

use crate::data_type::DataType;
use crate::names::texts;
use crate::{Error, Result};
use grammar::tree::CollateClause;

/// Refuses collations of types that have none, and those that differ from the byte order of UTF-8.
pub(crate) fn refuse_collation_of(clause: &CollateClause, of: &DataType) -> Result<()> {
    let oid = of.sql_type.oid;
    if of.of_users.is_none() && oid.element().unwrap_or(oid).category() != 'S' {
        let message = format!("collations are not supported by type {oid}");
        return Err(Error::new("42804", message));
    }
    refuse_collation(clause)
}

/// Refuses collations other than the byte order of UTF-8.
pub(crate) fn refuse_collation(clause: &CollateClause) -> Result<()> {
    let names = texts(&clause.collname);
    let last = names.last().map(|name| name.to_lowercase()).unwrap_or_default();
    match last.as_str() {
        "c" | "posix" | "default" | "ucs_basic" | "c.utf8" | "c.utf-8" => Ok(()),
        _ => Err(Error::missing(format!("collation \"{}\"", names.join(".")))
            .hint("Text is sorted by bytes, as with COLLATE \"C\".")
            .at(clause.location)),
    }
}
