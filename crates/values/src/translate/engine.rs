//! Errors of the engine and of Arrow.

use super::columns::schema_error;
use super::files::{disk_full, is_of_full_disk, object_store_error, of_file};
use super::message::from_text;
use super::range;
use crate::error::{Error, SqlState};
use datafusion::arrow::error::ArrowError;
use datafusion::common::DataFusionError;
use std::io;

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
            E::NotImplemented(message) => unsupported(&message),
            E::ResourcesExhausted(message) => Self::new(SqlState::OutOfMemory, message)
                .with_hint("Make the query smaller, or start with a larger --memory."),
            E::IoError(error) => of_file(error.to_string(), &error),
            E::ObjectStore(error) => object_store_error(&error),
            E::ParquetError(error) => Self::new(SqlState::BadCopyFileFormat, error.to_string()),
            E::ExecutionJoin(error) if error.is_panic() => panicked(),
            E::Plan(message) => from_text(&message),
            E::Execution(message) | E::Configuration(message) => from_text(&message),
            other => from_text(&other.strip_backtrace()),
        }
    }
}

/// A feature that the engine does not implement, unless a rule translates the message.
fn unsupported(message: &str) -> Error {
    let known = from_text(message);
    match known.state() {
        SqlState::DataException => Error::unsupported(known.message()),
        _ => known,
    }
}

/// An error that several parts of a plan share.
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
        DataFusionError::ExecutionJoin(error) if error.is_panic() => panicked(),
        other => from_text(&other.strip_backtrace()),
    }
}

/// A panic of the engine. The log has its message.
fn panicked() -> Error {
    Error::new(SqlState::InternalError, "the statement ended early; the log says why")
}

/// A boxed error of any of the known types.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;
    use std::sync::Arc;

    #[test]
    fn a_full_disk_is_recognized_in_every_wrapper() {
        let full = || io::Error::from(ErrorKind::StorageFull);
        let arrow = || ArrowError::IoError("no room".to_owned(), full());
        let engine = || DataFusionError::ArrowError(Box::new(arrow()), None);
        let carried: [DataFusionError; 6] = [
            DataFusionError::IoError(full()),
            engine(),
            engine().context("rows between two plan fragments"),
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
