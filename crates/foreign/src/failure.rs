//! The errors of calls.

use crate::definition::Definition;
use std::fmt::Display;
use values::error::{Error, Result, SqlState};

/// A program that has failed by itself (38000).
pub(crate) fn raised(definition: &Definition, what: &str) -> Error {
    let message = format!("function {}: {what}", definition.name);
    Error::new(SqlState::ExternalRoutineException, message)
}

/// A program that wants more memory than it may have (53200).
pub(crate) fn out_of_memory(name: &str, limit: usize) -> Error {
    let message = format!("function {name} needs more memory than it may have");
    Error::new(SqlState::OutOfMemory, message)
        .with_detail(format!("A call may use {} MiB.", limit >> 20))
}

/// A value that is none of the declared type (22P02).
pub(crate) fn no_value(definition: &Definition, of: impl Display, what: &str) -> Error {
    let message = format!("function {} returned {what}, which is no {of}", definition.name);
    Error::new(SqlState::InvalidTextRepresentation, message)
}

/// A definition that cannot be (42P13).
pub(crate) fn invalid(message: impl Into<String>) -> Error {
    Error::new(SqlState::InvalidFunctionDefinition, message)
}

/// Refuses texts with zero bytes, which PostgreSQL does not have (22021).
pub(crate) fn require_no_zero(text: &str) -> Result<()> {
    if text.contains('\0') {
        let message = "invalid byte sequence for encoding \"UTF8\": 0x00";
        return Err(Error::new(SqlState::CharacterNotInRepertoire, message));
    }
    Ok(())
}
