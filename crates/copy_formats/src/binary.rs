//! The binary format of COPY: a header, then rows. A row is its number of values, then each value
//! with its length.

use bytes::Buf;
use datafusion::common::ScalarValue;
use store::catalog::SqlType;
use values::binary::read;
use values::error::{Error, Result, SqlState};

/// The first bytes of the header.
pub(crate) const SIGNATURE: &[u8; 11] = b"PGCOPY\n\xff\r\n\0";
/// The rest of the header: flags and the length of the header extension, both zero.
pub(crate) const HEADER: [u8; 8] = [0; 8];
/// The end of the rows, in place of a row's number of values.
pub(crate) const TRAILER: i16 = -1;
/// Flags that a reader must support; none is supported.
const CRITICAL_FLAGS: u32 = 0xffff_0000;

/// Reads rows.
pub(crate) struct Reader {
    types: Vec<SqlType>,
    /// Whether the header has been read.
    begun: bool,
    /// Whether the trailer has been read.
    ended: bool,
}

fn bad(message: impl Into<String>) -> Error {
    Error::new(SqlState::BadCopyFileFormat, message)
}

impl Reader {
    /// A reader of rows with values of these types.
    pub(crate) fn new(types: Vec<SqlType>) -> Self {
        Self { types, begun: false, ended: false }
    }

    /// Reads the complete rows of `bytes` and returns the number of bytes read. Passes each row and
    /// its length in bytes to `out`.
    ///
    /// # Errors
    /// 22P04 for invalid data.
    pub(crate) fn read(
        &mut self,
        bytes: &[u8],
        mut out: impl FnMut(Vec<ScalarValue>, usize),
    ) -> Result<usize> {
        let mut used = 0;
        if !self.begun {
            let Some(header) = header(bytes)? else { return Ok(0) };
            used = header;
            self.begun = true;
        }
        while !self.ended {
            let Some((row, length)) = self.row(&bytes[used..])? else { return Ok(used) };
            used += length;
            match row {
                Some(row) => out(row, length),
                None => self.ended = true,
            }
        }
        Ok(bytes.len())
    }

    /// Checks the end of the data. `rest` is what has not been read.
    ///
    /// # Errors
    /// 22P04 if the last row is incomplete.
    pub(crate) fn finish(&self, rest: &[u8]) -> Result<()> {
        if self.ended || self.begun && rest.is_empty() {
            Ok(())
        } else {
            Err(bad("unexpected end of COPY data"))
        }
    }

    /// The next row and its length in bytes; `None` for an incomplete row. `None` in place of the
    /// row is the trailer.
    fn row(&self, bytes: &[u8]) -> Result<Option<(Option<Vec<ScalarValue>>, usize)>> {
        let mut rest = bytes;
        let Ok(count) = rest.try_get_i16() else { return Ok(None) };
        if count == TRAILER {
            return Ok(Some((None, 2)));
        }
        if usize::try_from(count) != Ok(self.types.len()) {
            let message = format!("row field count is {count}, expected {}", self.types.len());
            return Err(bad(message));
        }
        let mut row = Vec::with_capacity(self.types.len());
        for sql_type in &self.types {
            let Ok(length) = rest.try_get_i32() else { return Ok(None) };
            row.push(match usize::try_from(length) {
                Err(_) if length == -1 => ScalarValue::try_from(sql_type.sent().arrow())?,
                Err(_) => return Err(bad(format!("invalid field size {length}"))),
                Ok(length) if length > rest.len() => return Ok(None),
                Ok(length) => {
                    let (value, after) = rest.split_at(length);
                    rest = after;
                    read(value, sql_type)?
                }
            });
        }
        Ok(Some((Some(row), bytes.len() - rest.len())))
    }
}

/// The length of the header; `None` if it is incomplete.
fn header(bytes: &[u8]) -> Result<Option<usize>> {
    let known = SIGNATURE.len().min(bytes.len());
    if bytes[..known] != SIGNATURE[..known] {
        return Err(bad("COPY file signature not recognized"));
    }
    let Some(mut rest) = bytes.get(SIGNATURE.len()..) else { return Ok(None) };
    let (Ok(flags), Ok(extension)) = (rest.try_get_u32(), rest.try_get_u32()) else {
        return Ok(None);
    };
    if flags & CRITICAL_FLAGS != 0 {
        return Err(bad(format!("unrecognized critical flags {flags:#x} in COPY file header")));
    }
    let length = SIGNATURE.len() + HEADER.len() + extension as usize;
    Ok((bytes.len() >= length).then_some(length))
}
