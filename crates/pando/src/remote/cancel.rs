//! Cancelling: a connection of its own that says which session's statement is to end.

use super::address::Address;
use super::startup::open;
use super::tls;
use bytes::BytesMut;
use postgres_protocol::message::frontend;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_postgres::config::Host;

/// What a server has told us to cancel with.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    /// Where the session is.
    pub(super) place: (Host, u16),
    /// The session's number.
    pub(super) process: i32,
    /// What only we know.
    pub(super) secret: i32,
}

impl Key {
    /// Asks the server to end the running statement. The statement itself tells whether it did.
    pub(crate) async fn cancel(self, address: &Address) -> anyhow::Result<()> {
        let tls = tls::connector(address.verification.as_deref())?;
        let (mut stream, _) = open(address.config.get_ssl_mode(), &self.place, &tls).await?;
        let mut request = BytesMut::new();
        frontend::cancel_request(self.process, self.secret, &mut request);
        stream.write_all(&request).await?;
        stream.flush().await?;
        // The server ends the connection when it has seen to it.
        let _ = stream.read_u8().await;
        Ok(())
    }
}
