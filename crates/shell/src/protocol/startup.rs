//! Starts a session: opens the socket, and authenticates the user.

use super::address::{Address, Endpoint};
use super::channel::Channel;
use super::connection::Connection;
use super::message::{Frame, malformed, sql_error, text};
use super::socket;
use crate::error::SqlError;
use bytes::Buf;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::frontend;
use std::io;
use tokio_rustls::TlsConnector;

/// Why a connection failed.
pub(super) enum Failed {
    /// The server requires a password, and none is known.
    PasswordMissing,
    /// The server refused the session.
    Refused(SqlError),
    /// The server does not answer, or violates the protocol.
    Broken(io::Error),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Broken(error)
    }
}

/// Connects to an endpoint, up to the server's first ReadyForQuery.
pub(super) async fn start(
    address: &Address,
    endpoint: &Endpoint,
    tls: &TlsConnector,
) -> Result<Connection, Failed> {
    let opened = socket::open(address.config.get_ssl_mode(), endpoint, tls).await?;
    let mut channel = Channel::new(opened.stream);
    queue_startup(address, &mut channel)?;
    channel.flush().await?;
    let password = address.password(endpoint);
    authenticate(address.user(), password.as_deref(), &mut channel).await?;
    let mut connection = Connection::new(channel, address.to_string(), opened.is_encrypted);
    match connection.settle().await {
        Ok(()) => Ok(connection),
        Err(error) => Err(Failed::Refused(error)),
    }
}

/// Queues the startup message.
fn queue_startup(address: &Address, channel: &mut Channel) -> io::Result<()> {
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
    let required = || password.ok_or(Failed::PasswordMissing);
    loop {
        let mut body = authentication_message(channel).await?;
        match body.try_get_u32().map_err(|_| malformed("an authentication"))? {
            0 => return Ok(()),
            3 => frontend::password_message(required()?, &mut channel.outgoing)?,
            5 => {
                let salt = body.first_chunk().ok_or_else(|| malformed("a salt"))?;
                let hash = md5_hash(user.as_bytes(), required()?, *salt);
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
                scram(required()?, channel).await?;
            }
            number => return Err(unknown(&format!("authentication method {number}"))),
        }
        channel.flush().await?;
    }
}

/// Authenticates both sides with SCRAM-SHA-256.
async fn scram(password: &[u8], channel: &mut Channel) -> Result<(), Failed> {
    let mut scram = ScramSha256::new(password, ChannelBinding::unsupported());
    frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), &mut channel.outgoing)?;
    channel.flush().await?;
    scram.update(&step(11, channel).await?)?;
    frontend::sasl_response(scram.message(), &mut channel.outgoing)?;
    channel.flush().await?;
    Ok(scram.finish(&step(12, channel).await?)?)
}

async fn step(expected: u32, channel: &mut Channel) -> Result<bytes::Bytes, Failed> {
    let mut body = authentication_message(channel).await?;
    match body.try_get_u32() {
        Ok(number) if number == expected => Ok(body),
        _ => Err(malformed("an authentication").into()),
    }
}

/// Waits for the server's next authentication message, and returns its body.
async fn authentication_message(channel: &mut Channel) -> Result<bytes::Bytes, Failed> {
    loop {
        let Frame { tag, body } = channel.frame().await?;
        match tag {
            b'R' => return Ok(body),
            b'E' => {
                let error = sql_error(body).ok_or_else(|| malformed("an error"))?;
                return Err(Failed::Refused(error));
            }
            // Notices, and NegotiateProtocolVersion: version 3.0 is requested.
            b'N' | b'v' => {}
            _ => return Err(malformed("an answer to the startup message").into()),
        }
    }
}

fn unknown(what: &str) -> Failed {
    let message = format!("the server requires {what}, which pando does not support");
    Failed::Broken(io::Error::other(message))
}
