//! COPY between a table and the client: `COPY t FROM STDIN` and `COPY ... TO STDOUT`, in the
//! formats text, csv and binary.

mod input;
mod load;
mod output;

pub use input::CopyIn;
pub(crate) use input::{BATCHES_AHEAD, Piece, check_row_bytes};
pub use output::CopyOut;
pub(crate) use output::query;

use values::error::{Error, SqlState};

/// The error of a COPY in the other direction than its statement's.
pub(crate) fn wrong_direction() -> Error {
    Error::new(SqlState::SyntaxError, "the COPY statement has the other direction")
}
