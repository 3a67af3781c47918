//! The server and the session: who, where, since when.

use super::super::row_function::{Row, function, volatile};
use crate::error::{Error, SqlState};
use crate::session::Names;
use crate::session::settings::Settings;
use crate::system::pg_catalog::oids;
use crate::system::pg_catalog::world::Class;
use crate::system::rows::Cell;
use crate::system::shape::Form;
use arc_swap::ArcSwap;
use datafusion::logical_expr::ScalarUDF;
use std::sync::{Arc, LazyLock};
use std::time::{SystemTime, UNIX_EPOCH};
use store::catalog::Relation;

/// PostgreSQL's number of UTF8 among encodings.
const UTF8: i64 = 6;

/// When the process first needed to know when it began.
static STARTED: LazyLock<i64> = LazyLock::new(|| {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
});

/// The functions.
pub(super) fn all(names: &Arc<Names>) -> Vec<ScalarUDF> {
    LazyLock::force(&STARTED);
    let mut all = constants();
    all.extend(of_ids());
    all.extend(of_session(names));
    all.extend(of_store(names));
    all
}

/// What is the same whoever asks.
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
        constant("pg_backend_pid", Form::Integer, Cell::Number(i64::from(std::process::id()))),
        constant("inet_server_addr", Form::Text, Cell::Null),
        constant("inet_server_port", Form::Integer, Cell::Null),
        constant("inet_client_addr", Form::Text, Cell::Null),
        constant("inet_client_port", Form::Integer, Cell::Null),
        constant("pg_my_temp_schema", Form::Number, Cell::Number(0)),
        constant("pg_last_wal_replay_lsn", Form::Text, Cell::Null),
        constant("pg_last_xact_replay_timestamp", Form::Moment, Cell::Null),
    ];
    for name in ["pg_advisory_unlock_all", "pg_stat_clear_snapshot"] {
        // They give `void`, which clients read as empty text.
        all.push(constant(name, Form::Text, "".into()));
    }
    all
}

/// What answers about an object, an encoding or another process.
fn of_ids() -> Vec<ScalarUDF> {
    vec![
        function("pg_is_other_temp_schema", 1..=1, Form::Flag, |_| Ok(false.into())),
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
        function("pg_cancel_backend", 1..=1, Form::Flag, |_| Ok(false.into())),
        function("pg_terminate_backend", 1..=2, Form::Flag, |_| Ok(false.into())),
    ]
}

/// Who and where the session is.
fn of_session(names: &Arc<Names>) -> Vec<ScalarUDF> {
    let mut all = Vec::new();
    for name in ["current_user", "session_user", "current_role", "user"] {
        let names = Arc::clone(names);
        let user = move |_: &Row<'_>| Ok(names.user.load().as_str().into());
        all.push(function(name, 0..=0, Form::Text, user));
    }
    all.push(set_config(names));
    let of = Arc::clone(names);
    all.push(function("current_schemas", 1..=1, Form::Texts, move |row| {
        let implicit = row.flag(0).unwrap_or_default().then(|| "pg_catalog".to_owned());
        let catalog = of.catalog.load();
        let path = of.search_path.load();
        let there = path.iter().filter(|schema| catalog.schema(schema).is_some()).cloned();
        Ok(implicit.into_iter().chain(there).collect::<Vec<String>>().into())
    }));
    all
}

/// What the store knows: rows, sequences, commits.
fn of_store(names: &Arc<Names>) -> Vec<ScalarUDF> {
    let mut all = Vec::new();
    for name in ["txid_current", "pg_current_xact_id"] {
        let names = Arc::clone(names);
        all.push(volatile(name, 0..=0, Form::Number, move |_| {
            let commits = names.shared.store.counters().log_position;
            Ok(i64::try_from(commits).unwrap_or(i64::MAX).into())
        }));
    }
    let of = Arc::clone(names);
    all.push(volatile("pg_sequence_last_value", 1..=1, Form::Number, move |row| {
        let catalog = of.catalog.load();
        let relation = row.number(0).and_then(|oid| Class::by_oid(&catalog, oid));
        let Some(Class::Relation(Relation::Sequence(sequence))) = relation else {
            return Ok(Cell::Null);
        };
        Ok(of.shared.store.sequence_last(sequence.id).into())
    }));
    let of = Arc::clone(names);
    all.push(volatile("pg_stat_get_live_tuples", 1..=1, Form::Number, move |row| {
        let catalog = of.catalog.load();
        let table = row.number(0).and_then(oids::relation_of);
        let Some(Relation::Table(table)) = table.and_then(|id| catalog.relation_by_id(id)) else {
            return Ok(Cell::Number(0));
        };
        let rows: u64 = of.shared.store.bucket_infos(table.id).iter().map(|b| b.rows).sum();
        Ok(i64::try_from(rows).unwrap_or(i64::MAX).into())
    }));
    for name in ["pg_stat_get_dead_tuples", "pg_stat_get_numscans", "pg_stat_get_blocks_fetched"] {
        all.push(function(name, 1..=1, Form::Number, |_| Ok(Cell::Number(0))));
    }
    all
}

/// `current_setting`, for one statement.
pub(crate) fn current_setting(settings: Vec<(String, String)>) -> ScalarUDF {
    function("current_setting", 1..=2, Form::Text, move |row| {
        let Some(name) = row.text(0) else { return Ok(Cell::Null) };
        let wanted = name.to_lowercase();
        match settings.iter().find(|(known, _)| *known == wanted) {
            Some((_, value)) => Ok(value.as_str().into()),
            None if row.flag(1) == Some(true) => Ok(Cell::Null),
            None => {
                let message = format!("unrecognized configuration parameter \"{name}\"");
                Err(Error::new(SqlState::UndefinedObject, message))
            }
        }
    })
}

/// `set_config(name, value, is_local)`. The session takes the value over when its next statement begins
/// ([`apply_settings`]); until the end of a transaction only (`is_local`) is not known here.
fn set_config(names: &Arc<Names>) -> ScalarUDF {
    let names = Arc::clone(names);
    volatile("set_config", 3..=3, Form::Text, move |row| {
        let Some(name) = row.text(0) else {
            let message = "SET requires parameter name";
            return Err(Error::new(SqlState::InvalidParameterValue, message));
        };
        let (name, value) = (name.to_lowercase(), row.text(1).unwrap_or_default().to_owned());
        Settings::default().set(&name, &setting_values(&name, &value))?;
        names.asked_settings.lock().push((name, value.clone()));
        Ok(value.into())
    })
}

/// Takes over what `set_config` asked for.
pub(crate) fn apply_settings(names: &Names, settings: &ArcSwap<Settings>) {
    let asked = std::mem::take(&mut *names.asked_settings.lock());
    if asked.is_empty() {
        return;
    }
    let mut changed = Settings::clone(&settings.load());
    for (name, value) in asked {
        // The function has refused what cannot be set.
        let set = changed.set(&name, &setting_values(&name, &value));
        debug_assert!(set.is_ok(), "{name} was tried before");
    }
    settings.store(Arc::new(changed));
}

/// The search path is a list; everything else is one value.
fn setting_values(name: &str, value: &str) -> Vec<String> {
    match name {
        "search_path" => {
            let parts = value.split(',').map(|part| part.trim().trim_matches('"').to_owned());
            parts.filter(|part| !part.is_empty()).collect()
        }
        _ => vec![value.to_owned()],
    }
}
