//! PostgreSQL's ids, names and properties of types.

use std::collections::HashMap;
use std::sync::LazyLock;
use store::catalog::SqlType;
use values::types::is_record;

/// The rows of `pg_type`.
pub const FILE: &str = include_str!("data/pg_type.tsv");

/// `boolean`
pub const BOOL: i64 = 16;
/// `bigint`
pub const INT8: i64 = 20;
/// `smallint`
pub const INT2: i64 = 21;
/// `integer`
pub const INT4: i64 = 23;
/// `text`
pub const TEXT: i64 = 25;
/// `json`
pub const JSON: i64 = 114;
/// `anyarray`
pub const ANYARRAY: i64 = 2277;
/// `anyenum`
pub const ANYENUM: i64 = 3500;
const JSONB: i64 = 3802;
const FLOAT4: i64 = 700;
const FLOAT8: i64 = 701;
const BYTEA: i64 = 17;
const BPCHAR: i64 = 1042;
/// `character varying`
pub const VARCHAR: i64 = 1043;
const DATE: i64 = 1082;
const TIME: i64 = 1083;
const TIMESTAMP: i64 = 1114;
const TIMESTAMPTZ: i64 = 1184;
const INTERVAL: i64 = 1186;
const BIT: i64 = 1560;
const VARBIT: i64 = 1562;
const NUMERIC: i64 = 1700;
const UUID: i64 = 2950;
const RECORD: i64 = 2249;

/// `record_in`, the input function of rows
pub const RECORD_IN: i64 = 2290;
/// `record_out`, the output function of rows
pub const RECORD_OUT: i64 = 2291;
/// `record_recv`, the binary input function of rows
pub const RECORD_RECEIVE: i64 = 2402;
/// `record_send`, the binary output function of rows
pub const RECORD_SEND: i64 = 2403;

/// Bytes that PostgreSQL adds to a length or precision in a type modifier.
const HEADER: i64 = 4;

/// The SQL names of types whose name in `pg_type` differs.
const SQL_NAMES: [(i64, &str); 18] = [
    (BOOL, "boolean"),
    (18, "\"char\""),
    (INT8, "bigint"),
    (INT2, "smallint"),
    (INT4, "integer"),
    (FLOAT4, "real"),
    (FLOAT8, "double precision"),
    (BPCHAR, "character"),
    (VARCHAR, "character varying"),
    (TIME, "time without time zone"),
    (TIMESTAMP, "timestamp without time zone"),
    (TIMESTAMPTZ, "timestamp with time zone"),
    (1266, "time with time zone"),
    (BIT, "bit"),
    (VARBIT, "bit varying"),
    (2276, "\"any\""),
    // These have the same name in both. Their length is a part of the text.
    (NUMERIC, "numeric"),
    (INTERVAL, "interval"),
];

/// Other names that a statement may use for a type.
const SPELLINGS: [(&str, i64); 14] = [
    ("int", INT4),
    ("decimal", NUMERIC),
    ("dec", NUMERIC),
    ("float", FLOAT8),
    ("char", BPCHAR),
    ("varchar", VARCHAR),
    ("time", TIME),
    ("timestamp", TIMESTAMP),
    ("string", TEXT),
    ("serial", INT4),
    ("bigserial", INT8),
    ("smallserial", INT2),
    ("varbit", VARBIT),
    ("datetime", TIMESTAMP),
];

/// A type of `pg_type`.
#[derive(Debug)]
pub struct TypeEntry {
    /// Its id.
    pub oid: i64,
    /// Its name in `pg_type`.
    pub name: &'static str,
    /// Its size in bytes; negative if the size varies.
    pub length: i64,
    /// Whether values are passed as they are, not by their address.
    pub by_value: bool,
    /// The id of the element type of an array; 0 for other types.
    pub element: i64,
    /// The id of the type of arrays of it; 0 if there is none.
    pub array: i64,
    /// How values are aligned.
    pub align: &'static str,
    /// How values are stored.
    pub storage: &'static str,
    /// The id of its collation; 0 if it has none.
    pub collation: i64,
    /// Its category.
    pub category: &'static str,
    /// The id of the function that writes values as text.
    pub output: i64,
    /// The id of the function that writes values as bytes.
    pub send: i64,
}

