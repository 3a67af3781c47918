//! Errors of the engine and of the store, as errors with a SQLSTATE.

mod casts;
mod failure;
mod range;
mod rules;
mod type_names;
mod unmatched;

pub(crate) use casts::refused as refused_text;
pub(crate) use failure::told;
pub(crate) use unmatched::{
    argument as wrong_argument, function as undefined_function, operator as undefined_operator,
};

/// PostgreSQL's name of a type of the engine. Text that is not known to be of a type is `unknown`.
pub(crate) fn type_name(data_type: &datafusion::arrow::datatypes::DataType) -> String {
    type_names::of(&data_type.to_string())
}

use crate::parser::Lines;
use crate::values::error::{Culprit, Error, SqlState};
use datafusion::arrow::error::ArrowError;
use datafusion::common::{Column, DataFusionError, SchemaError};
use datafusion::sql::sqlparser::tokenizer::Location;
use std::io::{self, ErrorKind};

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
            E::OutOfMemory { .. } => Self::new(SqlState::OutOfMemory, message).with_hint(
                "Delete rows, or start with a larger --memory. Nothing was changed by this statement.",
            ),
            E::ValueTooLarge { .. } => Self::new(SqlState::ProgramLimitExceeded, message),
            E::NullKey { schema, table, column } => {
                Self::new(SqlState::NotNullViolation, message)
                    .of_table(&schema, &table)
                    .of_column(&column)
            }
            E::KeyType { .. } => Self::new(SqlState::InvalidTableDefinition, message),
            E::RelationExists { .. } => Self::new(SqlState::DuplicateTable, message),
            E::RelationMissing { .. } => Self::new(SqlState::UndefinedTable, message),
            E::SchemaExists { .. } => Self::new(SqlState::DuplicateSchema, message),
            E::SchemaMissing { .. } => Self::new(SqlState::InvalidSchemaName, message),
            E::SchemaNotEmpty { schema, relation } => {
                let (kind, name) = relation.split_once(' ').unwrap_or(("relation", &relation));
                Self::new(SqlState::DependentObjectsStillExist, message)
                    .with_detail(format!("{kind} {schema}.{name} depends on schema {schema}"))
                    .with_hint("Use DROP ... CASCADE to drop the dependent objects too.")
            }
            E::ReservedName { .. } => Self::new(SqlState::ReservedName, message),
            E::SequenceExhausted { .. } => {
                Self::new(SqlState::SequenceGeneratorLimitExceeded, message)
            }
            E::NotOwned { .. } | E::Astray { .. } => Self::new(SqlState::SerializationFailure, message)
                .with_hint("Run the transaction again: rows have just moved to another server."),
            E::Unreachable { is_lost, keys, .. } => {
                let error = Self::new(SqlState::ConnectionFailure, message).with_hint(match is_lost {
                    true => "Other rows are served on. To have the table whole again, drop it and load it.",
                    false => "Run the statement again when the server is back.",
                });
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
            E::Failed(failure) => failure::heard(*failure),
            E::Arrow(error) => error.into(),
        }
    }
}

impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::ExternalError(inner) => of_boxed(inner),
            ArrowError::DivideByZero => Self::new(SqlState::DivisionByZero, "division by zero"),
            ArrowError::ArithmeticOverflow(message) => range::of_overflow(&message),
            ArrowError::CastError(message) => from_text(&message),
            ArrowError::ParseError(message) => from_text(&message),
            ArrowError::CsvError(message) if is_of_full_disk(&message) => disk_full(message),
            ArrowError::CsvError(message) => Self::new(SqlState::BadCopyFileFormat, message),
            ArrowError::JsonError(message) => Self::new(SqlState::BadCopyFileFormat, message),
            ArrowError::IoError(message, error) => of_file(message, &error),
            other => from_text(&other.to_string()),
        }
    }
}

impl From<DataFusionError> for Error {
    fn from(error: DataFusionError) -> Self {
        use DataFusionError as E;
        match error {
            E::ArrowError(error, _) => (*error).into(),
            E::External(inner) => of_boxed(inner),
            E::Context(_, inner) => (*inner).into(),
            E::Diagnostic(_, inner) => (*inner).into(),
            E::Shared(inner) => shared(&inner),
            E::Collection(mut errors) if !errors.is_empty() => errors.swap_remove(0).into(),
            E::SchemaError(error, _) => schema_error(*error),
            E::SQL(error, _) => Self::new(
                SqlState::SyntaxError,
                error.to_string().replace("sql parser error: ", ""),
            ),
            E::NotImplemented(message) => unsupported(&message),
            E::ResourcesExhausted(message) => Self::new(SqlState::OutOfMemory, message)
                .with_hint("Make the query smaller, or start with a larger --memory."),
            E::IoError(error) => of_file(error.to_string(), &error),
            E::ObjectStore(error) => object_store_error(&error),
            E::ParquetError(error) => Self::new(SqlState::BadCopyFileFormat, error.to_string()),
            E::Plan(message) => from_text(&message),
            E::Execution(message) | E::Configuration(message) => from_text(&message),
            other => from_text(&other.strip_backtrace()),
        }
    }
}

