//! Sessions among others: which one this is, and cancelling or ending another.

use crate::catalog_views::access::Access;
use crate::catalog_views::session_context::SessionContext;
use crate::functions::row_function::{Row, function, volatile};
use crate::values::cells::Cell;
use crate::values::cells::Form;
use crate::values::error::{Error, Result, SqlState};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;

/// The functions.
pub(super) fn all(session: &Arc<dyn SessionContext>) -> Vec<ScalarUDF> {
    let of_client = |name, form, answer: fn(std::net::SocketAddr) -> Cell| {
        let session = Arc::clone(session);
        function(name, 0..=0, form, move |_| Ok(session.activity().client.map(answer).into()))
    };
    let process = i64::from(session.process());
    vec![
        function("pg_backend_pid", 0..=0, Form::Integer, move |_| Ok(process.into())),
        of_client("inet_client_addr", Form::Text, |client| client.ip().to_string().into()),
        of_client("inet_client_port", Form::Integer, |client| i64::from(client.port()).into()),
        // Nobody waits for a lock.
        function("pg_blocking_pids", 1..=1, Form::Integers, |row| {
            Ok(row.number(0).map(|_| Vec::<i64>::new()).into())
        }),
        signal(session, "pg_cancel_backend", 1, &CANCEL, |other| {
            other.cancel();
        }),
        signal(session, "pg_terminate_backend", 2, &TERMINATE, |other| {
            other.terminate();
        }),
    ]
}

/// What is done to a session, and what those hear who may not.
struct Deed {
    of_superusers: &'static str,
    of_others: &'static str,
}

const CANCEL: Deed = Deed {
    of_superusers: "must be a superuser to cancel superuser query",
    of_others: "must be a member of the role whose query is being canceled or member of pg_signal_backend",
};

const TERMINATE: Deed = Deed {
    of_superusers: "must be a superuser to terminate superuser process",
    of_others: "must be a member of the role whose process is being terminated or member of pg_signal_backend",
};

/// A function that does something to another session; false where there is none of this number.
fn signal(
    session: &Arc<dyn SessionContext>,
    name: &'static str,
    arguments: usize,
    deed: &'static Deed,
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
        refuse_others(&*session, &*other, deed)?;
        act(&*other);
        Ok(true.into())
    })
}

/// Members of a role do something to its sessions, and only superusers to those of superusers.
fn refuse_others(
    session: &dyn SessionContext,
    other: &dyn SessionContext,
    deed: &Deed,
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
        Some(_) => deed.of_others,
        None => deed.of_superusers,
    };
    Err(Error::new(SqlState::InsufficientPrivilege, message))
}
