//! COPY between a table and the client: `COPY t FROM STDIN` and `COPY ... TO STDOUT`, in the
//! formats text, csv and binary.

mod assembler;
mod binary;
mod csv;
mod input;
mod load;
mod output;
mod rows_of_text;
mod rows_of_values;
mod text;

pub use input::CopyIn;
pub use output::CopyOut;
pub(crate) use output::query;

use values::error::{Error, SqlState};

/// The error of a COPY in the other direction than its statement's.
pub(crate) fn wrong_direction() -> Error {
    Error::new(SqlState::SyntaxError, "the COPY statement has the other direction")
}
