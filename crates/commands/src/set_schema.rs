//! ALTER ... SET SCHEMA.

use crate::names::{ObjectKind, RelationName, words_of};
use crate::{Error, Result};
use grammar::tree::AlterObjectSchemaStmt;

/// ALTER ... SET SCHEMA of a table, a view, a materialized view or a sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetSchema {
    /// What the statement says that it alters.
    pub kind: ObjectKind,
    /// The relation.
    pub relation: RelationName,
    /// IF EXISTS.
    pub if_exists: bool,
    /// The schema that it gets.
    pub schema: String,
}

impl SetSchema {
    pub(crate) fn of(statement: &AlterObjectSchemaStmt) -> Result<Self> {
        let kind = statement.object_type();
        let of_relation = |kind: &ObjectKind| {
            use ObjectKind::{MaterializedView, Sequence, Table, View};
            matches!(kind, Table | View | MaterializedView | Sequence)
        };
        let Some(known) = ObjectKind::of(kind).filter(of_relation) else {
            return Err(Error::missing(format!("ALTER {} ... SET SCHEMA", words_of(kind))));
        };
        Ok(Self {
            kind: known,
            relation: RelationName::of(statement.relation.as_ref())?,
            if_exists: statement.missing_ok,
            schema: statement.newschema.clone(),
        })
    }
}
