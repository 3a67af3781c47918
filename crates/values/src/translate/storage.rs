//! Errors of the store, its catalog and its buckets.

use super::failure;
use crate::error::{Error, SqlState};

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        use store::Error as E;
        let message = error.to_string();
        match error {
            E::DuplicateKey { schema, table, constraint, key } => {
                Self::new(SqlState::UniqueViolation, message)
                    .with_detail(format!("Key {key} already exists."))
                    .of_table(&schema, &table)
                    .of_constraint(&constraint)
            }
            E::Conflict { table, key } => Self::new(SqlState::SerializationFailure, message)
                .with_detail(format!("Table \"{table}\", key {key}."))
                .with_hint("Run the transaction again."),
            E::SchemaConflict { .. } => Self::new(SqlState::SerializationFailure, message)
                .with_hint("Run the transaction again."),
            E::Unserializable => Self::new(SqlState::SerializationFailure, message)
                .with_hint("The transaction might succeed if retried."),
            E::Locked { .. } | E::TableLocked { .. } => Self::new(SqlState::LockNotAvailable, message),
            E::OutOfMemory { .. } => Self::new(SqlState::OutOfMemory, message).with_hint(
                "Delete rows, or start with a larger --memory. Nothing was changed by this statement.",
            ),
            E::SequenceExhausted { .. } => {
                Self::new(SqlState::SequenceGeneratorLimitExceeded, message)
            }
            E::NotOwned { .. } | E::Astray { .. } => Self::new(SqlState::SerializationFailure, message)
                .with_hint("Run the transaction again: rows have just moved to another server."),
            E::Unreachable { is_lost, keys, .. } => {
                let hint = if is_lost {
                    "The other rows remain available. To restore the table, drop and load it."
                } else {
                    "Run the statement again when the server is back."
                };
                let error = Self::new(SqlState::ConnectionFailure, message).with_hint(hint);
                match keys.as_str() {
                    "" => error,
                    keys => error.with_detail(format!("It has {keys}.")),
                }
            }
            E::Remote { sql_state, message, detail, hint } => {
                let state = SqlState::of_code(&sql_state).unwrap_or(SqlState::InternalError);
                let error = Self::new(state, message);
                let error = detail.into_iter().fold(error, Self::with_detail);
                hint.into_iter().fold(error, Self::with_hint)
            }
            E::Failed(failure) => failure::from_failure(*failure),
            E::Catalog(error) => error.into(),
            E::Bucket(error) => error.into(),
        }
    }
}

impl From<store::catalog::Error> for Error {
    fn from(error: store::catalog::Error) -> Self {
        use store::catalog::Error as E;
        let message = error.to_string();
        match error {
            E::Conflict { .. } => Self::new(SqlState::SerializationFailure, message)
                .with_hint("Run the transaction again."),
            E::RelationExists { .. } => Self::new(SqlState::DuplicateTable, message),
            E::RelationMissing { .. } => Self::new(SqlState::UndefinedTable, message),
            E::TypeExists { .. } => Self::new(SqlState::DuplicateObject, message),
            E::SchemaExists { .. } => Self::new(SqlState::DuplicateSchema, message),
            E::SchemaMissing { .. } => Self::new(SqlState::InvalidSchemaName, message),
            E::SchemaNotEmpty { schema, relation } => {
                let (kind, name) = relation.split_once(' ').unwrap_or(("relation", &relation));
                Self::new(SqlState::DependentObjectsStillExist, message)
                    .with_detail(format!("{kind} {schema}.{name} depends on schema {schema}"))
                    .with_hint("Use DROP ... CASCADE to drop the dependent objects too.")
            }
            E::TriggerExists { .. } => Self::new(SqlState::DuplicateObject, message),
            E::FunctionExists { .. } => Self::new(SqlState::DuplicateFunction, message),
            E::ReservedName { .. } => Self::new(SqlState::ReservedName, message),
        }
    }
}

impl From<store::bucket::Error> for Error {
    fn from(error: store::bucket::Error) -> Self {
        use store::bucket::Error as E;
        let message = error.to_string();
        match error {
            E::ValueTooLarge { .. } => Self::new(SqlState::ProgramLimitExceeded, message),
            E::NullKey { schema, table, column } => Self::new(SqlState::NotNullViolation, message)
                .of_table(&schema, &table)
                .of_column(&column),
            E::KeyType { .. } => Self::new(SqlState::InvalidTableDefinition, message),
            E::Arrow(error) => error.into(),
        }
    }
}
