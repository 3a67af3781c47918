//! The tables about the server: database, settings, what is running, and the few objects that are always the same.

use super::super::rows::{Cell, TableRows};
use super::world::{DATABASE, World};
use super::{oids, roles};
use std::time::UNIX_EPOCH;

/// pg_database.
pub(super) fn databases(rows: &mut TableRows) {
    rows.row([
        ("oid", oids::DATABASE.into()),
        ("datname", DATABASE.into()),
        ("datdba", roles::OWNER.into()),
        ("encoding", 6_i64.into()),
        ("datlocprovider", "c".into()),
        ("datallowconn", true.into()),
        ("datconnlimit", (-1_i64).into()),
        ("dattablespace", DEFAULT_TABLESPACE.into()),
        ("datcollate", "C".into()),
        ("datctype", "C".into()),
    ]);
}

const DEFAULT_TABLESPACE: i64 = 1663;

/// pg_tablespace.
pub(super) fn tablespaces(rows: &mut TableRows) {
    for (oid, name) in [(DEFAULT_TABLESPACE, "pg_default"), (1664, "pg_global")] {
        let owner = roles::OWNER.into();
        rows.row([("oid", oid.into()), ("spcname", name.into()), ("spcowner", owner)]);
    }
}

/// pg_am.
pub(super) fn access_methods(rows: &mut TableRows) {
    for (oid, name, kind) in [(oids::HEAP, "heap", "t"), (oids::BTREE, "btree", "i")] {
        rows.row([("oid", oid.into()), ("amname", name.into()), ("amtype", kind.into())]);
    }
}

/// pg_language.
pub(super) fn languages(rows: &mut TableRows) {
    for (oid, name) in [(12_i64, "internal"), (14, "sql")] {
        let trusted = (name == "sql").into();
        let owner = roles::OWNER.into();
        let cells = [
            ("oid", oid.into()),
            ("lanname", name.into()),
            ("lanpltrusted", trusted),
            ("lanowner", owner),
        ];
        rows.row(cells);
    }
}

/// pg_collation.
pub(super) fn collations(rows: &mut TableRows) {
    let all = [(oids::DEFAULT_COLLATION, "default", "d"), (950, "C", "c"), (951, "POSIX", "c")];
    for (oid, name, provider) in all {
        let locale: Cell = (provider == "c").then(|| name.to_owned()).into();
        rows.row([
            ("oid", oid.into()),
            ("collname", name.into()),
            ("collnamespace", oids::PG_CATALOG.into()),
            ("collowner", roles::OWNER.into()),
            ("collprovider", provider.into()),
            ("collisdeterministic", true.into()),
            ("collencoding", (-1_i64).into()),
            ("collcollate", locale.clone()),
            ("collctype", locale),
        ]);
    }
}

/// Settings of PostgreSQL's that clients look up here and that a session cannot change.
const CONSTANTS: [(&str, &str); 12] = [
    ("block_size", "8192"),
    ("default_table_access_method", "heap"),
    ("default_transaction_isolation", "repeatable read"),
    ("integer_datetimes", "on"),
    ("jit", "off"),
    ("lc_collate", "C"),
    ("lc_ctype", "C"),
    ("max_connections", "10000"),
    ("max_identifier_length", "63"),
    ("max_index_keys", "32"),
    ("server_version_num", "150000"),
    ("wal_level", "minimal"),
];

/// Every setting with its value: the session's, and what is the same for all.
pub(crate) fn all_settings(session: &[(String, String)]) -> Vec<(String, String)> {
    let constant = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let known = |name: &str| session.iter().any(|(own, _)| own == name);
    let constants = CONSTANTS.iter().filter(|(name, _)| !known(name)).map(constant);
    let mut all: Vec<(String, String)> = session.iter().cloned().chain(constants).collect();
    all.sort();
    all
}

/// pg_settings.
pub(super) fn settings(world: &World<'_>, rows: &mut TableRows) {
    for (name, value) in all_settings(world.settings) {
        rows.row([
            ("name", name.into()),
            ("setting", value.as_str().into()),
            ("category", "Pando".into()),
            ("short_desc", "".into()),
            ("context", "user".into()),
            ("vartype", "string".into()),
            ("source", "default".into()),
            ("boot_val", value.as_str().into()),
            ("reset_val", value.into()),
            ("pending_restart", false.into()),
        ]);
    }
}

/// pg_stat_activity: the statements that are running.
pub(super) fn activity(world: &World<'_>, rows: &mut TableRows) {
    for running in world.shared.running.lock().values() {
        let started = running.started.duration_since(UNIX_EPOCH).unwrap_or_default();
        let started = i64::try_from(started.as_micros()).unwrap_or(i64::MAX);
        let session = i64::try_from(running.session).unwrap_or(i64::MAX);
        rows.row([
            ("datid", oids::DATABASE.into()),
            ("datname", DATABASE.into()),
            ("pid", session.into()),
            ("usesysid", roles::OWNER.into()),
            ("usename", roles::OWNER_NAME.into()),
            ("query_start", started.into()),
            ("state_change", started.into()),
            ("state", "active".into()),
            ("query", running.text.as_str().into()),
            ("backend_type", "client backend".into()),
        ]);
    }
}

/// pg_stat_database.
pub(super) fn database_statistics(world: &World<'_>, rows: &mut TableRows) {
    let counters = world.shared.store.counters();
    rows.row([
        ("datid", oids::DATABASE.into()),
        ("datname", DATABASE.into()),
        ("numbackends", (world.shared.running.lock().len() as i64).into()),
        ("xact_commit", i64::try_from(counters.commits).unwrap_or(i64::MAX).into()),
        ("xact_rollback", i64::try_from(counters.conflicts).unwrap_or(i64::MAX).into()),
    ]);
}

/// pg_timezone_names: what `SET timezone` takes.
pub(super) fn time_zones(rows: &mut TableRows) {
    for name in ["Etc/UTC", "GMT", "UTC"] {
        let short = if name == "GMT" { "GMT" } else { "UTC" };
        rows.row([("name", name.into()), ("abbrev", short.into()), ("is_dst", false.into())]);
    }
}

/// pg_get_keywords(): the words that need quotes as names.
pub(super) fn keywords(rows: &mut TableRows) {
    for word in super::definitions::RESERVED {
        let reserved = ("catdesc", "reserved".into());
        rows.row([("word", word.into()), ("catcode", "R".into()), reserved]);
    }
}
