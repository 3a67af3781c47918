//! Errors of the analyzer as errors of statements.

use values::error::{Error, SqlState};

/// An error with a byte position in `text`, as one with a position in characters.
pub(super) fn of_analyzer(error: analyzer::Error, text: &str) -> Error {
    let state = SqlState::of_code(error.state).unwrap_or(SqlState::InternalError);
    let mut converted = Error::new(state, error.message);
    if let Some(before) = error.position.and_then(|byte| text.get(..byte)) {
        converted = converted.at(before.chars().count() + 1);
    }
    if let Some(detail) = error.detail {
        converted = converted.with_detail(detail);
    }
    if let Some(hint) = error.hint {
        converted = converted.with_hint(hint);
    }
    converted
}
