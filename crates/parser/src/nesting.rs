//! The error for what nests too deep.

use values::error::{Error, SqlState};

/// The error for a statement that is too deep.
pub fn exceeded(hint: impl Into<String>) -> Error {
    Error::new(SqlState::StatementTooComplex, "stack depth limit exceeded").with_hint(hint)
}
