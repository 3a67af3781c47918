//! Notices that a client has closed its connection while a statement of it runs.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::time::Duration;
use tokio::net::TcpStream;

/// Time between two looks at the connection. A statement that takes less is answered even to a client that has closed its
/// sending side.
const LOOK: Duration = Duration::from_millis(75);

/// Whether the client of a connection is still there. It must not outlive the connection.
#[derive(Debug)]
pub(crate) struct Presence(Option<RawFd>);

impl Presence {
    /// The presence of the client of a connection.
    pub(crate) fn of(stream: &TcpStream) -> Self {
        Self(Some(stream.as_raw_fd()))
    }

    /// The presence of a client that stays.
    #[cfg(test)]
    pub(crate) fn lasting() -> Self {
        Self(None)
    }

    /// Completes when the client has closed the connection, or its sending side.
    pub(crate) async fn gone(&self) {
        let Some(stream) = self.0 else { return std::future::pending().await };
        loop {
            tokio::time::sleep(LOOK).await;
            // SAFETY: The descriptor is open, because the connection is. A second descriptor for each connection would
            // halve the number of connections that the system allows.
            if is_closed(unsafe { BorrowedFd::borrow_raw(stream) }) {
                return;
            }
        }
    }
}

fn is_closed(stream: BorrowedFd<'_>) -> bool {
    let mut looked_at = [PollFd::new(&stream, PollFlags::RDHUP)];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    let closed = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
    poll(&mut looked_at, Some(&at_once)).is_ok() && looked_at[0].revents().intersects(closed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    #[tokio::test]
    async fn a_client_that_closes_is_gone() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let client = TcpStream::connect(address).await.expect("connected");
        let (served, _) = listener.accept().await.expect("accepted");
        let presence = Presence::of(&served);
        assert!(tokio::time::timeout(LOOK * 3, presence.gone()).await.is_err());
        drop(client);
        presence.gone().await;
    }
}
