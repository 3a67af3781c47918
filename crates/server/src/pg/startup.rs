//! Startup of a connection: encryption, protocol version, authentication, initial settings.

use super::backend::Output;
use super::cancel::{SECRET_BYTES, SECRET_BYTES_OLD};
use super::connection::Connection;
use super::error::Ending;
use super::gone::Presence;
use super::held::Held;
use super::wire::{Stream, Wire};
use super::{Listener, Stopping, auth};
use crate::tls;
use frontend::violation;
use frontend::{First, Startup};
use query::{Error, Session, SqlState};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

/// The first byte of a TLS connection.
const TLS_HANDSHAKE: u8 = 22;
const PROTOCOL_MINOR: u32 = 2;
/// The name of the only database.
const DATABASE: &str = "pando";
/// The database name that many clients use by default.
const DATABASE_OF_TOOLS: &str = "postgres";

/// Settings that are reported at startup and whenever they change.
const REPORTED: [&str; 11] = [
    "server_version",
    "server_encoding",
    "client_encoding",
    "application_name",
    "DateStyle",
    "IntervalStyle",
    "TimeZone",
    "integer_datetimes",
    "standard_conforming_strings",
    "in_hot_standby",
    "default_transaction_read_only",
];

/// A client, as the listener sees it.
struct Client {
    address: Option<SocketAddr>,
    presence: Presence,
}

/// Serves a connection from its first byte.
pub(crate) async fn serve(stream: TcpStream, listener: Arc<Listener>, stopping: Stopping) {
    let client = Client { address: stream.peer_addr().ok(), presence: Presence::of(&stream) };
    let limit = listener.limits.startup_timeout;
    let direct = tokio::time::timeout(limit, encrypted_from_the_start(&stream, &listener));
    let Ok(direct) = direct.await else { return };
    if let Some(tls) = direct {
        return encrypted(stream, &tls, true, client, listener, stopping).await;
    }
    let mut wire = Wire::new(stream, client.address);
    match tokio::time::timeout(limit, Box::pin(negotiate(&mut wire, &listener))).await {
        Ok(Ok(Some(Negotiated::Plain(startup)))) => {
            log_in(wire, startup, client.presence, listener, stopping).await;
        }
        Ok(Ok(Some(Negotiated::Encrypt(tls)))) => {
            // Bytes received before encryption are not authenticated, and are discarded.
            encrypted(wire.stream, &tls, false, client, listener, stopping).await;
        }
        Ok(Ok(None)) | Err(_) => {}
        Ok(Err(ending)) => refuse(wire, ending).await,
    }
}

/// The TLS acceptor for a client that begins with TLS immediately, as PostgreSQL 17 clients can.
async fn encrypted_from_the_start(stream: &TcpStream, listener: &Listener) -> Option<TlsAcceptor> {
    let tls = listener.tls.as_ref()?;
    let mut first = [0];
    let read = stream.peek(&mut first).await.ok()?;
    (read == 1 && first[0] == TLS_HANDSHAKE).then(|| tls.clone())
}

/// Serves an encrypted connection. A client that did not request encryption first must negotiate
/// the protocol by ALPN.
async fn encrypted(
    stream: TcpStream,
    tls: &TlsAcceptor,
    direct: bool,
    client: Client,
    listener: Arc<Listener>,
    stopping: Stopping,
) {
    let limit = listener.limits.startup_timeout;
    let accepted = tokio::time::timeout(limit, Box::pin(tls.accept(stream))).await;
    let Ok(Ok(stream)) = accepted else { return };
    let says = stream.get_ref().1.alpn_protocol() == Some(tls::PROTOCOL);
    let mut wire = Wire::new(stream, client.address);
    if direct && !says {
        let message =
            "received direct SSL connection request without ALPN protocol negotiation extension";
        return refuse(wire, violation(message).into()).await;
    }
    match tokio::time::timeout(limit, Box::pin(negotiate_encrypted(&mut wire))).await {
        Ok(Ok(startup)) => {
            Box::pin(log_in(wire, startup, client.presence, listener, stopping)).await;
        }
        Ok(Err(ending)) => refuse(wire, ending).await,
        Err(_) => {}
    }
}

/// Refuses a connection because there are too many.
pub(crate) async fn turn_away<S: Stream>(stream: S) {
    let mut wire = Wire::new(stream, None);
    let message = "sorry, too many clients already";
    wire.out.error("FATAL", &Error::new(SqlState::TooManyConnections, message), 0);
    let _ = tokio::time::timeout(std::time::Duration::from_secs(1), wire.flush()).await;
}

async fn refuse<S: Stream>(mut wire: Wire<S>, ending: Ending) {
    if let Ending::Fatal(error) = ending {
        wire.out.error("FATAL", &error, 0);
        let _ = wire.flush().await;
    }
}

enum Negotiated {
    Plain(Startup),
    Encrypt(TlsAcceptor),
}

