//! Decodes a server's messages: frames, and the messages with more than one value.
//!
//! A malformed message decodes to `None`, and ends the connection.

use crate::error::SqlError;
use bytes::{Buf, Bytes, BytesMut};
use std::io;

/// Bytes of the header: a tag, and the length of the rest.
const HEADER_BYTES: usize = 5;
/// PostgreSQL's limit for a message.
const BODY_BYTES_MAX: usize = 1 << 30;

/// A message.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub(super) tag: u8,
    pub(super) body: Bytes,
}

/// A column of a RowDescription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Described {
    /// Name.
    pub name: String,
    /// Object id of its type.
    pub type_id: u32,
    /// Type modifier, like a length or a precision; -1 for none.
    pub modifier: i32,
}

/// Takes the first frame, if it is complete.
pub(super) fn take(incoming: &mut BytesMut) -> io::Result<Option<Frame>> {
    let Some([tag, length @ ..]) = incoming.first_chunk::<HEADER_BYTES>() else { return Ok(None) };
    let tag = *tag;
    let length = usize::try_from(i32::from_be_bytes(*length)).ok();
    let Some(length) = length.filter(|length| (4..=BODY_BYTES_MAX).contains(length)) else {
        return Err(malformed("the length of a message"));
    };
    if incoming.len() <= length {
        incoming.reserve(length + 1 - incoming.len());
        return Ok(None);
    }
    let mut body = incoming.split_to(length + 1).freeze();
    body.advance(HEADER_BYTES);
    Ok(Some(Frame { tag, body }))
}

/// The error of a malformed message.
pub(super) fn malformed(what: &str) -> io::Error {
    let message = format!("the server sent {what} that violates PostgreSQL's protocol");
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// Text up to a zero byte.
pub(super) fn text(body: &mut Bytes) -> Option<String> {
    let end = body.iter().position(|byte| *byte == 0)?;
    let text = body.split_to(end);
    body.advance(1);
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// The columns of a RowDescription.
pub(super) fn columns(mut body: Bytes) -> Option<Vec<Described>> {
    let count = body.try_get_u16().ok()?;
    (0..count)
        .map(|_| {
            let name = text(&mut body)?;
            let _table = body.try_get_u32().ok()?;
            let _number = body.try_get_i16().ok()?;
            let type_id = body.try_get_u32().ok()?;
            let _size = body.try_get_i16().ok()?;
            let modifier = body.try_get_i32().ok()?;
            let _format = body.try_get_i16().ok()?;
            Some(Described { name, type_id, modifier })
        })
        .collect()
}

/// Calls `take` with each value of a DataRow, and returns their number.
pub(crate) fn values<'a>(
    mut body: &'a [u8],
    mut take: impl FnMut(usize, Option<&'a [u8]>) -> Option<()>,
) -> Option<usize> {
    let count = usize::from(body.try_get_u16().ok()?);
    for index in 0..count {
        match usize::try_from(body.try_get_i32().ok()?) {
            Ok(length) => {
                let (value, rest) = body.split_at_checked(length)?;
                take(index, Some(value))?;
                body = rest;
            }
            Err(_) => take(index, None)?,
        }
    }
    Some(count)
}

/// Decodes an ErrorResponse or a NoticeResponse.
pub(super) fn sql_error(mut body: Bytes) -> Option<SqlError> {
    let mut error = SqlError::new("", "");
    loop {
        let field = body.try_get_u8().ok()?;
        if field == 0 {
            return Some(error);
        }
        let value = text(&mut body)?;
        match field {
            // V is never translated, and follows S.
            b'S' | b'V' => error.severity = value,
            b'C' => error.code = value,
            b'M' => error.message = value,
            b'D' => error.detail = Some(value),
            b'H' => error.hint = Some(value),
            b'W' => error.context = Some(value),
            b'P' => error.position = value.parse().ok(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_taken_when_they_are_complete() {
        let mut incoming = BytesMut::from(&b"Z\0\0\0\x05IC\0\0"[..]);
        let frame = take(&mut incoming).expect("well formed").expect("whole");
        assert_eq!((frame.tag, &frame.body[..]), (b'Z', &b"I"[..]));
        assert!(take(&mut incoming).expect("not yet wrong").is_none());
        for wrong in [&b"Z\0\0\0\x03"[..], b"Z\xff\xff\xff\xff", b"Z\x7f\xff\xff\xff"] {
            assert!(take(&mut BytesMut::from(wrong)).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn errors_have_their_parts() {
        let body = Bytes::from_static(b"SFEHLER\0VERROR\0C42601\0Mbad\0P7\0Xnew\0\0");
        let error = sql_error(body).expect("well formed");
        assert_eq!((error.to_string().as_str(), error.position), ("ERROR 42601: bad", Some(7)));
        assert_eq!(super::sql_error(Bytes::from_static(b"Mbad")), None);
    }

    #[test]
    fn values_beyond_the_message_are_malformed() {
        let mut seen = Vec::new();
        let row = b"\0\x02\0\0\0\x01a\xff\xff\xff\xff";
        let count = values(row, |_, value| {
            seen.push(value);
            Some(())
        });
        assert_eq!((count, seen), (Some(2), vec![Some(&b"a"[..]), None]));
        assert_eq!(values(b"\0\x01\0\0\0\x05a", |_, _| Some(())), None);
        assert_eq!(columns(Bytes::from_static(b"\0\x01name\0\0")), None);
    }
}
