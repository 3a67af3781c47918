//! The client side of PostgreSQL's protocol: addresses, authentication, TLS and messages.
//!
//! The variables of PostgreSQL's clients are the defaults for what a URL omits: `PGHOST`, `PGPORT`, `PGUSER`, `PGPASSWORD`,
//! `PGDATABASE`, `PGSSLMODE`, `PGSSLROOTCERT`, `PGPASSFILE` and `PGCONNECT_TIMEOUT`. Any server with this protocol works.
//! Client libraries do not expose types, tags, notices and the state of the transaction as a shell shows them.

mod address;
mod ask;
mod cancel;
mod channel;
mod connection;
mod message;
mod passfile;
mod socket;
mod startup;
mod tls;

pub use address::Address;
pub use ask::Texts;
pub use cancel::Key;
pub use connection::Connection;
pub(crate) use connection::Event;
pub use message::Described;
pub(crate) use message::values;

use crate::error::SqlError;
use crate::terminal::can_ask;
use startup::{Failed, start};
use std::io;

/// SQLSTATEs of a wrong or missing password.
const WANTS_PASSWORD: [&str; 2] = ["28P01", "28000"];

/// Connects to the first endpoint of the address that answers, and returns the connection with the key that cancels its
/// statements. Prompts for the password on a terminal, if the server requires one that is not known.
///
/// # Errors
/// If no endpoint answers, or the server refuses the connection.
pub async fn connect(address: &mut Address) -> Result<(Connection, Option<Key>), SqlError> {
    match connect_once(address).await {
        Err(Failed::PasswordMissing) if can_ask() => {}
        outcome => return outcome.map_err(|failed| explained(failed, address)),
    }
    eprint!("Password for user {}: ", address.user());
    let typed = console::Term::stderr().read_secure_line();
    let typed = typed.map_err(|error| explained(Failed::Broken(error), address))?;
    address.set_password(&typed);
    connect_once(address).await.map_err(|failed| explained(failed, address))
}

async fn connect_once(address: &Address) -> Result<(Connection, Option<Key>), Failed> {
    let tls = tls::connector(address.verification.as_deref()).map_err(io::Error::other)?;
    let mut failed = Failed::Broken(io::Error::other("the URL has no host"));
    for endpoint in address.endpoints() {
        match within(address, start(address, &endpoint, &tls)).await {
            Ok(connection) => {
                let key = connection.key(&endpoint);
                return Ok((connection, key));
            }
            // A refusal is final: the other endpoints are replicas of the same server.
            Err(Failed::Broken(error)) => failed = Failed::Broken(error),
            Err(refused) => return Err(refused),
        }
    }
    Err(failed)
}

/// Applies the connect timeout of the address.
async fn within<T>(
    address: &Address,
    outcome: impl Future<Output = Result<T, Failed>>,
) -> Result<T, Failed> {
    match address.config.get_connect_timeout() {
        None => outcome.await,
        Some(time) => tokio::time::timeout(*time, outcome).await.unwrap_or_else(|_| {
            let message = format!("no answer within {} s", time.as_secs());
            Err(Failed::Broken(io::Error::new(io::ErrorKind::TimedOut, message)))
        }),
    }
}

fn explained(failed: Failed, address: &Address) -> SqlError {
    const UNREACHABLE: &str = "08001";
    let cannot = format!("cannot connect to {address}");
    match failed {
        Failed::Refused(refusal) => {
            let hint = WANTS_PASSWORD.contains(&refusal.code.as_str()).then_some(
                "The password comes from the URL, PGPASSWORD or ~/.pgpass, or is asked for on a terminal.",
            );
            let message = format!("{cannot}: {}", refusal.message);
            let hint = refusal.hint.clone().or(hint.map(str::to_owned));
            SqlError { message, hint, position: None, ..refusal }
        }
        Failed::PasswordMissing => {
            let message =
                format!("{cannot}: the server requires a password for {}", address.user());
            let hint = "Give it in PGPASSWORD or ~/.pgpass; on a terminal you are asked for it.";
            SqlError::new("28P01", message).with_hint(hint)
        }
        Failed::Broken(error) => {
            let unreachable = SqlError::new(UNREACHABLE, format!("{cannot}: {error}"));
            match error.kind() {
                io::ErrorKind::ConnectionRefused => {
                    unreachable.with_hint("Is the server running there? `pando serve` starts one.")
                }
                _ => unreachable,
            }
        }
    }
}
