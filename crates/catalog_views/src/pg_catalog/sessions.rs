//! The system tables about sessions: connections, and the prepared statements and cursors of the
//! current session.

use super::oids;
use crate::names::DATABASE;
use crate::rows::TableRows;
use crate::session_context::{Entry, Kind};
use crate::view_context::ViewContext;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};
use store::catalog::SqlType;
use values::cells::Cell;

/// A time as microseconds since 1970.
fn timestamp(time: SystemTime) -> Cell {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX).into()
}

/// `pg_stat_activity`: the sessions that clients are connected to.
pub(super) fn activity(context: &ViewContext<'_>, rows: &mut TableRows) {
    for session in context.database.connected_sessions() {
        let activity = session.activity();
        let user = session.login_user();
        let application = session.settings().get("application_name");
        rows.row([
            ("datid", oids::DATABASE.into()),
            ("datname", DATABASE.into()),
            ("pid", i64::from(session.process()).into()),
            ("usesysid", oids::role(&user).into()),
            ("usename", user.as_str().into()),
            ("application_name", application.unwrap_or_default().into()),
            ("client_addr", activity.client.map(|client| client.ip().to_string()).into()),
            ("client_port", activity.client.map(|client| i64::from(client.port())).into()),
            ("backend_start", timestamp(session.begun())),
            ("xact_start", activity.transaction_began.map(timestamp).into()),
            ("query_start", activity.query_began.map(timestamp).into()),
            ("state_change", timestamp(activity.changed)),
            ("wait_event_type", (!activity.is_active).then_some("Client").into()),
            ("wait_event", (!activity.is_active).then_some("ClientRead").into()),
            ("state", activity.state().into()),
            ("query", context.text_of(&user, activity.query.as_ref()).into()),
            ("backend_type", "client backend".into()),
        ]);
    }
}

/// `pg_prepared_statements`: those of the current session.
pub(super) fn prepared(context: &ViewContext<'_>, rows: &mut TableRows) {
    for entry in context.session.named_entries() {
        let Entry { name, statement, made, kind, .. } = &*entry;
        let Kind::Prepared { from_sql, parameters, executions } = kind else { continue };
        let types = parameters.get().map_or(&[][..], Vec::as_slice);
        let types: Vec<String> = types.iter().map(type_name).collect();
        let executions = i64::try_from(executions.load(Ordering::Relaxed)).unwrap_or(i64::MAX);
        rows.row([
            ("name", name.as_str().into()),
            ("statement", statement.as_str().into()),
            ("prepare_time", timestamp(*made)),
            ("parameter_types", types.into()),
            ("from_sql", (*from_sql).into()),
            // Each execution is planned with its parameter values.
            ("generic_plans", 0_i64.into()),
            ("custom_plans", executions.into()),
        ]);
    }
}

/// `pg_cursors`: those of the current session.
pub(super) fn cursors(context: &ViewContext<'_>, rows: &mut TableRows) {
    let entries: Vec<Arc<Entry>> = context.session.named_entries();
    for entry in entries {
        let Entry { name, statement, made, kind, .. } = &*entry;
        let Kind::Cursor { holds, is_binary, scrolls, .. } = kind else { continue };
        rows.row([
            ("name", name.as_str().into()),
            ("statement", statement.as_str().into()),
            ("is_holdable", (*holds).into()),
            ("is_binary", (*is_binary).into()),
            ("is_scrollable", (*scrolls).into()),
            ("creation_time", timestamp(*made)),
        ]);
    }
}

/// The name of a type without its length, as `regtype` displays it.
fn type_name(sql_type: &SqlType) -> String {
    let name = sql_type.to_string();
    let (open, close) = (name.find('('), name.find(')'));
    match open.zip(close) {
        Some((open, close)) => format!("{}{}", &name[..open], &name[close + 1..]),
        None => name,
    }
}
