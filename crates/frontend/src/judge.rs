//! Properties that hold for any bytes, checked by panicking: the targets of the fuzzer, also run by
//! tests.

use crate::{First, Frames, Message, ProtocolError, STARTUP_BYTES_MAX};

/// Maximum length of a message, in bytes.
const MESSAGE_BYTES_MAX: usize = 1 << 30;
/// Maximum size of the buffer beyond the received bytes.
const ROOM_BYTES: usize = 4 << 10;

/// Checks bytes before a session: the first messages of a connection, up to the one that begins a
/// session.
///
/// # Panics
/// If a property does not hold.
pub fn startup(bytes: &[u8]) {
    let mut frames = Frames::new();
    frames.buffer().extend_from_slice(bytes);
    while let Ok(Some(body)) = frames.next_untyped() {
        assert!(body.len() < STARTUP_BYTES_MAX, "longer than may be");
        let Ok(First::Startup(startup)) = First::decode(body) else { continue };
        let (settings, extensions) = (startup.settings(), startup.extensions());
        let declared: usize =
            startup.parameters.iter().map(|(name, value)| name.len() + value.len()).sum();
        assert!(declared <= bytes.len() && settings.len() <= bytes.len(), "longer than the input");
        assert!(
            extensions.iter().all(|name| startup.get(name).is_some()),
            "what was not asked for"
        );
        return messages(frames.buffer());
    }
}

/// Checks bytes in a session. The messages do not depend on how the bytes are divided into reads.
///
/// # Panics
/// If a property does not hold.
pub fn messages(bytes: &[u8]) {
    let whole = decoded(&[bytes]);
    let (first, second) = bytes.split_at(bytes.len() / 2);
    assert_eq!(decoded(&[first, second]), whole, "pieces say something else");
}

/// The messages decoded from reads, and the error after them.
fn decoded(pieces: &[&[u8]]) -> (Vec<Message>, Option<ProtocolError>) {
    let mut frames = Frames::new();
    frames.limit = MESSAGE_BYTES_MAX;
    let (mut messages, mut came) = (Vec::new(), 0);
    for piece in pieces {
        came += piece.len();
        frames.buffer().extend_from_slice(piece);
        frames.received(piece.len());
        loop {
            let peeked = frames.peek();
            match frames.next().and_then(|frame| {
                frame.map(|(kind, body)| Message::decode(kind, body).map(|m| (kind, m))).transpose()
            }) {
                Ok(Some((kind, message))) => {
                    assert_eq!(peeked, Some(kind), "another message than was announced");
                    messages.push(message);
                }
                Ok(None) => break,
                Err(error) => return (messages, Some(error)),
            }
        }
        assert!(frames.room() <= 2 * came + ROOM_BYTES, "a length is believed");
    }
    (messages, None)
}
