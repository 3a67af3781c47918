//! Functions about the server, the session and their statistics.

use crate::pg_catalog::class::Class;
use crate::pg_catalog::oids;
use crate::search_path::SearchPath;
use crate::session_context::{SessionContext, SettingRequest};
use crate::settings::{Settings, unknown, values_of};
use datafusion::logical_expr::ScalarUDF;
use functions::row_function::{Row, function, volatile};
use std::sync::{Arc, LazyLock};
use std::time::{SystemTime, UNIX_EPOCH};
use store::catalog::{Relation, is_temporary_schema};
use values::cells::Cell;
use values::cells::Form;
use values::{Error, SqlState};

/// PostgreSQL's id of the encoding UTF8.
const UTF8: i64 = 6;

/// The time of the first use of these functions in this process, in microseconds since 1970.
static STARTED: LazyLock<i64> = LazyLock::new(|| {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
});

/// The functions.
pub(super) fn all(session: &Arc<dyn SessionContext>) -> Vec<ScalarUDF> {
    LazyLock::force(&STARTED);
    let mut all = constants();
    all.extend(of_ids());
    all.extend(of_session(session));
    all.extend(of_store(session));
    all
}

/// Functions with a constant result.
fn constants() -> Vec<ScalarUDF> {
    let constant = |name, form, cell: Cell| function(name, 0..=0, form, move |_| Ok(cell.clone()));
    let mut all = vec![
        constant("getdatabaseencoding", Form::Text, "UTF8".into()),
        constant("pg_client_encoding", Form::Text, "UTF8".into()),
        constant("pg_is_in_recovery", Form::Flag, false.into()),
        constant("pg_is_wal_replay_paused", Form::Flag, false.into()),
        constant("pg_jit_available", Form::Flag, false.into()),
        constant("pg_postmaster_start_time", Form::Moment, (*STARTED).into()),
        constant("pg_conf_load_time", Form::Moment, (*STARTED).into()),
        constant("inet_server_addr", Form::Text, Cell::Null),
        constant("inet_server_port", Form::Integer, Cell::Null),
        constant("pg_last_wal_replay_lsn", Form::Text, Cell::Null),
        constant("pg_last_xact_replay_timestamp", Form::Moment, Cell::Null),
    ];
    // It returns `void`, which is empty text for clients.
    all.push(constant("pg_stat_clear_snapshot", Form::Text, "".into()));
    all
}

/// Functions of an object or an encoding that do not depend on the session.
fn of_ids() -> Vec<ScalarUDF> {
    vec![
        function("pg_tablespace_location", 1..=1, Form::Text, |_| Ok("".into())),
        function("pg_relation_is_publishable", 1..=1, Form::Flag, |_| Ok(false.into())),
        function("pg_relation_filenode", 1..=1, Form::Number, |row| Ok(row.number(0).into())),
        function("pg_encoding_to_char", 1..=1, Form::Text, |row| {
            Ok(row.number(0).map(|number| if number == UTF8 { "UTF8" } else { "" }).into())
        }),
        function("pg_char_to_encoding", 1..=1, Form::Integer, |row| {
            let known = |name: &str| matches!(name.to_lowercase().as_str(), "utf8" | "utf-8");
            Ok(row.text(0).map(|name| if known(name) { UTF8 } else { -1 }).into())
        }),
        function("age", 1..=1, Form::Integer, |_| Ok(Cell::Number(0))),
        function("mxid_age", 1..=1, Form::Integer, |_| Ok(Cell::Number(0))),
        function("pg_get_replica_identity_index", 1..=1, Form::Number, |_| Ok(Cell::Null)),
    ]
}

/// Functions about the session: its users, schemas and settings.
fn of_session(session: &Arc<dyn SessionContext>) -> Vec<ScalarUDF> {
    let mut all = Vec::new();
    for name in ["current_user", "current_role", "user"] {
        let session = Arc::clone(session);
        let user = move |_: &Row<'_>| Ok(session.user().as_str().into());
        all.push(function(name, 0..=0, Form::Text, user));
    }
    let of = Arc::clone(session);
    let user = move |_: &Row<'_>| Ok(of.session_user().as_str().into());
    all.push(function("session_user", 0..=0, Form::Text, user));
    all.push(set_config(session));
    let of = Arc::clone(session);
    let began = move |_: &Row<'_>| Ok(of.statement_began().into());
    all.push(function("statement_timestamp", 0..=0, Form::Moment, began));
    let of = Arc::clone(session);
    all.push(function("pg_my_temp_schema", 0..=0, Form::Number, move |_| {
        let own =
            of.catalog().schema(of.temporary_schema()).map(|schema| oids::schema(&schema.name));
        Ok(own.unwrap_or_default().into())
    }));
    let of = Arc::clone(session);
    all.push(function("pg_is_other_temp_schema", 1..=1, Form::Flag, move |row| {
        let catalog = of.catalog();
        let others = catalog.schemas().map(|schema| schema.name.as_str());
        let mut others =
            others.filter(|name| is_temporary_schema(name) && *name != of.temporary_schema());
        Ok(row.number(0).map(|oid| others.any(|name| oids::schema(name) == oid)).into())
    }));
    let of = Arc::clone(session);
    all.push(function("current_schemas", 1..=1, Form::Texts, move |row| {
        let implicit = row.flag(0).unwrap_or_default();
        let named = of.search_path();
        let path = SearchPath::new(&named, of.temporary_schema());
        let schemas = path.existing(&of.catalog(), implicit).into_iter();
        Ok(schemas.map(str::to_owned).collect::<Vec<String>>().into())
    }));
    all
}

