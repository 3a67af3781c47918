//! Errors of the engine and of the store, as errors with a SQLSTATE.

use crate::error::{Error, SqlState};
use crate::parse::Lines;
use datafusion::arrow::error::ArrowError;
use datafusion::common::{DataFusionError, SchemaError};
use datafusion::sql::sqlparser::tokenizer::Location;

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        use store::Error as E;
        let message = error.to_string();
        match error {
            E::DuplicateKey { key, .. } => Self::new(SqlState::UniqueViolation, message)
                .with_detail(format!("Key {key} already exists.")),
            E::Conflict { table, key } => Self::new(SqlState::SerializationFailure, message)
                .with_detail(format!("Table \"{table}\", key {key}."))
                .with_hint("Run the transaction again."),
            E::SchemaConflict { .. } => Self::new(SqlState::SerializationFailure, message)
                .with_hint("Run the transaction again."),
            E::OutOfMemory { .. } => Self::new(SqlState::OutOfMemory, message).with_hint(
                "Delete rows, or start with a larger --memory. Nothing was changed by this statement.",
            ),
            E::ValueTooLarge { .. } => Self::new(SqlState::ProgramLimitExceeded, message),
            E::NullKey { .. } => Self::new(SqlState::NotNullViolation, message),
            E::KeyType { .. } => Self::new(SqlState::InvalidTableDefinition, message),
            E::RelationExists { .. } => Self::new(SqlState::DuplicateTable, message),
            E::RelationMissing { .. } => Self::new(SqlState::UndefinedTable, message),
            E::SchemaExists { .. } => Self::new(SqlState::DuplicateSchema, message),
            E::SchemaMissing { .. } => Self::new(SqlState::InvalidSchemaName, message),
            E::SchemaNotEmpty { .. } => {
                Self::new(SqlState::DependentObjectsStillExist, message)
                    .with_hint("Use DROP ... CASCADE to drop what it holds too.")
            }
            E::ReservedName { .. } => Self::new(SqlState::ReservedName, message),
            E::SequenceExhausted { .. } => {
                Self::new(SqlState::SequenceGeneratorLimitExceeded, message)
            }
            E::Arrow(error) => error.into(),
        }
    }
}

impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::ExternalError(inner) => match inner.downcast::<Error>() {
                Ok(error) => *error,
                Err(inner) => from_text(&inner.to_string()),
            },
            ArrowError::DivideByZero => Self::new(SqlState::DivisionByZero, "division by zero"),
            ArrowError::ArithmeticOverflow(message) => {
                Self::new(SqlState::NumericValueOutOfRange, message)
            }
            ArrowError::CastError(message) => cast_error(&message),
            ArrowError::ParseError(message) => {
                Self::new(SqlState::InvalidTextRepresentation, message)
            }
            ArrowError::CsvError(message) => Self::new(SqlState::BadCopyFileFormat, message),
            ArrowError::JsonError(message) => Self::new(SqlState::BadCopyFileFormat, message),
            ArrowError::IoError(message, _) => Self::new(SqlState::IoError, message),
            other => from_text(&other.to_string()),
        }
    }
}

impl From<DataFusionError> for Error {
    fn from(error: DataFusionError) -> Self {
        use DataFusionError as E;
        match error {
            E::ArrowError(error, _) => (*error).into(),
            E::External(inner) => match inner.downcast::<Self>() {
                Ok(error) => *error,
                Err(inner) => match inner.downcast::<store::Error>() {
                    Ok(error) => (*error).into(),
                    Err(inner) => from_text(&inner.to_string()),
                },
            },
            E::Context(_, inner) => (*inner).into(),
            E::Diagnostic(_, inner) => (*inner).into(),
            E::Shared(inner) => shared(&inner),
            E::Collection(mut errors) if !errors.is_empty() => errors.swap_remove(0).into(),
            E::SchemaError(error, _) => schema_error(*error),
            E::SQL(error, _) => Self::new(
                SqlState::SyntaxError,
                error.to_string().replace("sql parser error: ", ""),
            ),
            E::NotImplemented(message) => Self::unsupported(message),
            E::ResourcesExhausted(message) => Self::new(SqlState::OutOfMemory, message)
                .with_hint("Make the query smaller, or start with a larger --memory."),
            E::IoError(error) => Self::new(SqlState::IoError, error.to_string()),
            E::ObjectStore(error) => object_store_error(&error),
            E::ParquetError(error) => Self::new(SqlState::BadCopyFileFormat, error.to_string()),
            E::Plan(message) => from_text(&message),
            E::Execution(message) | E::Configuration(message) => from_text(&message),
            other => from_text(&other.strip_backtrace()),
        }
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
        DataFusionError::ArrowError(error, _) => match &**error {
            ArrowError::DivideByZero => ArrowError::DivideByZero.into(),
            ArrowError::CastError(message) => cast_error(message),
            ArrowError::ArithmeticOverflow(message) => {
                Error::new(SqlState::NumericValueOutOfRange, message.clone())
            }
            other => from_text(&other.to_string()),
        },
        other => from_text(&other.strip_backtrace()),
    }
}

