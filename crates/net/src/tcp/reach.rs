//! Opening TCP connections.

use super::security::Security;
use crate::{Address, NetError};
use tokio::net::TcpStream;

/// Connects to the first resolved address that accepts the connection, where `security` allows it.
pub(super) async fn reach(
    to: &Address,
    security: Option<&Security>,
) -> Result<TcpStream, NetError> {
    let unreachable = |error: std::io::Error| NetError::unreachable(to, error);
    let mut error = NetError::unreachable(to, "the name resolves to no address");
    for address in tokio::net::lookup_host(to.as_str()).await.map_err(unreachable)? {
        let allowed = security.map_or(Ok(()), |security| security.check(address));
        allowed.map_err(|reason| NetError::refused(to, reason))?;
        match TcpStream::connect(address).await {
            Ok(stream) => {
                stream.set_nodelay(true).map_err(unreachable)?;
                return Ok(stream);
            }
            Err(failed) => error = unreachable(failed),
        }
    }
    Err(error)
}
