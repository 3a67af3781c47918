//! REINDEX.

use crate::names::{RelationName, node};
use crate::{Error, Result};
use grammar::tree::{NodeEnum, ReindexObjectType, ReindexStmt};

/// REINDEX of an index, or of the indexes of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reindex {
    /// The index or the table.
    pub name: RelationName,
    /// Whether it is a table.
    pub is_table: bool,
    /// CONCURRENTLY.
    pub is_concurrent: bool,
}

impl Reindex {
    pub(crate) fn of(statement: &ReindexStmt) -> Result<Self> {
        let is_table = match statement.kind() {
            ReindexObjectType::ReindexObjectIndex => false,
            ReindexObjectType::ReindexObjectTable => true,
            ReindexObjectType::ReindexObjectSchema => return Err(Error::missing("REINDEX SCHEMA")),
            _ => return Err(Error::missing("REINDEX DATABASE")),
        };
        let mut is_concurrent = false;
        for option in &statement.params {
            let NodeEnum::DefElem(option) = node(Some(option))? else { continue };
            match option.defname.as_str() {
                "concurrently" => is_concurrent = true,
                "verbose" => {}
                other => {
                    let what = format!("the option {} of REINDEX", other.to_uppercase());
                    return Err(Error::missing(what));
                }
            }
        }
        let name = RelationName::of(statement.relation.as_ref())?;
        Ok(Self { name, is_table, is_concurrent })
    }
}
