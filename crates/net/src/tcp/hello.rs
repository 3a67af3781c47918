//! The handshake of a connection: its purpose, and the version of the protocol.
//!
//! Caller: magic (8 bytes), version (2), purpose (1), length (2) and text of its own address.
//! Server: magic, version, 1 if the connection is accepted and 0 if not, length and text of the
//! reason.

use crate::{Address, NetError};
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

const MAGIC: [u8; 8] = *b"pando\r\n\0";

/// Version of the protocol. Changes with the format of handshake, frames, or messages.
const VERSION: u16 = 9;

/// Maximum length of an address or of the reason of a refusal.
const TEXT_BYTES_MAX: usize = 1 << 10;

/// The purpose of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Calls between servers of one cluster.
    Calls = 1,
    /// A new server requests its certificate.
    Join = 2,
}

/// The first message of a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hello {
    pub(crate) purpose: Purpose,
    pub(crate) address: Address,
}

/// Sends the first message to the server `to`, and waits until it accepts the connection.
pub(crate) async fn greet<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    hello: &Hello,
    to: &Address,
) -> Result<(), NetError> {
    let words = encode(hello.purpose as u8, hello.address.as_str());
    let answer = async {
        stream.write_all(&words).await?;
        stream.flush().await?;
        read(stream).await
    };
    let (welcome, reason) = answer.await.map_err(|error| opening_error(to, &error))?;
    match welcome {
        1 => Ok(()),
        _ => Err(NetError::refused(to, reason)),
    }
}

/// Reads the first message of a caller. Errors are sent to the caller, if possible.
pub(crate) async fn hear<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut S) -> io::Result<Hello> {
    let traffic = read(stream).await;
    let hello = traffic.and_then(|(purpose, address)| {
        let purpose = match purpose {
            1 => Purpose::Calls,
            2 => Purpose::Join,
            other => {
                return Err(io::Error::other(format!("unknown purpose {other} of a connection")));
            }
        };
        Ok(Hello { purpose, address: Address::new(address) })
    });
    if let Err(error) = &hello {
        refuse(stream, &error.to_string()).await?;
    }
    hello
}

/// Accepts the connection.
pub(crate) async fn welcome<S: AsyncWrite + Unpin>(stream: &mut S) -> io::Result<()> {
    stream.write_all(&encode(1, "")).await?;
    stream.flush().await
}

/// Refuses the connection.
pub(crate) async fn refuse<S: AsyncWrite + Unpin>(stream: &mut S, reason: &str) -> io::Result<()> {
    stream.write_all(&encode(0, reason)).await?;
    stream.shutdown().await
}

/// Classifies an error during the handshake: invalid data is [`NetError::Refused`], anything else
/// [`NetError::Unreachable`].
pub(crate) fn opening_error(to: &Address, error: &io::Error) -> NetError {
    match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::Other => NetError::refused(to, error),
        _ => NetError::unreachable(to, error),
    }
}

fn encode(byte: u8, text: &str) -> Vec<u8> {
    let text = &text.as_bytes()[..text.len().min(TEXT_BYTES_MAX)];
    let mut words = MAGIC.to_vec();
    words.extend(VERSION.to_le_bytes());
    words.push(byte);
    words.extend((text.len() as u16).to_le_bytes());
    words.extend(text);
    words
}

async fn read<S: AsyncRead + Unpin>(stream: &mut S) -> io::Result<(u8, String)> {
    for expected in MAGIC {
        if stream.read_u8().await? != expected {
            let hint = "the received data is not the protocol between servers (is only one side encrypted?)";
            return Err(io::Error::other(hint));
        }
    }
    let version = stream.read_u16_le().await?;
    if version != VERSION {
        return Err(io::Error::other(format!(
            "one server has version {version} of the protocol and the other {VERSION}; run the same release"
        )));
    }
    let byte = stream.read_u8().await?;
    let length = usize::from(stream.read_u16_le().await?);
    if length > TEXT_BYTES_MAX {
        return Err(io::Error::other(format!("a text of {length} bytes in the handshake")));
    }
    let mut text = vec![0; length];
    stream.read_exact(&mut text).await?;
    Ok((byte, String::from_utf8_lossy(&text).into_owned()))
}
