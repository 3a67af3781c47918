//! A server that is reached through PostgreSQL's protocol: where it is, who we are there, and what is said.
//!
//! What the URL does not say, the variables of PostgreSQL's clients say (`PGHOST`, `PGPORT`, `PGUSER`, `PGPASSWORD`,
//! `PGDATABASE`, `PGSSLMODE`, `PGSSLROOTCERT`, `PGPASSFILE`, `PGCONNECT_TIMEOUT`). Any server of that protocol will do,
//! not only ours. We speak it ourselves: a shell shows types, tags, notices and the transaction's state, which client
//! libraries keep to themselves.

mod address;
mod ask;
mod cancel;
mod channel;
mod connection;
mod message;
mod passfile;
mod startup;
mod tls;

pub(crate) use address::Address;
pub(crate) use ask::Texts;
pub(crate) use cancel::Key;
pub(crate) use connection::{Connection, Event};
pub(crate) use message::{Described, values};

use crate::terminal::can_ask;
use crate::trouble::SqlError;
use startup::{Failed, start};
use std::io;

/// Codes of a server that wants another password, or one at all.
const WANTS_PASSWORD: [&str; 2] = ["28P01", "28000"];

/// Connects to the first place that answers, and asks for a password where the server wants one and somebody can type
/// it. What cancels statements comes along.
pub(crate) async fn connect(address: &mut Address) -> Result<(Connection, Option<Key>), SqlError> {
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
    let mut failed = Failed::Broken(io::Error::other("there is no host in the URL"));
    for place in address.places() {
        match within(address, start(address, &place, &tls)).await {
            Ok(connection) => {
                let key = connection.key(&place);
                return Ok((connection, key));
            }
            // Who is refused by one server would be by its replicas.
            Err(Failed::Broken(error)) => failed = Failed::Broken(error),
            Err(said) => return Err(said),
        }
    }
    Err(failed)
}

/// The outcome, if it comes in the time that the user gives.
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
        Failed::Refused(said) => {
            let hint = WANTS_PASSWORD.contains(&said.code.as_str()).then_some(
                "The password is taken from the URL, PGPASSWORD or ~/.pgpass, or asked for on a terminal.",
            );
            let message = format!("{cannot}: {}", said.message);
            let hint = said.hint.clone().or(hint.map(str::to_owned));
            SqlError { message, hint, position: None, ..said }
        }
        Failed::PasswordMissing => {
            let message = format!("{cannot}: the server wants a password for {}", address.user());
            let hint = "Give it in PGPASSWORD or ~/.pgpass; on a terminal it is asked for.";
            SqlError::new("28P01", message).with_hint(hint)
        }
        Failed::Broken(error) => {
            let trouble = SqlError::new(UNREACHABLE, format!("{cannot}: {error}"));
            match error.kind() {
                io::ErrorKind::ConnectionRefused => {
                    trouble.with_hint("Is the server running there? `pando serve` starts one.")
                }
                _ => trouble,
            }
        }
    }
}
