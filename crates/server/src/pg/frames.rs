//! Messages cut out of what has been received, before anybody looks at what they say.
//!
//! A declared length is checked and waited for; nothing is allocated from it.

use super::error::{ProtocolError, violation};
use bytes::{Buf, Bytes, BytesMut};

/// Bytes of a message's length field, which counts itself.
const LENGTH_BYTES: usize = 4;
/// The longest message before a session has begun, in bytes.
pub(crate) const STARTUP_BYTES_MAX: usize = 10_000;

/// What has been received and not yet been handled.
#[derive(Debug)]
pub(crate) struct Frames {
    buffer: BytesMut,
    /// Bytes that a message may have.
    pub(crate) limit: usize,
}

/// A message: its type byte and what follows the length.
pub(crate) type Frame = (u8, Bytes);

impl Frames {
    pub(crate) fn new() -> Self {
        Self { buffer: BytesMut::with_capacity(8 << 10), limit: STARTUP_BYTES_MAX }
    }

    /// Where received bytes are put.
    pub(crate) fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// The next message without a type byte, as they are before a session has begun.
    pub(crate) fn next_untyped(&mut self) -> Result<Option<Bytes>, ProtocolError> {
        match self.length_at(0)? {
            Some(length) => Ok(Some(self.take(0, length))),
            None => Ok(None),
        }
    }

    /// The next message.
    pub(crate) fn next(&mut self) -> Result<Option<Frame>, ProtocolError> {
        let Some(length) = self.length_at(1)? else { return Ok(None) };
        let kind = self.buffer[0];
        Ok(Some((kind, self.take(1, length))))
    }

    /// The type of the next message, where all of it has come.
    pub(crate) fn peek(&self) -> Option<u8> {
        match self.length_at(1) {
            Ok(Some(_)) => self.buffer.first().copied(),
            _ => None,
        }
    }

    /// The length of the message whose length field stands at an offset, once all of it has come.
    fn length_at(&self, offset: usize) -> Result<Option<usize>, ProtocolError> {
        let Some(field) = self.buffer.get(offset..offset + LENGTH_BYTES) else { return Ok(None) };
        let length = u32::from_be_bytes([field[0], field[1], field[2], field[3]]) as usize;
        if length < LENGTH_BYTES {
            return Err(violation(format!("invalid message length {length}")));
        }
        if length > self.limit {
            let limit = self.limit;
            return Err(violation(format!(
                "message of {length} bytes is above the limit of {limit}"
            )));
        }
        Ok((self.buffer.len() >= offset + length).then_some(length))
    }

    fn take(&mut self, offset: usize, length: usize) -> Bytes {
        self.buffer.advance(offset + LENGTH_BYTES);
        self.buffer.split_to(length - LENGTH_BYTES).freeze()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(bytes: &[u8]) -> Frames {
        let mut frames = Frames::new();
        frames.buffer().extend_from_slice(bytes);
        frames
    }

    #[test]
    fn messages_come_out_whole_and_in_order() {
        let mut frames = frames(b"Q\0\0\0\x06a\0S\0\0\0\x04X\0\0");
        assert_eq!(frames.peek(), Some(b'Q'));
        assert_eq!(frames.next().expect("fine"), Some((b'Q', Bytes::from_static(b"a\0"))));
        assert_eq!(frames.next().expect("fine"), Some((b'S', Bytes::new())));
        assert_eq!(frames.peek(), None);
        assert_eq!(frames.next().expect("not yet"), None);
    }

    #[test]
    fn lengths_that_cannot_be_are_refused_at_once() {
        assert!(frames(b"Q\0\0\0\x03").next().is_err(), "shorter than its own length field");
        assert!(frames(b"Q\x7f\xff\xff\xff").next().is_err(), "a giant");
        assert!(frames(b"Q\xff\xff\xff\xff").next().is_err(), "negative");
        assert!(frames(b"\0\0\x80\0").next_untyped().is_err(), "a giant before the session");
    }
}