/// Answers encryption requests until the startup message is received; `None` for a cancel request.
async fn negotiate<S: Stream>(
    wire: &mut Wire<S>,
    listener: &Listener,
) -> Result<Option<Negotiated>, Ending> {
    loop {
        match first(wire).await? {
            First::Ssl => match &listener.tls {
                Some(tls) if wire.frames.is_empty() => {
                    wire.out.0.extend_from_slice(b"S");
                    wire.flush().await?;
                    return Ok(Some(Negotiated::Encrypt(tls.clone())));
                }
                Some(_) => {
                    return Err(violation("received unencrypted data after SSL request").into());
                }
                None => {
                    wire.out.0.extend_from_slice(b"N");
                    wire.flush().await?;
                }
            },
            First::Gss => {
                wire.out.0.extend_from_slice(b"N");
                wire.flush().await?;
            }
            First::Cancel { process, secret } => {
                listener.cancels.cancel(process, &secret);
                return Ok(None);
            }
            First::Startup(startup) => return Ok(Some(Negotiated::Plain(startup))),
        }
    }
}

async fn negotiate_encrypted<S: Stream>(wire: &mut Wire<S>) -> Result<Startup, Ending> {
    match first(wire).await? {
        First::Startup(startup) => Ok(startup),
        First::Cancel { .. } => Err(Ending::Closed),
        First::Ssl | First::Gss => Err(violation("the connection is already encrypted").into()),
    }
}

async fn first<S: Stream>(wire: &mut Wire<S>) -> Result<First, Ending> {
    loop {
        if let Some(body) = wire.frames.next_untyped()? {
            return Ok(First::decode(body)?);
        }
        wire.receive().await?;
    }
}

async fn log_in<S: Stream>(
    mut wire: Wire<S>,
    startup: Startup,
    client: Presence,
    listener: Arc<Listener>,
    stopping: Stopping,
) {
    let limit = listener.limits.startup_timeout;
    let authenticated = Box::pin(authenticate(&mut wire, &startup, &listener));
    let session = match tokio::time::timeout(limit, authenticated).await {
        Ok(Ok(session)) => session,
        Ok(Err(ending)) => return refuse(wire, ending).await,
        Err(_) => return,
    };
    wire.frames.limit = listener.limits.message_bytes_max;
    wire.held = Some(Held::new(listener.database.store().memory()));
    let secret_bytes =
        if startup.minor >= PROTOCOL_MINOR { SECRET_BYTES } else { SECRET_BYTES_OLD };
    let registered = listener.cancels.register(&session, auth::random_bytes(secret_bytes));
    let mut connection = Connection::new(wire, session, listener);
    connection.greet(registered.process, &registered.secret);
    connection.serve(client, stopping).await;
}

/// Authenticates the client and returns a session with its settings.
async fn authenticate<S: Stream>(
    wire: &mut Wire<S>,
    startup: &Startup,
    listener: &Listener,
) -> Result<Session, Ending> {
    let fatal = |state, message: String| Ending::Fatal(Error::new(state, message));
    let unknown = startup.extensions();
    if startup.minor > PROTOCOL_MINOR || !unknown.is_empty() {
        wire.out.negotiate(startup.minor.min(PROTOCOL_MINOR), &unknown);
    }
    let Some(user) = startup.get("user").filter(|user| !user.is_empty()) else {
        let message = "no PostgreSQL user name specified in startup packet".to_owned();
        return Err(fatal(SqlState::InvalidAuthorization, message));
    };
    if startup
        .get("replication")
        .is_some_and(|value| !matches!(value, "false" | "off" | "no" | "0"))
    {
        let message = "replication connections are not supported".to_owned();
        return Err(fatal(SqlState::FeatureNotSupported, message));
    }
    let authenticated = auth::authenticate(wire, user, listener).await?;
    let database = startup.get("database").filter(|name| !name.is_empty()).unwrap_or(user);
    if ![DATABASE, DATABASE_OF_TOOLS, user].contains(&database) {
        let error = Error::new(
            SqlState::InvalidCatalogName,
            format!("database \"{database}\" does not exist"),
        );
        return Err(Ending::Fatal(
            error.with_hint(format!("The name of the database is {DATABASE}.")),
        ));
    }
    let session = listener.database.session();
    session.log_in(user, authenticated);
    session.connected(wire.client);
    if authenticated {
        listener.database.admit(user).map_err(Ending::Fatal)?;
    }
    for (name, value) in startup.settings() {
        session.set_at_startup(&name, &value).map_err(Ending::Fatal)?;
    }
    wire.out.authentication(auth::OK, &[]);
    Ok(session)
}

impl<S: Stream> Connection<S> {
    /// Sends the initial messages of a session.
    fn greet(&mut self, process: u32, secret: &[u8]) {
        let value = |name: &str| self.session.setting(&name.to_lowercase()).unwrap_or_default();
        self.reported = REPORTED.iter().map(|name| (*name, value(name))).collect();
        let out: &mut Output = &mut self.wire.out;
        for (name, value) in &self.reported {
            out.parameter_status(name, value);
        }
        let user = self.session.user();
        out.parameter_status("session_authorization", &user);
        out.parameter_status(
            "is_superuser",
            if self.session.is_superuser() { "on" } else { "off" },
        );
        out.key_data(process, secret);
        out.ready(query::TransactionStatus::Idle);
        self.flush_due();
    }
}
