//! CREATE VIEW.

use crate::constraint::too_deep;
use crate::names::{Persistence, RelationName, incomplete, node, texts};
use crate::view_options::ViewOptions;
use crate::{Error, Result};
use grammar::statement_text;
use grammar::tree::ViewStmt;

/// CREATE VIEW.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateView {
    /// The name.
    pub name: RelationName,
    /// The names of the first columns.
    pub columns: Vec<String>,
    /// The text of the query.
    pub query: String,
    /// The relations that the query names.
    pub relations: Vec<RelationName>,
    /// TEMPORARY.
    pub is_temporary: bool,
    /// OR REPLACE.
    pub replaces: bool,
    /// WITH.
    pub options: ViewOptions,
}

impl CreateView {
    pub(crate) fn of(statement: &ViewStmt) -> Result<Self> {
        let relation = statement.view.as_ref().ok_or_else(incomplete)?;
        let query = node(statement.query.as_deref())?;
        let relations = grammar::relations(query).into_iter();
        let unlogged = "views cannot be unlogged because they do not have storage";
        let unlogged = Error::new("42601", unlogged);
        Ok(Self {
            name: RelationName::of(Some(relation))?,
            columns: texts(&statement.aliases),
            query: statement_text(query).ok_or_else(too_deep)?,
            relations: relations.map(|(schema, name)| RelationName { schema, name }).collect(),
            is_temporary: Persistence::of(relation).is_temporary(unlogged)?,
            replaces: statement.replace,
            options: ViewOptions::of(&statement.options, statement.with_check_option())?,
        })
    }
}
