//! Authentication: SCRAM-SHA-256 (RFC 5802, 7677) if there are users, otherwise trust.

use super::Listener;
use super::error::Ending;
use super::wire::{Stream, Wire};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::{BufMut, BytesMut};
use frontend::Body;
use frontend::violation;
use pgwire::api::auth::sasl::scram::{ScramSecret, ScramServerAuth};
use query::{Error, SqlState};

/// The codes of authentication messages.
pub(crate) const OK: u32 = 0;
const SASL: u32 = 10;
const SASL_CONTINUE: u32 = 11;
const SASL_FINAL: u32 = 12;

const MECHANISM: &str = "SCRAM-SHA-256";

/// Cryptographically random bytes.
pub(crate) fn random_bytes(count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    rand::fill(&mut bytes[..]);
    bytes
}

/// The verifier for users that do not exist, whose challenge looks like that of any other user.
pub(crate) fn unknown_user() -> String {
    postgres_protocol::password::scram_sha_256(&random_bytes(32))
}

/// Authenticates the client, if there is a superuser with a password. Returns whether it succeeded.
pub(crate) async fn authenticate<S: Stream>(
    wire: &mut Wire<S>,
    user: &str,
    listener: &Listener,
) -> Result<bool, Ending> {
    if !listener.database.authenticates() {
        return Ok(false);
    }
    let wrong = || {
        let message = format!("password authentication failed for user \"{user}\"");
        Ending::Fatal(Error::new(SqlState::InvalidPassword, message))
    };
    // A user that does not exist is challenged as well and fails at the end, so that clients cannot
    // find out which users exist.
    let known = listener.database.verifier(user);
    let exists = known.is_some();
    let secret = secret(known.as_ref().unwrap_or(&listener.unknown_user)).ok_or_else(wrong)?;
    let mut mechanisms = BytesMut::new();
    mechanisms.put_slice(MECHANISM.as_bytes());
    mechanisms.put_slice(&[0, 0]);
    wire.out.authentication(SASL, &mechanisms);
    let mut first = Body::new(answer(wire).await?);
    let mechanism = first.text()?;
    if mechanism != MECHANISM {
        return Err(violation(format!("SASL mechanism \"{mechanism}\" was not offered")).into());
    }
    let length = first.u32()? as usize;
    let first = first.take(length)?;
    let server = ScramServerAuth::new();
    let begun = server.on_client_first_message_with_secret(&first, secret);
    let (challenge, waiting) = begun.map_err(|error| violation(error.to_string()))?;
    wire.out.authentication(SASL_CONTINUE, challenge.as_bytes());
    let last = answer(wire).await?;
    let proof = waiting.on_client_final_message(&last).map_err(|_| wrong())?;
    if !exists {
        return Err(wrong());
    }
    wire.out.authentication(SASL_FINAL, proof.as_bytes());
    Ok(true)
}

/// The parts of `SCRAM-SHA-256$iterations:salt$stored key:server key`.
fn secret(verifier: &str) -> Option<ScramSecret> {
    let (iterations, rest) = verifier.strip_prefix("SCRAM-SHA-256$")?.split_once(':')?;
    let (salt, keys) = rest.split_once('$')?;
    let (stored, server) = keys.split_once(':')?;
    let bytes = |text: &str| BASE64_STANDARD.decode(text).ok();
    Some(ScramSecret::Verifier {
        salt: bytes(salt)?,
        iterations: iterations.parse().ok()?,
        stored_key: bytes(stored)?,
        server_key: bytes(server)?,
    })
}

async fn answer<S: Stream>(wire: &mut Wire<S>) -> Result<bytes::Bytes, Ending> {
    wire.flush().await?;
    loop {
        match wire.frames.next()? {
            Some((b'p', body)) => return Ok(body),
            Some((other, _)) => {
                return Err(
                    violation(format!("expected a password, got message {other:#04x}")).into()
                );
            }
            None => wire.receive().await?,
        }
    }
}
