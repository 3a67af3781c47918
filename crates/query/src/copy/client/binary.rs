//! COPY's binary format: a signature, then each row as a count and its values with their lengths.

use crate::values::binary::read;
use crate::values::error::{Error, Result, SqlState};
use bytes::Buf;
use datafusion::common::ScalarValue;
use store::catalog::SqlType;

pub(super) const SIGNATURE: &[u8; 11] = b"PGCOPY\n\xff\r\n\0";
/// Flags and the length of a header extension, both none.
pub(super) const HEADER: [u8; 8] = [0; 8];
/// In the place of a row's count: there are no more rows.
pub(super) const TRAILER: i16 = -1;
/// Flags that a reader must know: row ids are not to be had.
const CRITICAL_FLAGS: u32 = 0xffff_0000;

/// Reads rows.
pub(super) struct Reader {
    types: Vec<SqlType>,
    begun: bool,
    ended: bool,
}

fn bad(message: impl Into<String>) -> Error {
    Error::new(SqlState::BadCopyFileFormat, message)
}

impl Reader {
    pub(super) fn new(types: Vec<SqlType>) -> Self {
        Self { types, begun: false, ended: false }
    }

    /// Reads the complete rows of some bytes; how many bytes they were. `out` takes each with its own.
    pub(super) fn read(
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

    /// Nothing may be missing at the end.
    pub(super) fn finish(&self, rest: &[u8]) -> Result<()> {
        match self.ended || self.begun && rest.is_empty() {
            true => Ok(()),
            false => Err(bad("unexpected end of COPY data")),
        }
    }

    /// A row, or the end, and its length; `None` where not all of it is there.
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
                Err(_) if length == -1 => ScalarValue::try_from(sql_type.arrow())?,
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
