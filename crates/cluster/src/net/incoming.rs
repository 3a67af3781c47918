//! The frames that come from a connection, and noticing that none come any more.

use super::frame::{Frame, decode};
use bytes::BytesMut;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::timeout;

/// Bytes asked of the connection at once; the buffer grows with what has come, never with what is announced.
const READ_BYTES: usize = 64 << 10;

/// How long nothing may come while something is expected, before the other side is asked whether it is there; after
/// the same time again it is taken for lost.
pub(super) const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// Who takes the frames of a connection.
pub(super) trait Receiver {
    /// Takes a frame; an error ends the connection.
    fn receive(&self, frame: Frame) -> Result<(), String>;

    /// Whether something is expected of the other side.
    fn is_waiting(&self) -> bool;

    /// Asks the other side whether it is there.
    fn probe(&self);
}

/// Hands frames over as they come. Ends with the reason why no more come.
pub(super) async fn read_from(
    mut from: impl AsyncRead + Unpin,
    receiver: &impl Receiver,
    keep_alive: Duration,
) -> String {
    let mut buffer = BytesMut::new();
    let mut probed = false;
    loop {
        buffer.reserve(READ_BYTES);
        match timeout(keep_alive, from.read_buf(&mut buffer)).await {
            Ok(Ok(0)) => return "the other side closed the connection".to_owned(),
            Ok(Ok(_)) => probed = false,
            Ok(Err(error)) => return error.to_string(),
            Err(_) if !receiver.is_waiting() => probed = false,
            Err(_) if probed => return format!("nothing came for {:?}", 2 * keep_alive),
            Err(_) => {
                receiver.probe();
                probed = true;
            }
        }
        loop {
            match decode(&mut buffer) {
                Ok(Some(frame)) => {
                    if let Err(reason) = receiver.receive(frame) {
                        return reason;
                    }
                }
                Ok(None) => break,
                Err(error) => return error.to_string(),
            }
        }
    }
}
