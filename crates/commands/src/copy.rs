//! COPY.

use crate::names::{RelationName, texts};
use crate::options::{Given, refuse_repeated};
use crate::{Error, Result};
use grammar::expression_text;
use grammar::tree::{CopyStmt, NodeEnum};

/// COPY.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copy {
    /// What is copied.
    pub what: Copied,
    /// Whether it is COPY FROM.
    pub is_from: bool,
    /// The other side.
    pub place: CopyPlace,
    /// The options.
    pub options: Vec<Given>,
    /// The condition for the rows that are copied.
    pub condition: Option<String>,
}

/// What is copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Copied {
    /// A relation, with the listed columns; none for all.
    Relation(RelationName, Vec<String>),
    /// The query in the tree.
    Query,
}

/// Where the rows come from or go to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CopyPlace {
    /// The client: STDIN or STDOUT.
    Client,
    /// A file on the server.
    File(String),
}

impl Copy {
    pub(crate) fn of(statement: &CopyStmt) -> Result<Self> {
        if statement.is_program {
            return Err(Error::missing("COPY with PROGRAM"));
        }
        refuse_repeated(&statement.options)?;
        let what = match &statement.relation {
            Some(relation) => {
                Copied::Relation(RelationName::of(Some(relation))?, texts(&statement.attlist))
            }
            None => {
                refuse_without_rows(statement)?;
                Copied::Query
            }
        };
        let place = match statement.filename.as_str() {
            "" => CopyPlace::Client,
            name => CopyPlace::File(name.to_owned()),
        };
        let options = Given::all(&statement.options);
        let condition = statement.where_clause.as_deref().map(|condition| {
            expression_text(condition).ok_or_else(|| Error::missing("this condition of COPY"))
        });
        let condition = condition.transpose()?;
        Ok(Self { what, is_from: statement.is_from, place, options, condition })
    }

    /// Whether the rows come from the client or go to it.
    pub fn is_of_client(&self) -> bool {
        self.place == CopyPlace::Client
    }
}

/// Refuses a statement that returns no rows to copy.
fn refuse_without_rows(statement: &CopyStmt) -> Result<()> {
    let refused = |message: &str| Err(Error::new("0A000", message));
    let query = statement.query.as_ref().and_then(|query| query.node.as_ref());
    let returning = match query {
        Some(NodeEnum::SelectStmt(_)) => return Ok(()),
        Some(NodeEnum::InsertStmt(insert)) => &insert.returning_clause,
        Some(NodeEnum::UpdateStmt(update)) => &update.returning_clause,
        Some(NodeEnum::DeleteStmt(delete)) => &delete.returning_clause,
        Some(NodeEnum::MergeStmt(_)) => return refused("MERGE not supported in COPY"),
        _ => return Err(Error::missing("COPY of this statement")),
    };
    match returning {
        None => refused("COPY query must have a RETURNING clause"),
        Some(_) => Ok(()),
    }
}