/// What the engine does not do; some of it is known by other words.
fn unsupported(message: &str) -> Error {
    let known = from_text(message);
    match known.state() {
        SqlState::DataException => Error::unsupported(known.message()),
        _ => known,
    }
}

/// An error that several parts of a plan hold.
fn shared(error: &DataFusionError) -> Error {
    match error.find_root() {
        DataFusionError::External(inner) => {
            match (inner.downcast_ref::<Error>(), inner.downcast_ref::<store::Error>()) {
                (Some(error), _) => error.clone(),
                (None, Some(error)) => from_text(&error.to_string()),
                (None, None) => from_text(&inner.to_string()),
            }
        }
        DataFusionError::ResourcesExhausted(message) => {
            Error::new(SqlState::OutOfMemory, message.clone())
        }
        DataFusionError::IoError(error) => of_file(error.to_string(), error),
        DataFusionError::ArrowError(error, _) => match &**error {
            ArrowError::IoError(message, error) => of_file(message.clone(), error),
            ArrowError::DivideByZero => ArrowError::DivideByZero.into(),
            ArrowError::CastError(message) => from_text(message),
            ArrowError::ArithmeticOverflow(message) => range::of_overflow(message),
            other => from_text(&other.to_string()),
        },
        other => from_text(&other.strip_backtrace()),
    }
}

/// The engine's planner as an error carrier of ours.
pub(crate) fn external(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// A table in FROM has no column of this name.
pub(crate) fn undefined_column(table: &str, name: &str) -> Error {
    Error::new(SqlState::UndefinedColumn, format!("column {table}.{name} does not exist"))
}

/// No column has this name, or no table in FROM the one that stands before it.
fn not_found(field: &Column, valid: &[Column]) -> Error {
    use datafusion::common::utils::datafusion_strsim::levenshtein;
    let table = field.relation.as_ref().map(|relation| relation.table().to_owned());
    let is_of_table = |valid: &Column| {
        valid.relation.as_ref().is_some_and(|known| Some(known.table()) == table.as_deref())
    };
    let error = match &field.relation {
        Some(relation) if !valid.iter().any(is_of_table) => {
            let message = format!("missing FROM-clause entry for table \"{}\"", relation.table());
            Error::new(SqlState::UndefinedTable, message)
        }
        Some(relation) => undefined_column(&relation.to_string(), &field.name),
        None => {
            let message = format!("column \"{}\" does not exist", field.name);
            Error::new(SqlState::UndefinedColumn, message)
        }
    };
    let error = error.blaming(Culprit::Column { table, name: field.name.clone() });
    match valid.iter().find(|valid| levenshtein(&valid.name, &field.name) <= 2) {
        Some(near) if error.state() == SqlState::UndefinedColumn => {
            let near = near.flat_name();
            error.with_hint(format!("Perhaps you meant to reference the column \"{near}\"."))
        }
        _ => error,
    }
}

/// An error that others have carried along, whosever it is.
fn of_boxed(inner: Box<dyn std::error::Error + Send + Sync>) -> Error {
    let inner = match inner.downcast::<Error>() {
        Ok(error) => return *error,
        Err(inner) => inner,
    };
    let inner = match inner.downcast::<store::Error>() {
        Ok(error) => return (*error).into(),
        Err(inner) => inner,
    };
    let inner = match inner.downcast::<DataFusionError>() {
        Ok(error) => return (*error).into(),
        Err(inner) => inner,
    };
    let inner = match inner.downcast::<ArrowError>() {
        Ok(error) => return (*error).into(),
        Err(inner) => inner,
    };
    match inner.downcast::<io::Error>() {
        Ok(error) => of_file(error.to_string(), &error),
        Err(inner) => from_text(&inner.to_string()),
    }
}

/// What reading or writing a file fails with.
pub(crate) fn of_file(message: String, error: &io::Error) -> Error {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => disk_full(message),
        _ => Error::new(SqlState::IoError, message),
    }
}

fn disk_full(message: String) -> Error {
    Error::new(SqlState::DiskFull, message).with_hint(
        "Make room there. Rows that do not fit into memory go to the folder for temporary files (TMPDIR).",
    )
}

/// Whether a text that was an error of the system says that there is no room (ENOSPC).
fn is_of_full_disk(message: &str) -> bool {
    message.ends_with("(os error 28)")
}