/// Functions that read the store: rows, sequences, commits.
fn of_store(session: &Arc<dyn SessionContext>) -> Vec<ScalarUDF> {
    let mut all = Vec::new();
    for name in ["txid_current", "pg_current_xact_id"] {
        let session = Arc::clone(session);
        all.push(volatile(name, 0..=0, Form::Number, move |_| {
            let commits = session.database().store().counters().log_position;
            Ok(i64::try_from(commits).unwrap_or(i64::MAX).into())
        }));
    }
    let of = Arc::clone(session);
    all.push(volatile("pg_sequence_last_value", 1..=1, Form::Number, move |row| {
        let catalog = of.catalog();
        let relation = row.number(0).and_then(|oid| Class::by_oid(&catalog, oid));
        let Some(Class::Relation(Relation::Sequence(sequence))) = relation else {
            return Ok(Cell::Null);
        };
        Ok(of.database().store().sequence_last(sequence)?.into())
    }));
    let of = Arc::clone(session);
    all.push(volatile("pg_stat_get_live_tuples", 1..=1, Form::Number, move |row| {
        let catalog = of.catalog();
        let table = row.number(0).and_then(oids::relation_of);
        let Some(Relation::Table(table)) = table.and_then(|id| catalog.relation_by_id(id)) else {
            return Ok(Cell::Number(0));
        };
        let rows: u64 = of.database().store().bucket_infos(table.id).iter().map(|b| b.rows).sum();
        Ok(i64::try_from(rows).unwrap_or(i64::MAX).into())
    }));
    for name in ["pg_stat_get_dead_tuples", "pg_stat_get_numscans", "pg_stat_get_blocks_fetched"] {
        all.push(function(name, 1..=1, Form::Number, |_| Ok(Cell::Number(0))));
    }
    all
}

/// `current_setting`, for a statement with these settings, which `set_config` may change in the session on the way.
pub fn current_setting(
    settings: Vec<(String, String)>,
    changing: Option<Arc<dyn SessionContext>>,
) -> ScalarUDF {
    let is_changing = changing.is_some();
    let value = move |row: &Row<'_>| -> values::Result<Cell> {
        let Some(name) = row.text(0) else { return Ok(Cell::Null) };
        let wanted = name.to_lowercase();
        if let Some(value) = changing.as_ref().and_then(|of| of.requested_setting(&wanted)) {
            return Ok(value.as_str().into());
        }
        match settings.iter().find(|(known, _)| *known == wanted) {
            Some((_, value)) => Ok(value.as_str().into()),
            // What PostgreSQL has is not missing, but refused.
            None => match unknown(&wanted) {
                error if error.state() == SqlState::FeatureNotSupported => Err(error),
                _ if row.flag(1) == Some(true) => Ok(Cell::Null),
                _ => Err(unknown(name)),
            },
        }
    };
    match is_changing {
        true => volatile("current_setting", 1..=2, Form::Text, value),
        false => function("current_setting", 1..=2, Form::Text, value),
    }
}

/// `set_config(name, value, is_local)`. The session changes the setting at the end of the
/// statement.
fn set_config(session: &Arc<dyn SessionContext>) -> ScalarUDF {
    let session = Arc::clone(session);
    volatile("set_config", 3..=3, Form::Text, move |row| {
        let Some(name) = row.text(0) else {
            let message = "SET requires parameter name";
            return Err(Error::new(SqlState::NullValueNotAllowed, message));
        };
        let name = name.to_lowercase();
        let mut settings = Settings::default();
        // NULL is the default value.
        let value = row.text(1).map(str::to_owned).or_else(|| settings.get(&name));
        let value = value.unwrap_or_default();
        settings.set(&name, &values_of(&name, &value)?)?;
        let local = row.flag(2).unwrap_or_default();
        let shown = settings.get(&name);
        let request = SettingRequest { name, value, shown: shown.clone(), is_local: local };
        session.request_setting(request);
        Ok(shown.into())
    })
}
