//! Reading frames from a connection, and detecting that the other side is gone.

use super::frame::{Frame, decode};
use bytes::BytesMut;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::timeout;

/// Bytes to read at once. The buffer grows with the received data, not with announced lengths.
const READ_BYTES: usize = 64 << 10;

/// Receives the frames of a connection.
pub(super) trait Receiver {
    /// Handles a frame. An error ends the connection.
    fn receive(&self, frame: Frame) -> Result<(), String>;

    /// Whether a frame is expected from the other side.
    fn is_waiting(&self) -> bool;

    /// Sends a ping.
    fn probe(&self);
}

/// Passes frames to `receiver` as they arrive. Returns the reason why the connection ended.
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
            Err(_) if probed => return format!("no data for {:?}", 2 * keep_alive),
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
