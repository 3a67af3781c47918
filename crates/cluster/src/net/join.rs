//! How a server gets its certificate: it shows that it has the token, and the authority signs its key.
//!
//! The new server knows whom it talks to before it says the secret: TLS has verified a certificate of the authority
//! whose fingerprint is in the token. Its private key never leaves it.

use super::hello::{self, Hello, Purpose};
use super::listen::OPENING;
use super::tcp::reach;
use super::trust::{Authority, Identity, JoinToken, TrustError};
use super::{Address, NetError, tls};
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

/// Bytes of either message.
const MESSAGE_BYTES_MAX: usize = 16 << 10;

/// What a new server says.
#[derive(Serialize, Deserialize)]
struct Application {
    secret: Vec<u8>,
    /// Of P-256, uncompressed.
    public_key: Vec<u8>,
}

/// What it gets.
#[derive(Serialize, Deserialize)]
struct Certificates {
    own: Vec<u8>,
    authority: Vec<u8>,
}

/// Asks the server `to`, which holds the authority of its cluster, for an identity. `own` is where this server will
/// be called.
///
/// # Errors
/// [`NetError::Refused`] if the token is not of that server's cluster, or that server may not sign certificates.
/// Nothing has changed anywhere after an error.
pub async fn join(to: &Address, own: &Address, token: &JoinToken) -> Result<Identity, NetError> {
    let late = |_| Err(NetError::unreachable(to, format!("no certificate within {OPENING:?}")));
    timeout(OPENING, apply(to, own, token)).await.unwrap_or_else(late)
}

async fn apply(to: &Address, own: &Address, token: &JoinToken) -> Result<Identity, NetError> {
    let trouble = |error| hello::trouble(to, &error);
    let wrong = |error: TrustError| NetError::refused(to, error);
    let key =
        KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(|error| wrong(error.into()))?;
    let stream = reach(to, None).await?;
    let stream = tls::connect_to_join(token.fingerprint, stream).await;
    let mut stream = stream.map_err(|error| {
        NetError::refused(to, format!("{error} (is the join token of this cluster?)"))
    })?;
    let hello = Hello { purpose: Purpose::Join, address: own.clone() };
    hello::greet(&mut stream, &hello, to).await?;
    let public_key = key.public_key_raw().to_vec();
    let application = Application { secret: token.secret.to_vec(), public_key };
    write(&mut stream, &application).await.map_err(trouble)?;
    let answer: Result<Certificates, String> = read(&mut stream).await.map_err(trouble)?;
    let certificates = answer.map_err(|reason| NetError::refused(to, reason))?;
    Identity::new(key.serialize_der(), certificates.own, certificates.authority).map_err(wrong)
}

/// Answers a server that wants to join.
pub(super) async fn admit<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    authority: Option<&Authority>,
    from: &Address,
) -> io::Result<()> {
    let Some(authority) = authority else {
        let reason = "it cannot sign certificates; join through the server that made the token";
        return hello::refuse(stream, reason).await;
    };
    hello::welcome(stream).await?;
    let Application { secret, public_key } = read(stream).await?;
    let answer = match authority.accepts(&secret) {
        false => Err("the join token is not of this cluster".to_owned()),
        true => {
            let signed = authority.sign(&public_key).map_err(|error| error.to_string());
            signed.map(|own| Certificates { own, authority: authority.certificate().to_vec() })
        }
    };
    match &answer {
        Ok(_) => tracing::info!(%from, "a server got a certificate"),
        Err(reason) => tracing::warn!(%from, reason, "a server got no certificate"),
    }
    write(stream, &answer).await?;
    stream.shutdown().await
}

async fn write<S: AsyncWrite + Unpin>(stream: &mut S, message: &impl Serialize) -> io::Result<()> {
    let bytes = postcard::to_stdvec(message).map_err(io::Error::other)?;
    stream.write_u32_le(bytes.len() as u32).await?;
    stream.write_all(&bytes).await?;
    stream.flush().await
}

async fn read<S: AsyncRead + Unpin, T: DeserializeOwned>(stream: &mut S) -> io::Result<T> {
    let length = stream.read_u32_le().await? as usize;
    if length > MESSAGE_BYTES_MAX {
        return Err(io::Error::other(format!("a message of {length} bytes while joining")));
    }
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes).await?;
    postcard::from_bytes(&bytes).map_err(io::Error::other)
}
