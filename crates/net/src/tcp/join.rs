//! A new server gets its certificate: it proves possession of the token, and the authority signs
//! its key.
//!
//! The new server verifies the cluster before it sends the secret: TLS has checked a certificate of
//! the authority whose fingerprint is in the token. The private key never leaves the new server.

use super::hello::{self, Hello, Purpose};
use super::reach::reach;
use crate::trust::{Authority, Identity, JoinToken, TrustError, tls};
use crate::{Address, NetError, TimeLimits};
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

/// Maximum length of a message.
const MESSAGE_BYTES_MAX: usize = 16 << 10;

/// The request of a new server.
#[derive(Serialize, Deserialize)]
struct Application {
    secret: Vec<u8>,
    /// An uncompressed point of P-256.
    public_key: Vec<u8>,
}

/// The answer to an [`Application`].
#[derive(Serialize, Deserialize)]
struct Certificates {
    own: Vec<u8>,
    authority: Vec<u8>,
}

/// Requests an identity from the server `to`, which holds the authority of its cluster. `own` is
/// the address of this server.
///
/// # Errors
/// [`NetError::Refused`] if the token belongs to another cluster, or that server may not sign
/// certificates. An error changes nothing on either side.
pub async fn join(
    to: &Address,
    own: &Address,
    token: &JoinToken,
    limits: TimeLimits,
) -> Result<Identity, NetError> {
    let limit = limits.handshake;
    let late = |_| Err(NetError::unreachable(to, format!("no certificate within {limit:?}")));
    timeout(limit, apply(to, own, token)).await.unwrap_or_else(late)
}

async fn apply(to: &Address, own: &Address, token: &JoinToken) -> Result<Identity, NetError> {
    let failed = |error| hello::opening_error(to, &error);
    let wrong = |error: TrustError| NetError::refused(to, error);
    let key =
        KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(|error| wrong(error.into()))?;
    let stream = reach(to, None).await?;
    let stream = tls::connect_to_join(token.fingerprint, stream).await;
    let mut stream = stream.map_err(|error| {
        NetError::refused(to, format!("{error} (does the join token belong to this cluster?)"))
    })?;
    let hello = Hello { purpose: Purpose::Join, address: own.clone() };
    hello::greet(&mut stream, &hello, to).await?;
    let public_key = key.public_key_raw().to_vec();
    let application = Application { secret: token.secret.to_vec(), public_key };
    write(&mut stream, &application).await.map_err(failed)?;
    let answer: Result<Certificates, String> = read(&mut stream).await.map_err(failed)?;
    let certificates = answer.map_err(|reason| NetError::refused(to, reason))?;
    Identity::new(key.serialize_der(), certificates.own, certificates.authority).map_err(wrong)
}

/// Answers the request of a new server.
pub(super) async fn admit<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    authority: Option<&Authority>,
    from: &Address,
) -> io::Result<()> {
    let Some(authority) = authority else {
        let reason =
            "this server cannot sign certificates; join through the server that created the token";
        return hello::refuse(stream, reason).await;
    };
    hello::welcome(stream).await?;
    let Application { secret, public_key } = read(stream).await?;
    let answer = if authority.accepts(&secret) {
        let signed = authority.sign(&public_key).map_err(|error| error.to_string());
        signed.map(|own| Certificates { own, authority: authority.certificate().to_vec() })
    } else {
        Err("the join token belongs to another cluster".to_owned())
    };
    match &answer {
        Ok(_) => tracing::info!(%from, "issued a certificate to a server"),
        Err(reason) => tracing::warn!(%from, reason, "refused a certificate to a server"),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_messages_of_who_joins_have_their_bytes() {
        let bytes = |message: Result<Certificates, String>| postcard::to_stdvec(&message);
        let application = Application { secret: vec![1, 2], public_key: vec![3] };
        assert_eq!(postcard::to_stdvec(&application), Ok(vec![2, 1, 2, 1, 3]));
        let certificates = Certificates { own: vec![1], authority: vec![2, 3] };
        assert_eq!(bytes(Ok(certificates)), Ok(vec![0, 1, 1, 2, 2, 3]));
        assert_eq!(bytes(Err("no".into())), Ok(vec![1, 2, b'n', b'o']));
    }
}
