//! COLLATE.

use crate::names::texts;
use crate::{Error, Result};
use grammar::tree::CollateClause;

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