static TYPES: LazyLock<Vec<TypeEntry>> = LazyLock::new(|| {
    let mut lines = FILE.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    let at = |name: &str| header.iter().position(|column| *column == name).unwrap_or(usize::MAX);
    lines
        .map(|line| {
            let values: Vec<&'static str> = line.split('\t').collect();
            let text = |name: &str| values.get(at(name)).copied().unwrap_or_default();
            let number = |name: &str| text(name).parse().unwrap_or_default();
            TypeEntry {
                oid: number("oid"),
                name: text("typname"),
                length: number("typlen"),
                by_value: text("typbyval") == "t",
                element: number("typelem"),
                array: number("typarray"),
                align: text("typalign"),
                storage: text("typstorage"),
                collation: number("typcollation"),
                category: text("typcategory"),
                output: number("typoutput"),
                send: number("typsend"),
            }
        })
        .collect()
});

static BY_OID: LazyLock<HashMap<i64, &'static TypeEntry>> =
    LazyLock::new(|| TYPES.iter().map(|entry| (entry.oid, entry)).collect());

static BY_NAME: LazyLock<HashMap<&'static str, i64>> = LazyLock::new(|| {
    let own = TYPES.iter().map(|entry| (entry.name, entry.oid));
    let sql = SQL_NAMES.iter().map(|(oid, name)| (*name, *oid));
    own.chain(SPELLINGS).chain(sql).collect()
});

/// The type with an id.
pub fn by_oid(oid: i64) -> Option<&'static TypeEntry> {
    BY_OID.get(&oid).copied()
}

/// The id of a type by its SQL text: `int4`, `character varying(10)`, `pg_catalog.text[]`.
pub fn by_name(written: &str) -> Option<i64> {
    let written = written.trim();
    let bare = |prefix| written.strip_prefix(prefix);
    let written = bare("pg_catalog.").or_else(|| bare("\"pg_catalog\".")).unwrap_or(written);
    if let Some(element) = written.strip_suffix("[]") {
        return by_name(element).and_then(by_oid).map(|entry| entry.array);
    }
    if let Some(quoted) = written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        let named = |name: &str| TYPES.iter().find(|entry| entry.name == name);
        let array = || quoted.strip_prefix('_').and_then(named).map(|entry| entry.array);
        return named(quoted).map(|entry| entry.oid).or_else(array);
    }
    let lower = written.to_lowercase();
    let without_length = match (lower.find('('), lower.find(')')) {
        (Some(open), Some(close)) if open < close => {
            format!("{}{}", lower[..open].trim_end(), &lower[close + 1..])
        }
        _ => lower,
    };
    BY_NAME.get(without_length.as_str()).copied()
}

/// The id and the modifier (`atttypmod`) of a column's type. The modifier is -1 if there is none.
pub fn of_sql(sql_type: &SqlType) -> (i64, i64) {
    match sql_type {
        SqlType::Boolean => (BOOL, -1),
        SqlType::SmallInt => (INT2, -1),
        SqlType::Integer => (INT4, -1),
        SqlType::BigInt => (INT8, -1),
        SqlType::Real => (FLOAT4, -1),
        SqlType::Double => (FLOAT8, -1),
        numeric if *numeric == SqlType::NUMERIC => (NUMERIC, -1),
        SqlType::Numeric { precision, scale } => {
            (NUMERIC, ((i64::from(*precision) << 16) | (i64::from(*scale) & 0x7ff)) + HEADER)
        }
        row if is_record(row) => (RECORD, -1),
        SqlType::System(of) => (of.oid().into(), -1),
        SqlType::Text | SqlType::Other(_) => (TEXT, -1),
        SqlType::Varchar(None) => (VARCHAR, -1),
        SqlType::Varchar(Some(n)) => (VARCHAR, i64::from(*n) + HEADER),
        SqlType::Char(n) => (BPCHAR, i64::from(*n) + HEADER),
        SqlType::Bytea => (BYTEA, -1),
        SqlType::Date => (DATE, -1),
        SqlType::Time => (TIME, -1),
        SqlType::Timestamp => (TIMESTAMP, -1),
        SqlType::TimestampTz => (TIMESTAMPTZ, -1),
        SqlType::Interval => (INTERVAL, -1),
        SqlType::Precise(of, modifier) => (of_sql(of).0, i64::from(*modifier)),
        SqlType::Uuid => (UUID, -1),
        SqlType::Json => (JSON, -1),
        SqlType::Jsonb => (JSONB, -1),
        SqlType::User(user) => (user.id.shown().into(), -1),
        SqlType::Array(item) => {
            if let SqlType::User(user) = &**item {
                return (user.array.shown().into(), -1);
            }
            let (element, modifier) = of_sql(item);
            // An array of arrays has the array type of the innermost element.
            match by_oid(element) {
                Some(entry) if entry.array != 0 => (entry.array, modifier),
                _ => (element, modifier),
            }
        }
    }
}

