//! What goes over a connection once it is open: frames, pure bytes in and out.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | length of the payload, at most [`MESSAGE_BYTES_MAX`] |
//! | 4 | CRC-32 of the length and of all that follows |
//! | 8 | number of the call; numbers grow by one within a connection, and are never used again |
//! | 1 | [`Kind`] |
//! | length | payload |
//!
//! Numbers are little-endian. Nothing is allocated for a declared length: a frame is cut out of what has come. After
//! a frame that is not right nothing on the connection can be trusted, so that the connection ends.

use super::MESSAGE_BYTES_MAX;
use bytes::{Buf, Bytes, BytesMut};

/// Bytes of a frame before its payload.
pub(super) const HEADER_BYTES: usize = 17;

/// Payloads up to here are copied out of the read buffer, which can then be used again.
const COPIED_BYTES_MAX: usize = 4 << 10;

const _: () = assert!(MESSAGE_BYTES_MAX <= u32::MAX as usize);

/// What a frame asks for or says. The ordinals are the protocol: they are never given to another kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Caller: begins a call; the payload is the request.
    Request = 1,
    /// Server: an answer. It uses up one credit.
    Answer = 2,
    /// Server: the last answer; the call has ended.
    LastAnswer = 3,
    /// Server: the call has ended without another answer.
    End = 4,
    /// Server: the call has gone wrong and ended; the payload says how, as text.
    Failed = 5,
    /// Server: the call was not begun; the payload says why, as text.
    Declined = 6,
    /// Caller: nobody waits for more answers. May cross the call's end.
    Cancel = 7,
    /// Caller: the reader has taken so many answers (4 bytes); as many more may be sent. May cross the call's end.
    Credit = 8,
    /// Server: no call with a higher number has been begun or will be; those that run go on to their ends.
    Goodbye = 9,
    /// Either: says that it is there when asked. The call's number is 0.
    Ping = 10,
    /// Either: the answer to a ping.
    Pong = 11,
    /// Caller: begins a call, as a request does, with one credit instead of all.
    PulledRequest = 12,
}

impl Kind {
    fn from_ordinal(ordinal: u8) -> Option<Self> {
        Some(match ordinal {
            1 => Self::Request,
            2 => Self::Answer,
            3 => Self::LastAnswer,
            4 => Self::End,
            5 => Self::Failed,
            6 => Self::Declined,
            7 => Self::Cancel,
            8 => Self::Credit,
            9 => Self::Goodbye,
            10 => Self::Ping,
            11 => Self::Pong,
            12 => Self::PulledRequest,
            _ => return None,
        })
    }
}

/// One message between two servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) call: u64,
    pub(super) kind: Kind,
    pub(super) payload: Bytes,
}

/// Why bytes are not a frame.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum FrameError {
    #[error("a frame of {0} bytes is longer than {MESSAGE_BYTES_MAX}")]
    TooLong(u32),
    #[error("a frame's checksum is wrong")]
    Checksum,
    #[error("there are no frames of kind {0}")]
    Kind(u8),
}

impl Frame {
    /// A frame without a payload.
    pub(super) fn bare(call: u64, kind: Kind) -> Self {
        Self { call, kind, payload: Bytes::new() }
    }

    /// A frame that says something in words.
    pub(super) fn text(call: u64, kind: Kind, text: &str) -> Self {
        Self { call, kind, payload: Bytes::copy_from_slice(text.as_bytes()) }
    }

    /// The bytes before the payload.
    ///
    /// # Panics
    /// If the payload is longer than a message may be: whoever makes frames checks that.
    pub(super) fn header(&self) -> [u8; HEADER_BYTES] {
        assert!(self.payload.len() <= MESSAGE_BYTES_MAX, "a payload is longer than a message");
        let mut header = [0; HEADER_BYTES];
        header[..4].copy_from_slice(&(self.payload.len() as u32).to_le_bytes());
        header[8..16].copy_from_slice(&self.call.to_le_bytes());
        header[16] = self.kind as u8;
        let checksum = checksum(&header, &self.payload);
        header[4..8].copy_from_slice(&checksum.to_le_bytes());
        header
    }
}

fn checksum(header: &[u8; HEADER_BYTES], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&header[..4]);
    hasher.update(&header[8..]);
    hasher.update(payload);
    hasher.finalize()
}

/// Cuts the first frame out of what has come; `None` while some of it is missing.
pub(super) fn decode(buffer: &mut BytesMut) -> Result<Option<Frame>, FrameError> {
    let Some(header) = buffer.first_chunk::<HEADER_BYTES>().copied() else { return Ok(None) };
    let [l0, l1, l2, l3, c0, c1, c2, c3, call @ .., ordinal] = header;
    let length = u32::from_le_bytes([l0, l1, l2, l3]);
    if length as usize > MESSAGE_BYTES_MAX {
        return Err(FrameError::TooLong(length));
    }
    let Some(payload) = buffer.get(HEADER_BYTES..HEADER_BYTES + length as usize) else {
        return Ok(None);
    };
    if checksum(&header, payload) != u32::from_le_bytes([c0, c1, c2, c3]) {
        return Err(FrameError::Checksum);
    }
    let kind = Kind::from_ordinal(ordinal).ok_or(FrameError::Kind(ordinal))?;
    buffer.advance(HEADER_BYTES);
    let payload = match length as usize {
        0 => Bytes::new(),
        length @ 1..=COPIED_BYTES_MAX => {
            let copy = Bytes::copy_from_slice(&buffer[..length]);
            buffer.advance(length);
            copy
        }
        length => buffer.split_to(length).freeze(),
    };
    Ok(Some(Frame { call: u64::from_le_bytes(call), kind, payload }))
}
