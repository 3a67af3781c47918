//! COPY between a table and the client: `COPY t FROM STDIN` and `COPY ... TO STDOUT`, in the
//! formats text, csv and binary.

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
// `evicted` is the name in `session/copying.rs`.
pub(crate) use input::{Loaded, Piece, canceled as evicted};
pub use output::CopyOut;

use values::error::{Error, SqlState};

/// The error for a COPY statement of the other direction.
pub(super) fn wrong_direction() -> Error {
    Error::new(SqlState::SyntaxError, "the COPY statement has the other direction")
}
