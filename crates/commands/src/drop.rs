//! DROP.

use crate::names::{ObjectKind, RelationName, words_of};
use crate::user_type::type_name;
use crate::{Error, Result};
use grammar::tree::{DropBehavior, DropStmt, Node, NodeEnum};

/// DROP of tables, views, sequences, indexes or schemas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drop {
    /// What is dropped.
    pub kind: ObjectKind,
    /// The names. Those of schemas have no schema.
    pub names: Vec<RelationName>,
    /// IF EXISTS.
    pub if_exists: bool,
    /// CASCADE.
    pub cascade: bool,
    /// CONCURRENTLY.
    pub is_concurrent: bool,
}

impl Drop {
    pub(crate) fn of(statement: &DropStmt) -> Result<Self> {
        let kind = statement.remove_type();
        let Some(kind) = ObjectKind::of(kind) else {
            return Err(Error::missing(format!("DROP {}", words_of(kind))));
        };
        let name = |node: &Node| match &node.node {
            Some(NodeEnum::String(name)) => {
                Ok(RelationName { schema: None, name: name.sval.clone() })
            }
            Some(NodeEnum::TypeName(_)) => type_name(Some(node)),
            _ => RelationName::of_node(node),
        };
        let names: Vec<RelationName> = statement.objects.iter().map(name).collect::<Result<_>>()?;
        let cascade = statement.behavior() == DropBehavior::DropCascade;
        let is_concurrent = statement.concurrent;
        Ok(Self { kind, names, if_exists: statement.missing_ok, cascade, is_concurrent })
    }
}
