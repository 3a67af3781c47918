//! REFRESH MATERIALIZED VIEW.

use crate::names::RelationName;
use crate::{Error, Result};
use grammar::tree::RefreshMatViewStmt;

/// REFRESH MATERIALIZED VIEW.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refresh {
    /// The materialized view.
    pub name: RelationName,
    /// CONCURRENTLY.
    pub is_concurrent: bool,
    /// Not with WITH NO DATA.
    pub with_data: bool,
}

impl Refresh {
    pub(crate) fn of(statement: &RefreshMatViewStmt) -> Result<Self> {
        if statement.concurrent && statement.skip_data {
            let message = "REFRESH options CONCURRENTLY and WITH NO DATA cannot be used together";
            return Err(Error::new("42601", message));
        }
        Ok(Self {
            name: RelationName::of(statement.relation.as_ref())?,
            is_concurrent: statement.concurrent,
            with_data: !statement.skip_data,
        })
    }
}
