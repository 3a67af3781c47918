//! The first words on a connection: what it is for, and whether both sides speak the same version.
//!
//! Caller: magic (8 bytes), version (2), purpose (1), length and text of its own address (2 and that many).
//! Server: magic, version, 1 if it is welcome, length and text of the reason why not.

use super::{Address, NetError};
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

const MAGIC: [u8; 8] = *b"pando\r\n\0";

/// Changes whenever frames do.
const VERSION: u16 = 5;

/// Bytes of an address, or of the reason of a refusal.
const TEXT_BYTES_MAX: usize = 1 << 10;

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Calls, between servers of one cluster.
    Calls = 1,
    /// Asking for a certificate, which is how a server becomes one of the cluster.
    Join = 2,
}

/// What a caller says first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hello {
    pub(super) purpose: Purpose,
    pub(super) address: Address,
}

/// Says hello to the server `to`, and hears whether it is welcome.
pub(super) async fn greet<S: AsyncRead + AsyncWrite + Unpin>(
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
    let (welcome, reason) = answer.await.map_err(|error| trouble(to, &error))?;
    match welcome {
        1 => Ok(()),
        _ => Err(NetError::refused(to, reason)),
    }
}

/// Hears who is there. An error has been said to the other side, as far as it listens.
pub(super) async fn hear<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut S) -> io::Result<Hello> {
    let traffic = read(stream).await;
    let hello = traffic.and_then(|(purpose, address)| {
        let purpose = match purpose {
            1 => Purpose::Calls,
            2 => Purpose::Join,
            other => return Err(io::Error::other(format!("there is no purpose {other}"))),
        };
        Ok(Hello { purpose, address: Address::new(address) })
    });
    if let Err(error) = &hello {
        refuse(stream, &error.to_string()).await?;
    }
    hello
}

/// Says that the caller is welcome.
pub(super) async fn welcome<S: AsyncWrite + Unpin>(stream: &mut S) -> io::Result<()> {
    stream.write_all(&encode(1, "")).await?;
    stream.flush().await
}

/// Says why the caller is not welcome.
pub(super) async fn refuse<S: AsyncWrite + Unpin>(stream: &mut S, reason: &str) -> io::Result<()> {
    stream.write_all(&encode(0, reason)).await?;
    stream.shutdown().await
}

/// An error while a connection is being opened: a refusal if what came was wrong, and otherwise nobody to talk to.
pub(super) fn trouble(to: &Address, error: &io::Error) -> NetError {
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
            let hint =
                "what came is not the protocol between servers (is only one side encrypted?)";
            return Err(io::Error::other(hint));
        }
    }
    let version = stream.read_u16_le().await?;
    if version != VERSION {
        return Err(io::Error::other(format!(
            "one server speaks version {version} of the protocol and the other {VERSION}; run the same release"
        )));
    }
    let byte = stream.read_u8().await?;
    let length = usize::from(stream.read_u16_le().await?);
    if length > TEXT_BYTES_MAX {
        return Err(io::Error::other(format!("a text of {length} bytes in the first words")));
    }
    let mut text = vec![0; length];
    stream.read_exact(&mut text).await?;
    Ok((byte, String::from_utf8_lossy(&text).into_owned()))
}