/// The SQL text of a type, as `format_type` returns it. `modifier` is an `atttypmod`: length or
/// precision.
pub fn format(oid: i64, modifier: Option<i64>) -> String {
    if oid == 0 {
        return "-".to_owned();
    }
    let Some(entry) = by_oid(oid) else { return "???".to_owned() };
    if entry.element != 0 && entry.name.starts_with('_') {
        return format!("{}[]", format(entry.element, modifier));
    }
    if oid == BPCHAR && modifier == Some(-1) {
        return "bpchar".to_owned();
    }
    let name = SQL_NAMES.iter().find(|(known, _)| *known == oid).map_or(entry.name, |(_, n)| n);
    match (oid, modifier.filter(|modifier| *modifier >= 0)) {
        (BPCHAR | VARCHAR, Some(modifier)) => format!("{name}({})", modifier - HEADER),
        (BIT | VARBIT, Some(length)) => format!("{name}({length})"),
        (NUMERIC, Some(modifier)) => match u32::try_from(modifier) {
            Ok(modifier) => SqlType::Precise(Box::new(SqlType::NUMERIC), modifier).to_string(),
            Err(_) => name.to_owned(),
        },
        (INTERVAL, Some(modifier)) => match u32::try_from(modifier) {
            Ok(modifier) => SqlType::Precise(Box::new(SqlType::Interval), modifier).to_string(),
            Err(_) => name.to_owned(),
        },
        (TIME | TIMESTAMP | TIMESTAMPTZ, Some(digits)) => match name.split_once(' ') {
            Some((first, rest)) => format!("{first}({digits}) {rest}"),
            None => format!("{name}({digits})"),
        },
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_found_however_they_are_written() {
        for (written, oid) in [
            ("int4", 23),
            ("pg_catalog.int4", 23),
            ("integer", 23),
            ("INTEGER", 23),
            ("\"char\"", 18),
            ("char", 1042),
            ("character varying(10)", 1043),
            ("timestamp(3) with time zone", 1184),
            ("text[]", 1009),
            ("_text", 1009),
            ("name", 19),
        ] {
            assert_eq!(by_name(written), Some(oid), "{written}");
        }
        assert_eq!(by_name("nonsense"), None);
    }

    #[test]
    fn modifiers_are_written_as_sql_has_them() {
        let written = |sql_type: SqlType| {
            let (oid, modifier) = of_sql(&sql_type);
            format(oid, Some(modifier))
        };
        assert_eq!(written(SqlType::Numeric { precision: 8, scale: 2 }), "numeric(8,2)");
        assert_eq!(written(SqlType::Varchar(Some(10))), "character varying(10)");
        assert_eq!(written(SqlType::Array(Box::new(SqlType::Text))), "text[]");
        assert_eq!(written(SqlType::TimestampTz), "timestamp with time zone");
        assert_eq!(format(1042, None), "character");
        assert_eq!(format(0, None), "-");
        assert_eq!(format(4711, None), "???");
    }
}
