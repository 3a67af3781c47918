//! COPY between a table and the client: `COPY t FROM STDIN` and `COPY ... TO STDOUT`, in PostgreSQL's three formats.

mod assembler;
mod binary;
mod csv;
mod input;
mod output;
mod rows_of_text;
mod rows_of_values;
mod text;

pub(crate) use assembler::Assembler;
pub use input::CopyIn;
pub(crate) use input::{Loaded, Piece, evicted};
pub use output::CopyOut;

use crate::values::error::{Error, SqlState};

/// COPY in a direction that its statement does not have.
pub(super) fn wrong_direction() -> Error {
    Error::new(SqlState::SyntaxError, "COPY goes the other way")
}