fn schema_error(error: SchemaError) -> Error {
    match &error {
        SchemaError::FieldNotFound { field, valid_fields } => not_found(field, valid_fields),
        SchemaError::AmbiguousReference { field } => Error::new(
            SqlState::AmbiguousColumn,
            format!("column reference \"{}\" is ambiguous", field.name),
        ),
        SchemaError::DuplicateUnqualifiedField { name } => {
            Error::new(SqlState::DuplicateColumn, format!("column \"{name}\" appears twice"))
        }
        SchemaError::DuplicateQualifiedField { qualifier, .. } => Error::new(
            SqlState::DuplicateAlias,
            format!("table name \"{}\" specified more than once", qualifier.table()),
        ),
    }
}

fn object_store_error(error: &object_store::Error) -> Error {
    match error {
        object_store::Error::NotFound { path, .. } => {
            Error::new(SqlState::UndefinedFile, format!("file \"{path}\" does not exist"))
        }
        other => Error::new(SqlState::IoError, other.to_string()),
    }
}

/// Messages of the engine that have no type of their own, by what they say.
fn from_text(message: &str) -> Error {
    let message = plain(message);
    casts::of_text(&message)
        .or_else(|| unmatched::of_text(&message))
        .or_else(|| range::of_text(&message))
        .or_else(|| rules::of_text(&message))
        .unwrap_or_else(|| Error::new(state_of(&message), cleaned(&message)))
}

/// The code of a message that no rule knows.
fn state_of(message: &str) -> SqlState {
    let says = |text: &str| message.contains(text);
    if says("function '") {
        SqlState::UndefinedFunction
    } else if says("GROUP BY") || says("aggregate") && says("must") {
        SqlState::GroupingError
    } else if says("not found") && says("able '") {
        SqlState::UndefinedTable
    } else if says("verflow") || says("out of range") {
        SqlState::NumericValueOutOfRange
    } else if says("laceholder") {
        SqlState::UndefinedParameter
    } else if says("coerce") || says("ype mismatch") || says("common type") {
        SqlState::DatatypeMismatch
    } else if says("not supported") || says("nsupported") || says("not implemented") {
        SqlState::FeatureNotSupported
    } else if says("Error parsing timestamp") {
        SqlState::InvalidDatetimeFormat
    } else if says("No such file") || says("does not exist") {
        SqlState::UndefinedFile
    } else {
        SqlState::DataException
    }
}

/// A message without what the engine puts before and behind it.
fn plain(message: &str) -> String {
    const BEFORE: [&str; 8] = [
        "Error during planning: ",
        "Execution error: ",
        "Internal error: ",
        "Compute error: ",
        "Arrow error: ",
        "Invalid argument error: ",
        "This feature is not implemented: ",
        "External error: ",
    ];
    let mut message = message;
    while let Some(rest) = BEFORE.iter().find_map(|lead| message.strip_prefix(lead)) {
        message = rest;
    }
    message.trim_end_matches('.').to_owned()
}

/// A message that no rule knows, as far as it can be shown: types by their names, and no insides of the engine.
fn cleaned(message: &str) -> String {
    let (message, _) =
        message.split_once("\nThis issue was likely caused").unwrap_or((message, ""));
    let insides = message.find(" { ").map(|at| message[..at].rfind([':', ',', '(']).unwrap_or(at));
    type_names::replaced(message[..insides.unwrap_or(message.len())].trim())
}

/// An error of planning, with the place in the statement that the planner points at.
pub(crate) fn with_position(error: DataFusionError, text: &str) -> Error {
    let span = error.diagnostic().and_then(|diagnostic| diagnostic.span);
    let translated = Error::from(error);
    match span {
        Some(span) if translated.position().is_none() => {
            let location = Location { line: span.start.line, column: span.start.column };
            translated.at(Lines::new(text).character(location) + 1)
        }
        _ => translated,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_full_disk_is_one_however_the_error_has_come() {
        let full = || io::Error::from(ErrorKind::StorageFull);
        let arrow = || ArrowError::IoError("no room".to_owned(), full());
        let engine = || DataFusionError::ArrowError(Box::new(arrow()), None);
        let carried: [DataFusionError; 6] = [
            DataFusionError::IoError(full()),
            engine(),
            engine().context("rows between two bundles"),
            DataFusionError::Shared(Arc::new(engine())),
            DataFusionError::Shared(Arc::new(DataFusionError::IoError(full()))),
            DataFusionError::External(Box::new(arrow())),
        ];
        for error in carried {
            let text = format!("{error:?}");
            assert_eq!(Error::from(error).state(), SqlState::DiskFull, "{text}");
        }
        let other = io::Error::from(ErrorKind::PermissionDenied);
        assert_eq!(Error::from(DataFusionError::IoError(other)).state(), SqlState::IoError);
    }
}