/// The engine's planner as an error carrier of ours.
pub(crate) fn external(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

fn schema_error(error: SchemaError) -> Error {
    match &error {
        SchemaError::FieldNotFound { field, valid_fields } => {
            let name = match &field.relation {
                Some(relation) => format!("{relation}.{}", field.name),
                None => format!("\"{}\"", field.name),
            };
            let error =
                Error::new(SqlState::UndefinedColumn, format!("column {name} does not exist"));
            let near = valid_fields.iter().find(|valid| {
                datafusion::common::utils::datafusion_strsim::levenshtein(&valid.name, &field.name)
                    <= 2
            });
            match near {
                Some(near) => {
                    error.with_hint(format!("Perhaps you meant \"{}\".", near.flat_name()))
                }
                None => error,
            }
        }
        SchemaError::AmbiguousReference { field } => Error::new(
            SqlState::AmbiguousColumn,
            format!("column reference \"{}\" is ambiguous", field.name),
        ),
        SchemaError::DuplicateUnqualifiedField { name } => {
            Error::new(SqlState::DuplicateColumn, format!("column \"{name}\" appears twice"))
        }
        SchemaError::DuplicateQualifiedField { .. } => {
            Error::new(SqlState::DuplicateColumn, error.to_string())
        }
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

fn cast_error(message: &str) -> Error {
    let out_of_range = ["Can't cast value", "is too large to store", "overflow", "out of range"];
    let state = if out_of_range.iter().any(|text| message.contains(text)) {
        SqlState::NumericValueOutOfRange
    } else if message.contains("Date") || message.contains("Timestamp") || message.contains("Time")
    {
        SqlState::InvalidDatetimeFormat
    } else {
        SqlState::InvalidTextRepresentation
    };
    Error::new(state, message)
}

/// Messages of the engine that have no type of their own, by what they say.
fn from_text(message: &str) -> Error {
    let says = |text: &str| message.contains(text);
    let state = if says("Invalid function") || says("No function matches") || says("function '") {
        SqlState::UndefinedFunction
    } else if says("in GROUP BY") || says("GROUP BY clause") || says("aggregate") && says("must") {
        SqlState::GroupingError
    } else if says("not found") && says("able '") {
        SqlState::UndefinedTable
    } else if says("Divide by zero") || says("divide by zero") {
        return Error::new(SqlState::DivisionByZero, "division by zero");
    } else if says("verflow") || says("out of range") {
        SqlState::NumericValueOutOfRange
    } else if says("Placeholder") || says("placeholder") {
        SqlState::UndefinedParameter
    } else if says("more than one row") {
        SqlState::CardinalityViolation
    } else if says("Cannot cast") || says("cannot be cast") {
        SqlState::InvalidTextRepresentation
    } else if says("coerce")
        || says("ype mismatch")
        || says("Cannot infer common")
        || says("common type")
    {
        SqlState::DatatypeMismatch
    } else if says("not supported") || says("nsupported") || says("not implemented") {
        SqlState::FeatureNotSupported
    } else if says("Internal error") {
        SqlState::InternalError
    } else if says("Error parsing timestamp") {
        SqlState::InvalidDatetimeFormat
    } else if says("No such file") || says("does not exist") {
        SqlState::UndefinedFile
    } else {
        SqlState::DataException
    };
    Error::new(state, message.strip_prefix("Error during planning: ").unwrap_or(message))
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
