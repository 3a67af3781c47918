//! The system tables about the server: the database, settings, statistics and objects that never
//! change.

use super::oids;
use crate::names::DATABASE;
use crate::rows::TableRows;
use crate::settings::known::{self, Kind};
use crate::view_context::ViewContext;
use std::time::{SystemTime, UNIX_EPOCH};
use values::cells::Cell;
use values::zone::listed::{Listed, abbreviations_at, zones_at};

const MICROS_PER_SECOND: i64 = 1_000_000;

/// `pg_database`.
pub(super) fn databases(rows: &mut TableRows) {
    rows.row([
        ("oid", oids::DATABASE.into()),
        ("datname", DATABASE.into()),
        ("datdba", oids::BOOTSTRAP_SUPERUSER.into()),
        ("encoding", 6_i64.into()),
        ("datlocprovider", "c".into()),
        ("datallowconn", true.into()),
        ("datconnlimit", (-1_i64).into()),
        ("dattablespace", DEFAULT_TABLESPACE.into()),
        ("datcollate", "C".into()),
        ("datctype", "C".into()),
    ]);
}

/// The id of the tablespace `pg_default`.
const DEFAULT_TABLESPACE: i64 = 1663;

/// `pg_tablespace`.
pub(super) fn tablespaces(rows: &mut TableRows) {
    for (oid, name) in [(DEFAULT_TABLESPACE, "pg_default"), (1664, "pg_global")] {
        let owner = oids::BOOTSTRAP_SUPERUSER.into();
        rows.row([("oid", oid.into()), ("spcname", name.into()), ("spcowner", owner)]);
    }
}

/// `pg_am`.
pub(super) fn access_methods(rows: &mut TableRows) {
    let indexes = [(oids::BTREE, "btree", "i"), (oids::HASH, "hash", "i")];
    for (oid, name, kind) in [(oids::HEAP, "heap", "t")].into_iter().chain(indexes) {
        rows.row([("oid", oid.into()), ("amname", name.into()), ("amtype", kind.into())]);
    }
}

/// `pg_language`.
pub(super) fn languages(rows: &mut TableRows) {
    for (oid, name) in oids::LANGUAGES {
        let trusted = !matches!(name, "internal" | "javascript");
        let owner = oids::BOOTSTRAP_SUPERUSER.into();
        let cells = [
            ("oid", oid.into()),
            ("lanname", name.into()),
            ("lanispl", (oid >= oids::PLPGSQL).into()),
            ("lanplcallfoid", if oid >= oids::PLPGSQL { oid } else { 0 }.into()),
            ("lanpltrusted", trusted.into()),
            ("lanowner", owner),
        ];
        rows.row(cells);
    }
}

/// `pg_collation`.
pub(super) fn collations(rows: &mut TableRows) {
    let all = [(oids::DEFAULT_COLLATION, "default", "d"), (950, "C", "c"), (951, "POSIX", "c")];
    for (oid, name, provider) in all {
        let locale: Cell = (provider == "c").then(|| name.to_owned()).into();
        rows.row([
            ("oid", oid.into()),
            ("collname", name.into()),
            ("collnamespace", oids::PG_CATALOG.into()),
            ("collowner", oids::BOOTSTRAP_SUPERUSER.into()),
            ("collprovider", provider.into()),
            ("collisdeterministic", true.into()),
            ("collencoding", (-1_i64).into()),
            ("collcollate", locale.clone()),
            ("collctype", locale),
        ]);
    }
}

/// `pg_settings`.
pub(super) fn settings(context: &ViewContext<'_>, rows: &mut TableRows) {
    for (name, value) in context.settings {
        let known = known::find(name);
        let kind = known.map_or(Kind::Text, |known| known.kind);
        let (vartype, unit) = match kind {
            Kind::Flag => ("bool", None),
            Kind::Number(..) => ("integer", None),
            Kind::Real(..) => ("real", None),
            Kind::Memory(1, ..) => ("integer", Some("kB")),
            Kind::Memory(..) => ("integer", Some("8kB")),
            Kind::Duration => ("integer", Some("ms")),
            Kind::Choice(_) => ("enum", None),
            Kind::Text
            | Kind::DateStyle
            | Kind::TimeZone
            | Kind::Encoding
            | Kind::Always
            | Kind::Internal
            | Kind::System => ("string", None),
        };
        let set_by = match kind {
            Kind::Internal => "internal",
            Kind::System => "sighup",
            _ => "user",
        };
        let default = known.map_or(value.as_str(), |known| known.default);
        let source = match kind {
            _ if default == value => "default",
            Kind::System => "configuration file",
            _ => "session",
        };
        let choices: Cell = match kind {
            Kind::Choice(choices) => {
                choices.iter().map(|choice| (*choice).to_owned()).collect::<Vec<_>>().into()
            }
            _ => Cell::Null,
        };
        let plain =
            |value: &str| known.map_or_else(|| value.to_owned(), |known| known.plain(value));
        rows.row([
            ("name", known::shown_name(name).into()),
            ("setting", plain(value).into()),
            ("unit", unit.into()),
            ("category", "Pando".into()),
            ("short_desc", known.map_or("", |known| known.meaning).into()),
            ("context", set_by.into()),
            ("vartype", vartype.into()),
            ("source", source.into()),
            ("enumvals", choices),
            ("boot_val", plain(default).into()),
            ("reset_val", plain(default).into()),
            ("pending_restart", false.into()),
        ]);
    }
}

/// `pg_stat_database`.
pub(super) fn database_statistics(context: &ViewContext<'_>, rows: &mut TableRows) {
    let counters = context.database.store().counters();
    rows.row([
        ("datid", oids::DATABASE.into()),
        ("datname", DATABASE.into()),
        ("numbackends", (context.database.connected_sessions().len() as i64).into()),
        ("xact_commit", i64::try_from(counters.commits).unwrap_or(i64::MAX).into()),
        ("xact_rollback", i64::try_from(counters.conflicts).unwrap_or(i64::MAX).into()),
    ]);
    rows.zero_other_counts();
}

/// `pg_timezone_names`: the values of `SET timezone`.
pub(super) fn time_zones(rows: &mut TableRows) {
    for Listed { name, abbreviation, offset, is_summer } in zones_at(now()) {
        rows.row([
            ("name", name.into()),
            ("abbrev", abbreviation.into()),
            ("utc_offset", (offset * MICROS_PER_SECOND).into()),
            ("is_dst", is_summer.into()),
        ]);
    }
}

/// `pg_timezone_abbrevs`: the names of zones in texts.
pub(super) fn zone_abbreviations(rows: &mut TableRows) {
    for Listed { name, offset, is_summer, .. } in abbreviations_at(now()) {
        rows.row([
            ("abbrev", name.into()),
            ("utc_offset", (offset * MICROS_PER_SECOND).into()),
            ("is_dst", is_summer.into()),
        ]);
    }
}

/// The time in microseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}
