//! Cancel requests, which use a separate connection.

use super::address::{Address, Endpoint};
use super::{socket, tls};
use bytes::BytesMut;
use postgres_protocol::message::frontend;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// The key that cancels statements of a session.
#[derive(Debug, Clone)]
pub struct Key {
    /// The session's endpoint.
    pub(super) endpoint: Endpoint,
    /// The session's process number.
    pub(super) process: i32,
    /// The session's secret.
    pub(super) secret: i32,
}

impl Key {
    /// Asks the server to cancel the running statement. Whether that succeeds shows in the statement's answer.
    ///
    /// # Errors
    /// If the request cannot be sent.
    pub async fn cancel(self, address: &Address) -> anyhow::Result<()> {
        let tls = tls::connector(address.verification.as_deref())?;
        let mode = address.config.get_ssl_mode();
        let mut stream = socket::open(mode, &self.endpoint, &tls).await?.stream;
        let mut request = BytesMut::new();
        frontend::cancel_request(self.process, self.secret, &mut request);
        stream.write_all(&request).await?;
        stream.flush().await?;
        // The server closes the connection when it has processed the request.
        let _ = stream.read_u8().await;
        Ok(())
    }
}
