//! The parts of an answer to a statement.

use crate::error::SqlError;
use crate::output::{Done, Rows};
use bytes::Bytes;
use futures::stream::BoxStream;

/// A part of the answer to a statement.
pub(crate) enum Answer<'a> {
    /// Rows, which must be read before the next answer.
    Rows(Rows<'a>),
    /// A completed command.
    Done(Done),
    /// A notice.
    Notice(SqlError),
    /// COPY waits for data.
    CopyIn,
    /// COPY's data, which must be read before the next answer.
    CopyOut(BoxStream<'a, Result<Bytes, SqlError>>),
}
