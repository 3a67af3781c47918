//! COMMENT ON.

use crate::names::{ObjectKind, RelationName, incomplete, node, some, texts, words_of};
use crate::user_type::type_name;
use crate::{Error, Result};
use grammar::tree::{CommentStmt, NodeEnum, ObjectType};

/// COMMENT ON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// What it is about.
    pub on: Commented,
    /// The text; `None` removes it.
    pub text: Option<String>,
}

/// What a comment is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Commented {
    /// A table, a view, a sequence or an index.
    Relation(ObjectKind, RelationName),
    /// A column of a relation.
    Column(RelationName, String),
    /// A schema.
    Schema(String),
    /// A type or a domain.
    Type(RelationName),
    /// A constraint of a table.
    TableConstraint(RelationName, String),
    /// A condition of a domain.
    DomainConstraint(RelationName, String),
    /// A database.
    Database(String),
    /// A role.
    Role(String),
}

impl Comment {
    pub(crate) fn of(statement: &CommentStmt) -> Result<Self> {
        let object = node(statement.object.as_deref())?;
        let parts = match object {
            NodeEnum::List(list) => texts(&list.items),
            NodeEnum::String(name) => vec![name.sval.clone()],
            _ => Vec::new(),
        };
        let on = match statement.objtype() {
            of @ (ObjectType::ObjectTable
            | ObjectType::ObjectView
            | ObjectType::ObjectMatview
            | ObjectType::ObjectSequence
            | ObjectType::ObjectIndex) => {
                let kind = ObjectKind::of(of).ok_or_else(incomplete)?;
                Commented::Relation(kind, RelationName::of_parts(&parts)?)
            }
            ObjectType::ObjectColumn => match parts.split_last() {
                Some((column, relation)) if !relation.is_empty() => {
                    Commented::Column(RelationName::of_parts(relation)?, column.clone())
                }
                _ => return Err(Error::new("42601", "column name must be qualified")),
            },
            ObjectType::ObjectType | ObjectType::ObjectDomain => {
                Commented::Type(type_name(statement.object.as_deref())?)
            }
            ObjectType::ObjectSchema => Commented::Schema(parts.concat()),
            ObjectType::ObjectDatabase => Commented::Database(parts.concat()),
            ObjectType::ObjectRole => Commented::Role(parts.concat()),
            ObjectType::ObjectTabconstraint => match parts.split_last() {
                Some((constraint, table)) => {
                    Commented::TableConstraint(RelationName::of_parts(table)?, constraint.clone())
                }
                None => return Err(incomplete()),
            },
            ObjectType::ObjectDomconstraint => domain_constraint(object, &parts)?,
            other => return Err(Error::missing(format!("COMMENT ON {}", words_of(other)))),
        };
        Ok(Self { on, text: some(&statement.comment) })
    }
}

/// The condition of a domain, of a list of the domain and the name, which is the only text in it.
fn domain_constraint(object: &NodeEnum, parts: &[String]) -> Result<Commented> {
    let (NodeEnum::List(list), [name]) = (object, parts) else { return Err(incomplete()) };
    Ok(Commented::DomainConstraint(type_name(list.items.first())?, name.clone()))
}
