//! Opens the socket of a server: TCP or a Unix socket, with TLS if the mode asks for it.

use super::address::Endpoint;
use bytes::BytesMut;
use postgres_protocol::message::frontend;
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio_postgres::config::{Host, SslMode};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

/// A byte stream in both directions.
pub(super) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// An open socket.
pub(super) struct Opened {
    pub(super) stream: Box<dyn Duplex>,
    pub(super) is_encrypted: bool,
}

/// Connects to an endpoint and negotiates TLS as the mode says. Unix sockets are never encrypted.
pub(super) async fn open(
    mode: SslMode,
    endpoint: &Endpoint,
    tls: &TlsConnector,
) -> io::Result<Opened> {
    let host = match &endpoint.host {
        Host::Tcp(host) => host,
        Host::Unix(directory) => {
            let socket = directory.join(format!(".s.PGSQL.{}", endpoint.port));
            return Ok(plain(UnixStream::connect(socket).await?));
        }
    };
    let mut stream = TcpStream::connect((host.as_str(), endpoint.port)).await?;
    stream.set_nodelay(true)?;
    if mode == SslMode::Disable {
        return Ok(plain(stream));
    }
    let mut request = BytesMut::new();
    frontend::ssl_request(&mut request);
    stream.write_all(&request).await?;
    match stream.read_u8().await? {
        b'S' => {
            let name = ServerName::try_from(host.clone()).map_err(io::Error::other)?;
            let stream = Box::new(tls.connect(name, stream).await?);
            Ok(Opened { stream, is_encrypted: true })
        }
        _ if mode == SslMode::Prefer => Ok(plain(stream)),
        _ => Err(io::Error::other("sslmode requires encryption, which the server does not offer")),
    }
}

fn plain(stream: impl Duplex + 'static) -> Opened {
    Opened { stream: Box::new(stream), is_encrypted: false }
}
