//! `pg_backend_pid`, `pg_cancel_backend`, `pg_terminate_backend` and similar functions about
//! sessions.

use crate::access::Access;
use crate::session_context::SessionContext;
use datafusion::logical_expr::ScalarUDF;
use functions::row_function::{Row, function, volatile};
use std::sync::Arc;
use store::locks::Party;
use values::cells::Cell;
use values::cells::Form;
use values::{Error, Result, SqlState};

/// The function that returns the channels that the session listens to as an array.
pub const CHANNELS: &str = "pg_listening_channel_list";

/// The functions.
pub(super) fn all(session: &Arc<dyn SessionContext>) -> Vec<ScalarUDF> {
    let of_client = |name, form, answer: fn(std::net::SocketAddr) -> Cell| {
        let session = Arc::clone(session);
        function(name, 0..=0, form, move |_| Ok(session.activity().client.map(answer).into()))
    };
    let process = i64::from(session.process());
    let (notifying, listening) = (Arc::clone(session), Arc::clone(session));
    let running = Arc::clone(session);
    vec![
        volatile("pg_notify", 2..=2, Form::Text, move |row| {
            notifying.notify(row.text(0).unwrap_or_default(), row.text(1).unwrap_or_default())?;
            Ok("".into())
        }),
        function(CHANNELS, 0..=0, Form::Texts, move |_| Ok(listening.listening_channels().into())),
        volatile("pg_trigger_depth", 0..=0, Form::Integer, move |_| {
            Ok(running.trigger_depth().into())
        }),
        function("pg_backend_pid", 0..=0, Form::Integer, move |_| Ok(process.into())),
        of_client("inet_client_addr", Form::Text, |client| client.ip().to_string().into()),
        of_client("inet_client_port", Form::Integer, |client| i64::from(client.port()).into()),
        blocking(session),
        signal(session, "pg_cancel_backend", 1, &CANCEL, |other| {
            other.cancel();
        }),
        signal(session, "pg_terminate_backend", 2, &TERMINATE, |other| {
            other.terminate();
        }),
    ]
}

/// The sessions on this server that one waits for.
fn blocking(session: &Arc<dyn SessionContext>) -> ScalarUDF {
    let session = Arc::clone(session);
    volatile("pg_blocking_pids", 1..=1, Form::Integers, move |row| {
        let Some(process) = row.number(0) else { return Ok(Cell::Null) };
        let waits = session.database().store().waits();
        let of = |(waiter, _): &(Party, Party)| i64::try_from(waiter.number) == Ok(process);
        let blockers = waits.into_iter().filter(of);
        let numbers = blockers.filter_map(|(_, blocker)| i64::try_from(blocker.number).ok());
        Ok(numbers.collect::<Vec<i64>>().into())
    })
}

/// The errors of a function that signals another session.
struct SignalErrors {
    /// The other session is a superuser's.
    of_superusers: &'static str,
    /// The session is not a member of the other session's role.
    of_others: &'static str,
}

const CANCEL: SignalErrors = SignalErrors {
    of_superusers: "must be a superuser to cancel superuser query",
    of_others: "must be a member of the role whose query is being canceled or member of pg_signal_backend",
};

const TERMINATE: SignalErrors = SignalErrors {
    of_superusers: "must be a superuser to terminate superuser process",
    of_others: "must be a member of the role whose process is being terminated or member of pg_signal_backend",
};

/// A function that signals another session. It returns false if no session has the number.
fn signal(
    session: &Arc<dyn SessionContext>,
    name: &'static str,
    arguments: usize,
    errors: &'static SignalErrors,
    act: fn(&dyn SessionContext),
) -> ScalarUDF {
    let session = Arc::clone(session);
    volatile(name, 1..=arguments, Form::Flag, move |row: &Row<'_>| {
        let Some(process) = row.number(0) else { return Ok(Cell::Null) };
        let Some(other) = session.database().connected_session(process) else {
            let message = format!("PID {process} is not a PostgreSQL backend process");
            session.say("WARNING", Error::new(SqlState::Warning, message));
            return Ok(false.into());
        };
        check_signal(&*session, &*other, errors)?;
        act(&*other);
        Ok(true.into())
    })
}

/// Checks that a session may signal another one: it is a member of the other's role, or a
/// superuser. Only superusers may signal sessions of superusers.
///
/// # Errors
/// 42501 if it may not.
fn check_signal(
    session: &dyn SessionContext,
    other: &dyn SessionContext,
    errors: &SignalErrors,
) -> Result<()> {
    let catalog = session.database().store().catalog();
    let (me, them) = (session.role(), other.limited(other.login_user()));
    let access = |role| Access::new(&catalog, role);
    let mine = access(me.as_deref().map(String::as_str));
    if mine.is_superuser() {
        return Ok(());
    }
    let theirs = them.as_deref().map(String::as_str);
    let message = match theirs.filter(|_| !access(theirs).is_superuser()) {
        Some(theirs) if mine.has_role(theirs) => return Ok(()),
        Some(_) => errors.of_others,
        None => errors.of_superusers,
    };
    Err(Error::new(SqlState::InsufficientPrivilege, message))
}
