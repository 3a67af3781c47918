//! Encoding and decoding of frames.

use crate::MESSAGE_BYTES_MAX;
use crate::tcp::frame::{Frame, FrameError, HEADER_BYTES, Kind, decode};
use bytes::BytesMut;
use proptest::prelude::*;

pub(super) const KINDS: [Kind; 12] = [
    Kind::Request,
    Kind::Answer,
    Kind::LastAnswer,
    Kind::End,
    Kind::Failed,
    Kind::Declined,
    Kind::Cancel,
    Kind::Credit,
    Kind::Goodbye,
    Kind::Ping,
    Kind::Pong,
    Kind::PulledRequest,
];

pub(super) fn encode(frame: &Frame) -> Vec<u8> {
    [&frame.header()[..], &frame.payload[..]].concat()
}

fn frames() -> impl Strategy<Value = Frame> {
    let payload = prop::collection::vec(any::<u8>(), 0..10_000);
    (any::<u64>(), prop::sample::select(&KINDS[..]), payload)
        .prop_map(|(call, kind, payload)| Frame { call, kind, payload: payload.into() })
}

/// All complete frames, and the remaining bytes.
fn decode_all(bytes: &[u8]) -> Result<(Vec<Frame>, BytesMut), FrameError> {
    let mut buffer = BytesMut::from(bytes);
    let mut frames = Vec::new();
    while let Some(frame) = decode(&mut buffer)? {
        frames.push(frame);
    }
    Ok((frames, buffer))
}

proptest! {
    #[test]
    fn what_is_written_is_read(frames in prop::collection::vec(frames(), 0..5)) {
        let bytes: Vec<u8> = frames.iter().flat_map(encode).collect();
        let (read, rest) = decode_all(&bytes).expect("they are right");
        prop_assert_eq!(read, frames);
        prop_assert!(rest.is_empty());
    }

    #[test]
    fn noise_is_no_frame(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let frames = decode_all(&bytes).map(|(frames, _)| frames).unwrap_or_default();
        prop_assert_eq!(frames, []);
    }
}

#[test]
fn a_part_of_a_frame_is_no_frame_yet() {
    let bytes = encode(&Frame::text(7, Kind::Request, "some request"));
    for length in 0..bytes.len() {
        let (frames, rest) = decode_all(&bytes[..length]).expect("nothing is wrong so far");
        assert_eq!(frames, []);
        assert_eq!(rest.len(), length, "nothing is taken");
    }
}

#[test]
fn no_bit_can_be_flipped() {
    let bytes = encode(&Frame::text(7, Kind::Answer, "some answer"));
    for bit in 0..8 * bytes.len() {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let frames = decode_all(&flipped).map(|(frames, _)| frames).unwrap_or_default();
        assert_eq!(frames, [], "bit {bit}");
    }
}

#[test]
fn a_declared_length_takes_no_memory() {
    let mut bytes = [0; HEADER_BYTES];
    bytes[..4].copy_from_slice(&(MESSAGE_BYTES_MAX as u32).to_le_bytes());
    let mut buffer = BytesMut::from(&bytes[..]);
    assert_eq!(decode(&mut buffer), Ok(None));
    assert!(buffer.capacity() < 1000);
    bytes[..4].copy_from_slice(&(MESSAGE_BYTES_MAX as u32 + 1).to_le_bytes());
    let too_long = decode(&mut BytesMut::from(&bytes[..]));
    assert_eq!(too_long, Err(FrameError::TooLong(MESSAGE_BYTES_MAX as u32 + 1)));
}
