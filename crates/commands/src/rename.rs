//! ALTER ... RENAME.

use crate::names::{ObjectKind, RelationName, node, words_of};
use crate::roles::RoleStatement;
use crate::{Error, Result};
use grammar::tree::{NodeEnum, ObjectType, RenameStmt};

/// ALTER ... RENAME of a relation or a part of one, or of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rename {
    /// What the statement says that it alters.
    pub kind: ObjectKind,
    /// The relation; the name of a schema has no schema.
    pub relation: RelationName,
    /// IF EXISTS.
    pub if_exists: bool,
    /// What is renamed.
    pub renamed: Renamed,
    /// The new name.
    pub to: String,
}

/// What is renamed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Renamed {
    /// The relation, or the schema.
    Relation,
    /// A column.
    Column(String),
    /// A constraint.
    Constraint(String),
}

/// ALTER ... RENAME, also of a role.
pub(crate) enum AnyRename {
    Relation(Rename),
    Role(RoleStatement),
}

impl AnyRename {
    pub(crate) fn of(statement: &RenameStmt) -> Result<Self> {
        let to = statement.newname.clone();
        let of = |kind| {
            ObjectKind::of(kind)
                .filter(|kind| !matches!(kind, ObjectKind::Type | ObjectKind::Domain))
        };
        let (kind, renamed) = match statement.rename_type() {
            ObjectType::ObjectRole => {
                let name = statement.subname.clone();
                return Ok(Self::Role(RoleStatement::Rename { name, to }));
            }
            ObjectType::ObjectColumn => {
                (of(statement.relation_type()), Renamed::Column(statement.subname.clone()))
            }
            ObjectType::ObjectTabconstraint => {
                (Some(ObjectKind::Table), Renamed::Constraint(statement.subname.clone()))
            }
            kind => (of(kind), Renamed::Relation),
        };
        let Some(kind) = kind else {
            let what = match statement.rename_type() {
                ObjectType::ObjectColumn | ObjectType::ObjectAttribute => statement.relation_type(),
                kind => kind,
            };
            return Err(Error::missing(format!("ALTER {} ... RENAME", words_of(what))));
        };
        if kind == ObjectKind::Database {
            return Err(Error::missing("ALTER DATABASE ... RENAME"));
        }
        let relation = match &statement.relation {
            Some(relation) => RelationName::of(Some(relation))?,
            None if kind == ObjectKind::Schema => {
                RelationName { schema: None, name: statement.subname.clone() }
            }
            None => match node(statement.object.as_deref())? {
                NodeEnum::String(name) => RelationName { schema: None, name: name.sval.clone() },
                _ => return Err(crate::names::incomplete()),
            },
        };
        let if_exists = statement.missing_ok;
        Ok(Self::Relation(Rename { kind, relation, if_exists, renamed, to }))
    }
}
