//! CREATE VIEW.

use crate::constraint::too_deep;
use crate::names::{RelationName, incomplete, is_temporary, node, texts};
use crate::options::elements;
use crate::{Error, Result};
use grammar::statement_text;
use grammar::tree::{ViewCheckOption, ViewStmt};

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
}

impl CreateView {
    pub(crate) fn of(statement: &ViewStmt) -> Result<Self> {
        if let Some(option) = elements(&statement.options).next() {
            let what = format!("option \"{}\" of a view", option.defname);
            return Err(Error::missing(what).at(option.location));
        }
        if statement.with_check_option() > ViewCheckOption::NoCheckOption {
            return Err(Error::missing("WITH CHECK OPTION"));
        }
        let relation = statement.view.as_ref().ok_or_else(incomplete)?;
        let query = node(statement.query.as_deref())?;
        let relations = grammar::relations(query).into_iter();
        Ok(Self {
            name: RelationName::of(Some(relation))?,
            columns: texts(&statement.aliases),
            query: statement_text(query).ok_or_else(too_deep)?,
            relations: relations.map(|(schema, name)| RelationName { schema, name }).collect(),
            is_temporary: is_temporary(relation)?,
            replaces: statement.replace,
        })
    }
}
