//! Names in the parse tree.

use crate::{Error, Result};
use grammar::tree::{Node, NodeEnum, ObjectType, RangeVar};

/// The name of a relation. A database before it is left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct RelationName {
    /// The schema, if it is written.
    pub schema: Option<String>,
    /// The name.
    pub name: String,
}

impl RelationName {
    /// The name that a reference has.
    pub(crate) fn of(range: Option<&RangeVar>) -> Result<Self> {
        let range = range.ok_or_else(incomplete)?;
        let schema = Some(range.schemaname.clone()).filter(|schema| !schema.is_empty());
        Ok(Self { schema, name: range.relname.clone() })
    }

    /// The name of a node.
    pub(crate) fn of_node(node: &Node) -> Result<Self> {
        match &node.node {
            Some(NodeEnum::RangeVar(range)) => Self::of(Some(range)),
            Some(NodeEnum::List(list)) => Self::of_parts(&texts(&list.items)),
            _ => Err(incomplete()),
        }
    }

    /// A name in up to three parts.
    pub(crate) fn of_parts(parts: &[String]) -> Result<Self> {
        match parts {
            [name] => Ok(Self { schema: None, name: name.clone() }),
            [schema, name] | [_, schema, name] => {
                Ok(Self { schema: Some(schema.clone()), name: name.clone() })
            }
            _ => {
                let message =
                    format!("improper qualified name (too many dotted names): {}", parts.join("."));
                Err(Error::new("42601", message))
            }
        }
    }
}

impl std::fmt::Display for RelationName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(schema) = &self.schema {
            write!(f, "{schema}.")?;
        }
        f.write_str(&self.name)
    }
}

/// The kind of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    /// A table.
    Table,
    /// A view.
    View,
    /// A materialized view.
    MaterializedView,
    /// A sequence.
    Sequence,
    /// An index.
    Index,
    /// A schema.
    Schema,
    /// A database.
    Database,
    /// A type.
    Type,
    /// A domain.
    Domain,
    /// A function or procedure.
    Function,
}

impl ObjectKind {
    /// The kind of a statement. `None` for kinds that there are not.
    pub(crate) fn of(kind: ObjectType) -> Option<Self> {
        Some(match kind {
            ObjectType::ObjectTable => Self::Table,
            ObjectType::ObjectView => Self::View,
            ObjectType::ObjectMatview => Self::MaterializedView,
            ObjectType::ObjectSequence => Self::Sequence,
            ObjectType::ObjectIndex => Self::Index,
            ObjectType::ObjectSchema => Self::Schema,
            ObjectType::ObjectDatabase => Self::Database,
            ObjectType::ObjectType => Self::Type,
            ObjectType::ObjectDomain => Self::Domain,
            _ => return None,
        })
    }

    /// The tag of ALTER.
    pub(crate) fn alter_tag(self) -> &'static str {
        match self {
            Self::Table => "ALTER TABLE",
            Self::View => "ALTER VIEW",
            Self::MaterializedView => "ALTER MATERIALIZED VIEW",
            Self::Sequence => "ALTER SEQUENCE",
            Self::Index => "ALTER INDEX",
            Self::Schema => "ALTER SCHEMA",
            Self::Database => "ALTER DATABASE",
            Self::Type => "ALTER TYPE",
            Self::Domain => "ALTER DOMAIN",
            Self::Function => "ALTER FUNCTION",
        }
    }

    /// The name of the kind in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::View => "view",
            Self::MaterializedView => "materialized view",
            Self::Sequence => "sequence",
            Self::Index => "index",
            Self::Schema => "schema",
            Self::Database => "database",
            Self::Type => "type",
            Self::Domain => "domain",
            Self::Function => "function",
        }
    }
}

/// The error of a tree without a node that the grammar always makes.
pub(crate) fn incomplete() -> Error {
    Error::missing("this form of the statement")
}

/// The node of an optional field that the grammar always fills.
pub(crate) fn node(node: Option<&Node>) -> Result<&NodeEnum> {
    node.and_then(|node| node.node.as_ref()).ok_or_else(incomplete)
}

/// A text, unless it is empty.
pub(crate) fn some(text: &str) -> Option<String> {
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

/// The texts of a list of strings.
pub(crate) fn texts(nodes: &[Node]) -> Vec<String> {
    let text = |node: &Node| match &node.node {
        Some(NodeEnum::String(string)) => Some(string.sval.clone()),
        _ => None,
    };
    nodes.iter().filter_map(text).collect()
}

/// The kind of an object in PostgreSQL's words: `FOREIGN TABLE`.
pub(crate) fn words_of(kind: ObjectType) -> String {
    let name = kind.as_str_name().trim_start_matches("OBJECT_");
    match name {
        "MATVIEW" => "MATERIALIZED VIEW".to_owned(),
        "TABCONSTRAINT" => "CONSTRAINT".to_owned(),
        "FDW" => "FOREIGN DATA WRAPPER".to_owned(),
        "FOREIGN_SERVER" => "SERVER".to_owned(),
        "LARGEOBJECT" => "LARGE OBJECT".to_owned(),
        "OPCLASS" => "OPERATOR CLASS".to_owned(),
        "OPFAMILY" => "OPERATOR FAMILY".to_owned(),
        "STATISTIC_EXT" => "STATISTICS".to_owned(),
        "TSCONFIGURATION" => "TEXT SEARCH CONFIGURATION".to_owned(),
        "TSDICTIONARY" => "TEXT SEARCH DICTIONARY".to_owned(),
        "TSPARSER" => "TEXT SEARCH PARSER".to_owned(),
        "TSTEMPLATE" => "TEXT SEARCH TEMPLATE".to_owned(),
        name => name.replace('_', " "),
    }
}

/// How a new relation is to be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Persistence {
    /// As any table.
    Permanent,
    /// UNLOGGED.
    Unlogged,
    /// TEMPORARY.
    Temporary,
}

impl Persistence {
    pub(crate) fn of(relation: &RangeVar) -> Self {
        match relation.relpersistence.as_str() {
            "t" => Self::Temporary,
            "u" => Self::Unlogged,
            _ => Self::Permanent,
        }
    }

    /// Whether what cannot be unlogged is temporary.
    ///
    /// # Errors
    /// The one given, for UNLOGGED.
    pub(crate) fn is_temporary(self, unlogged: Error) -> Result<bool> {
        match self {
            Self::Unlogged => Err(unlogged),
            Self::Temporary | Self::Permanent => Ok(self == Self::Temporary),
        }
    }
}
