//! Sessions among others: which one this is, and cancelling or ending another.

use super::super::row_function::{Row, function, volatile};
use crate::access::Access;
use crate::error::{Error, Result, SqlState};
use crate::session::Names;
use crate::system::rows::Cell;
use crate::system::shape::Form;
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;

/// The functions.
pub(super) fn all(names: &Arc<Names>) -> Vec<ScalarUDF> {
    let of_client = |name, form, answer: fn(std::net::SocketAddr) -> Cell| {
        let names = Arc::clone(names);
        function(name, 0..=0, form, move |_| {
            Ok(names.presence.activity().client.map(answer).into())
        })
    };
    let process = i64::from(names.presence.process);
    vec![
        function("pg_backend_pid", 0..=0, Form::Integer, move |_| Ok(process.into())),
        of_client("inet_client_addr", Form::Text, |client| client.ip().to_string().into()),
        of_client("inet_client_port", Form::Integer, |client| i64::from(client.port()).into()),
        // Nobody waits for a lock.
        function("pg_blocking_pids", 1..=1, Form::Integers, |row| {
            Ok(row.number(0).map(|_| Vec::<i64>::new()).into())
        }),
        signal(names, "pg_cancel_backend", 1, &CANCEL, |other| {
            other.presence.cancellation.handle().cancel();
        }),
        signal(names, "pg_terminate_backend", 2, &TERMINATE, |other| {
            other.presence.terminated.cancel();
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
    names: &Arc<Names>,
    name: &'static str,
    arguments: usize,
    deed: &'static Deed,
    act: fn(&Names),
) -> ScalarUDF {
    let names = Arc::clone(names);
    volatile(name, 1..=arguments, Form::Flag, move |row: &Row<'_>| {
        let Some(process) = row.number(0) else { return Ok(Cell::Null) };
        let Some(other) = names.shared.sessions.get(process) else {
            let message = format!("PID {process} is not a PostgreSQL backend process");
            names.say("WARNING", Error::new(SqlState::Warning, message));
            return Ok(false.into());
        };
        refuse_others(&names, &other, deed)?;
        act(&other);
        Ok(true.into())
    })
}

/// Members of a role do something to its sessions, and only superusers to those of superusers.
fn refuse_others(names: &Names, other: &Names, deed: &Deed) -> Result<()> {
    let catalog = names.shared.store.catalog();
    let (me, them) = (names.role(), other.limited(other.login_user.load_full()));
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
