//! Splitting received bytes into messages, without decoding them.
//!
//! A declared length is checked, but nothing is allocated from it.

use crate::error::{ProtocolError, violation};
use bytes::{Buf, Bytes, BytesMut};

/// Bytes of a message's length field, which counts itself.
const LENGTH_BYTES: usize = 4;
/// Maximum length of a message before a session has begun, in bytes.
pub const STARTUP_BYTES_MAX: usize = 10_000;

/// Bytes that a read may return, initially and at most.
const ROOM_BYTES_MIN: usize = 2 << 10;
const ROOM_BYTES_MAX: usize = 64 << 10;

/// Received bytes that are not yet handled.
#[derive(Debug)]
pub struct Frames {
    buffer: BytesMut,
    /// Maximum length of a message, in bytes.
    pub limit: usize,
    /// Bytes that the next read may return.
    room: usize,
    /// The buffer is larger than current reads need.
    is_large: bool,
}

/// A message: its type byte and the bytes after the length.
pub type Frame = (u8, Bytes);

impl Frames {
    /// An empty buffer with the limit for first messages.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        let (buffer, limit, room) = (BytesMut::new(), STARTUP_BYTES_MAX, ROOM_BYTES_MIN);
        Self { buffer, limit, room, is_large: false }
    }

    /// The buffer for received bytes, with room for them. An idle connection has a small buffer;
    /// one that receives much is read in large pieces.
    pub fn buffer(&mut self) -> &mut BytesMut {
        if self.is_large && self.buffer.is_empty() {
            (self.buffer, self.is_large) = (BytesMut::new(), false);
        }
        self.buffer.reserve(self.room);
        &mut self.buffer
    }

    /// Records the number of bytes received. It determines the size of the next read.
    pub fn received(&mut self, bytes: usize) {
        if bytes >= self.room {
            self.room = (self.room * 2).min(ROOM_BYTES_MAX);
        } else if bytes < self.room / 4 {
            self.is_large |= self.room > ROOM_BYTES_MIN;
            self.room = (self.room / 2).max(ROOM_BYTES_MIN);
        }
    }

    /// Number of received bytes that are not yet handled.
    pub fn waiting(&self) -> usize {
        self.buffer.len()
    }

    /// Whether all received bytes are handled.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// Allocated bytes of the buffer.
    pub(crate) fn room(&self) -> usize {
        self.buffer.capacity()
    }

    /// The next message without a type byte, as used before a session has begun.
    ///
    /// # Errors
    /// An invalid length.
    pub fn next_untyped(&mut self) -> Result<Option<Bytes>, ProtocolError> {
        match self.length_at(0)? {
            Some(length) => Ok(Some(self.take(0, length))),
            None => Ok(None),
        }
    }

    /// The next message.
    ///
    /// # Errors
    /// An invalid length.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<Frame>, ProtocolError> {
        let Some(length) = self.length_at(1)? else { return Ok(None) };
        let kind = self.buffer[0];
        Ok(Some((kind, self.take(1, length))))
    }

    /// The type of the next message if it is complete.
    pub fn peek(&self) -> Option<u8> {
        match self.length_at(1) {
            Ok(Some(_)) => self.buffer.first().copied(),
            _ => None,
        }
    }

    /// The length of the message whose length field is at an offset; `None` if the message is
    /// incomplete.
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
    use crate::message::Message;
    use proptest::prelude::*;

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

    /// Decodes all messages up to the first error, which ends a connection.
    fn decode_all(bytes: &[u8]) -> Result<Vec<Message>, ProtocolError> {
        let mut frames = frames(bytes);
        frames.limit = 1 << 30;
        let mut messages = Vec::new();
        while let Some((kind, body)) = frames.next()? {
            messages.push(Message::decode(kind, body)?);
        }
        assert!(frames.buffer.capacity() <= bytes.len() + ROOM_BYTES_MIN, "no length is believed");
        Ok(messages)
    }

    /// Messages of every type, some with damaged bytes.
    fn conversation() -> impl Strategy<Value = Vec<u8>> {
        let body =
            prop::collection::vec(prop_oneof![Just(0u8), Just(1), Just(0xff), any::<u8>()], 0..40);
        let kind = prop::sample::select(b"QPBDECHSdcfXF?".to_vec());
        let honest = (kind, body).prop_map(|(kind, body)| {
            let length = u32::try_from(body.len() + 4).expect("short").to_be_bytes();
            [&[kind][..], &length, &body].concat()
        });
        let damage = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3);
        (prop::collection::vec(honest, 1..8), damage).prop_map(|(messages, damage)| {
            let mut bytes = messages.concat();
            for (place, byte) in damage {
                let at = place.index(bytes.len());
                bytes[at] = byte;
            }
            bytes
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_bytes_make_the_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode_all(&bytes);
            let _ = frames(&bytes).next_untyped();
        }

        #[test]
        fn damaged_and_truncated_conversations_decode_to_a_beginning(bytes in conversation()) {
            let whole = decode_all(&bytes);
            for end in 0..bytes.len() {
                match (decode_all(&bytes[..end]), &whole) {
                    (Ok(part), Ok(whole)) => prop_assert!(whole.starts_with(&part)),
                    (Err(_), Ok(_)) => prop_assert!(false, "an error that more bytes heal"),
                    (_, Err(_)) => {}
                }
            }
        }
    }
}
