//! Frames, the unit of data on a connection after its handshake.
//!
//! | bytes | content |
//! |---|---|
//! | 4 | length of the payload, at most [`MESSAGE_BYTES_MAX`] |
//! | 4 | CRC-32 of the length and of all that follows |
//! | 8 | number of the call; numbers increase within a connection and are not reused |
//! | 1 | [`Kind`] |
//! | length | payload |
//!
//! Numbers are little-endian. No memory is allocated for an announced length: frames are cut out of
//! the received bytes. An invalid frame ends the connection.

use crate::MESSAGE_BYTES_MAX;
use bytes::{Buf, Bytes, BytesMut};

/// Length of a frame without its payload.
pub(crate) const HEADER_BYTES: usize = 17;

/// Payloads up to this length are copied out of the read buffer, which can then be reused.
const COPIED_BYTES_MAX: usize = 4 << 10;

const _: () = assert!(MESSAGE_BYTES_MAX <= u32::MAX as usize);

/// The type of a frame. The ordinals are part of the protocol and are never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Caller: begins a call; the payload is the request.
    Request = 1,
    /// Server: an answer. It consumes one credit.
    Answer = 2,
    /// Server: the last answer of a call.
    LastAnswer = 3,
    /// Server: the call has ended; there is no further answer.
    End = 4,
    /// Server: the call failed; the payload is the reason as text.
    Failed = 5,
    /// Server: the call was not begun; the payload is the reason as text.
    Declined = 6,
    /// Caller: no more answers are wanted. May arrive after the end of the call.
    Cancel = 7,
    /// Caller: the reader has taken this many answers (4 bytes), and the server may send as many
    /// more. May arrive after the end of the call.
    Credit = 8,
    /// Server: calls with higher numbers were not begun and will not be; running calls continue to
    /// their ends.
    Goodbye = 9,
    /// Either: asks for a [`Kind::Pong`]. The number of the call is 0.
    Ping = 10,
    /// Either: the answer to a ping.
    Pong = 11,
    /// Caller: begins a call with one credit instead of the whole window.
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

/// One frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) call: u64,
    pub(crate) kind: Kind,
    pub(crate) payload: Bytes,
}

/// Why bytes are not a valid frame.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FrameError {
    #[error("a frame of {0} bytes is longer than {MESSAGE_BYTES_MAX}")]
    TooLong(u32),
    #[error("a frame's checksum is wrong")]
    Checksum,
    #[error("unknown frame kind {0}")]
    Kind(u8),
}

impl Frame {
    /// A frame without a payload.
    pub(crate) fn bare(call: u64, kind: Kind) -> Self {
        Self { call, kind, payload: Bytes::new() }
    }

    /// A frame whose payload is text.
    pub(crate) fn text(call: u64, kind: Kind, text: &str) -> Self {
        Self { call, kind, payload: Bytes::copy_from_slice(text.as_bytes()) }
    }

    /// The encoded frame without its payload.
    ///
    /// # Panics
    /// If the payload is longer than [`MESSAGE_BYTES_MAX`]: callers check that.
    pub(crate) fn header(&self) -> [u8; HEADER_BYTES] {
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

/// Removes the first frame from `buffer`; `None` while it is incomplete.
pub(crate) fn decode(buffer: &mut BytesMut) -> Result<Option<Frame>, FrameError> {
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
