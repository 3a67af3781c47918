//! Errors of catalog changes.

use crate::RelationId;
use serde::{Deserialize, Serialize};

/// The reason why a catalog change is refused. The catalog has not changed then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum Error {
    /// Another transaction has changed this definition.
    #[error("\"{relation}\" was changed by another transaction")]
    Conflict {
        /// The relation.
        relation: String,
    },
    /// A relation with this name exists.
    #[error("relation \"{relation}\" already exists")]
    RelationExists {
        /// Its name.
        relation: String,
    },
    /// A type with this name exists.
    #[error("type \"{name}\" already exists")]
    TypeExists {
        /// Its name.
        name: String,
    },
    /// No relation with this name or id exists.
    #[error("relation {relation} does not exist")]
    RelationMissing {
        /// Its name.
        relation: String,
    },
    /// A schema with this name exists.
    #[error("schema \"{schema}\" already exists")]
    SchemaExists {
        /// The name.
        schema: String,
    },
    /// No schema with this name exists.
    #[error("schema \"{schema}\" does not exist")]
    SchemaMissing {
        /// The name.
        schema: String,
    },
    /// The schema contains relations.
    #[error("cannot drop schema {schema} because other objects depend on it")]
    SchemaNotEmpty {
        /// The schema.
        schema: String,
        /// The kind and name of one of its relations.
        relation: String,
    },
    /// A function with this name and these types of parameters exists.
    #[error("function \"{function}\" already exists with same argument types")]
    FunctionExists {
        /// Its name.
        function: String,
    },
    /// The table has a trigger with this name.
    #[error("trigger \"{trigger}\" already exists")]
    TriggerExists {
        /// Its name.
        trigger: String,
    },
    /// The name is reserved for the system.
    #[error("\"{name}\" is a reserved name")]
    ReservedName {
        /// The name.
        name: String,
    },
}

impl Error {
    /// Returns the error for an id without a relation.
    pub fn missing(id: RelationId) -> Self {
        Self::RelationMissing { relation: format!("with id {}", id.0) }
    }
}
