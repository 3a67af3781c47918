//! From nothing to a server that is ready for statements: the socket, encryption, who we are.

use super::address::Address;
use super::channel::{Channel, Duplex};
use super::connection::Connection;
use super::message::{Frame, malformed, text, trouble};
use crate::trouble::SqlError;
use bytes::{Buf, BytesMut};
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::frontend;
use std::io;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio_postgres::config::{Host, SslMode};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

/// Why there is no connection.
pub(super) enum Failed {
    /// The server wants a password, and there is none.
    PasswordMissing,
    /// The server said no.
    Refused(SqlError),
    /// Nobody answers, or not as a server does.
    Broken(io::Error),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Broken(error)
    }
}

/// A stream of bytes, and whether it is encrypted.
type Opened = (Box<dyn Duplex>, bool);

/// A connection to one place, up to the server's first ReadyForQuery.
pub(super) async fn start(
    address: &Address,
    place: &(Host, u16),
    tls: &TlsConnector,
) -> Result<Connection, Failed> {
    let (stream, encrypted) = open(address.config.get_ssl_mode(), place, tls).await?;
    let mut channel = Channel::new(stream);
    introduce(address, &mut channel)?;
    channel.flush().await?;
    let password = address.password(place);
    authenticate(address.user(), password.as_deref(), &mut channel).await?;
    let mut connection = Connection::new(channel, address.to_string(), encrypted);
    match connection.settle().await {
        Ok(()) => Ok(connection),
        Err(trouble) => Err(Failed::Refused(trouble)),
    }
}

/// The bytes of a place, encrypted where that is wanted.
pub(super) async fn open(
    mode: SslMode,
    (host, port): &(Host, u16),
    tls: &TlsConnector,
) -> io::Result<Opened> {
    let host = match host {
        Host::Tcp(host) => host,
        Host::Unix(directory) => {
            let socket = directory.join(format!(".s.PGSQL.{port}"));
            return Ok((Box::new(UnixStream::connect(socket).await?), false));
        }
    };
    let mut stream = TcpStream::connect((host.as_str(), *port)).await?;
    stream.set_nodelay(true)?;
    if mode == SslMode::Disable {
        return Ok((Box::new(stream), false));
    }
    let mut request = BytesMut::new();
    frontend::ssl_request(&mut request);
    stream.write_all(&request).await?;
    match stream.read_u8().await? {
        b'S' => {
            let name = ServerName::try_from(host.clone()).map_err(io::Error::other)?;
            Ok((Box::new(tls.connect(name, stream).await?), true))
        }
        _ if mode == SslMode::Prefer => Ok((Box::new(stream), false)),
        _ => Err(io::Error::other("the server does not encrypt, and sslmode asks for it")),
    }
}

/// Says who we are and how we want to be talked to.
fn introduce(address: &Address, channel: &mut Channel) -> io::Result<()> {
    let config = &address.config;
    let mut parameters = vec![
        ("user", address.user()),
        ("database", address.database()),
        ("client_encoding", "UTF8"),
        ("application_name", config.get_application_name().unwrap_or("pando")),
    ];
    parameters.extend(config.get_options().map(|options| ("options", options)));
    frontend::startup_message(parameters, &mut channel.outgoing)
}

async fn authenticate(
    user: &str,
    password: Option<&[u8]>,
    channel: &mut Channel,
) -> Result<(), Failed> {
    let wanted = || password.ok_or(Failed::PasswordMissing);
    loop {
        let mut body = question(channel).await?;
        match body.try_get_u32().map_err(|_| malformed("an authentication"))? {
            0 => return Ok(()),
            3 => frontend::password_message(wanted()?, &mut channel.outgoing)?,
            5 => {
                let salt = body.first_chunk().ok_or_else(|| malformed("a salt"))?;
                let hash = md5_hash(user.as_bytes(), wanted()?, *salt);
                frontend::password_message(hash.as_bytes(), &mut channel.outgoing)?;
            }
            10 => {
                let mut known = false;
                while body.first().is_some_and(|byte| *byte != 0) {
                    let name = text(&mut body).ok_or_else(|| malformed("a mechanism"))?;
                    known |= name == SCRAM_SHA_256;
                }
                if !known {
                    return Err(unknown("a SASL mechanism"));
                }
                prove(wanted()?, channel).await?;
            }
            number => return Err(unknown(&format!("authentication method {number}"))),
        }
        channel.flush().await?;
    }
}

/// SCRAM-SHA-256: both sides prove that they know the password.
async fn prove(password: &[u8], channel: &mut Channel) -> Result<(), Failed> {
    let mut scram = ScramSha256::new(password, ChannelBinding::unsupported());
    frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), &mut channel.outgoing)?;
    channel.flush().await?;
    scram.update(&step(11, channel).await?)?;
    frontend::sasl_response(scram.message(), &mut channel.outgoing)?;
    channel.flush().await?;
    Ok(scram.finish(&step(12, channel).await?)?)
}

async fn step(expected: u32, channel: &mut Channel) -> Result<bytes::Bytes, Failed> {
    let mut body = question(channel).await?;
    match body.try_get_u32() {
        Ok(number) if number == expected => Ok(body),
        _ => Err(malformed("an authentication").into()),
    }
}

/// The body of the server's next authentication message.
async fn question(channel: &mut Channel) -> Result<bytes::Bytes, Failed> {
    loop {
        let Frame { tag, body } = channel.frame().await?;
        match tag {
            b'R' => return Ok(body),
            b'E' => {
                let trouble = trouble(body).ok_or_else(|| malformed("an error"))?;
                return Err(Failed::Refused(trouble));
            }
            // Notices come before anybody could read them; protocol 3.0 is what we asked for.
            b'N' | b'v' => {}
            _ => return Err(malformed("the answer to a greeting").into()),
        }
    }
}

fn unknown(what: &str) -> Failed {
    let message = format!("the server asks for {what}, which pando does not know");
    Failed::Broken(io::Error::other(message))
}
