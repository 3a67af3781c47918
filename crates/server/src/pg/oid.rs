//! OIDs of SQL types. The numbers are PostgreSQL's (`pg_type.dat`).

use query::{SqlType, SystemType};

/// The description of a type for clients: OID, size in bytes (-1: variable) and modifier (-1:
/// none).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TypeInfo {
    pub(crate) oid: u32,
    pub(crate) size: i16,
    pub(crate) modifier: i32,
}

/// The modifier of a type without one.
pub(crate) const NO_MODIFIER: i32 = -1;

/// The constant part of a length modifier, in bytes.
const MODIFIER_HEADER: i32 = 4;

/// The OID of a type.
pub fn type_oid(sql_type: &SqlType) -> u32 {
    info(sql_type).oid
}

/// The description of a type.
pub(crate) fn info(sql_type: &SqlType) -> TypeInfo {
    let plain = |oid, size| TypeInfo { oid, size, modifier: NO_MODIFIER };
    match sql_type {
        SqlType::Boolean => plain(16, 1),
        SqlType::Bytea => plain(17, -1),
        SqlType::BigInt => plain(20, 8),
        SqlType::SmallInt => plain(21, 2),
        SqlType::Integer => plain(23, 4),
        SqlType::System(of) => plain(of.oid(), of.size()),
        row if query::is_record(row) => plain(2249, -1),
        SqlType::Text | SqlType::Other(_) => plain(25, -1),
        SqlType::Json => plain(114, -1),
        SqlType::Real => plain(700, 4),
        SqlType::Double => plain(701, 8),
        SqlType::Char(length) => TypeInfo { modifier: length_modifier(*length), ..plain(1042, -1) },
        SqlType::Varchar(None) => plain(1043, -1),
        SqlType::Varchar(Some(length)) => {
            TypeInfo { modifier: length_modifier(*length), ..plain(1043, -1) }
        }
        SqlType::Date => plain(1082, 4),
        SqlType::Time => plain(1083, 8),
        SqlType::Timestamp => plain(1114, 8),
        SqlType::TimestampTz => plain(1184, 8),
        SqlType::Interval => plain(1186, 16),
        numeric if *numeric == SqlType::NUMERIC => plain(1700, -1),
        SqlType::Numeric { precision, scale } => {
            let modifier = (i32::from(*precision) << 16 | i32::from(*scale)) + MODIFIER_HEADER;
            TypeInfo { modifier, ..plain(1700, -1) }
        }
        SqlType::Precise(of, modifier) => {
            TypeInfo { modifier: i32::try_from(*modifier).unwrap_or(-1), ..info(of) }
        }
        SqlType::Uuid => plain(2950, 16),
        SqlType::Jsonb => plain(3802, -1),
        SqlType::User(user) if user.domain().is_some() => info(sql_type.representation()),
        SqlType::User(user) => {
            plain(query::type_oid(user.id), if user.labels().is_some() { 4 } else { -1 })
        }
        SqlType::Array(item) => {
            TypeInfo { modifier: info(item).modifier, ..plain(array_oid(item), -1) }
        }
    }
}

fn length_modifier(length: u32) -> i32 {
    i32::try_from(length).unwrap_or(i32::MAX - MODIFIER_HEADER).saturating_add(MODIFIER_HEADER)
}

fn array_oid(item: &SqlType) -> u32 {
    match item {
        SqlType::Boolean => 1000,
        SqlType::Bytea => 1001,
        SqlType::System(of) if of.array_oid() != 0 => of.array_oid(),
        SqlType::SmallInt => 1005,
        SqlType::Integer => 1007,
        row if query::is_record(row) => 2287,
        SqlType::Text | SqlType::Other(_) | SqlType::System(_) => 1009,
        SqlType::Char(_) => 1014,
        SqlType::Varchar(_) => 1015,
        SqlType::BigInt => 1016,
        SqlType::Real => 1021,
        SqlType::Double => 1022,
        SqlType::Timestamp => 1115,
        SqlType::Date => 1182,
        SqlType::Time => 1183,
        SqlType::TimestampTz => 1185,
        SqlType::Interval => 1187,
        SqlType::Numeric { .. } => 1231,
        SqlType::Json => 199,
        SqlType::Uuid => 2951,
        SqlType::Jsonb => 3807,
        SqlType::Precise(of, _) => array_oid(of),
        SqlType::Array(inner) => array_oid(inner),
        SqlType::User(user) => query::type_oid(user.array),
    }
}

/// The type that a client specifies for a parameter; `None` if the server infers it.
pub(crate) fn parameter_type(oid: u32) -> Option<SqlType> {
    let numeric = SqlType::NUMERIC;
    let array = |item| Some(SqlType::Array(Box::new(item)));
    match oid {
        16 => Some(SqlType::Boolean),
        17 => Some(SqlType::Bytea),
        20 => Some(SqlType::BigInt),
        21 => Some(SqlType::SmallInt),
        23 => Some(SqlType::Integer),
        25 => Some(SqlType::Text),
        114 => Some(SqlType::Json),
        3802 => Some(SqlType::Jsonb),
        700 => Some(SqlType::Real),
        701 => Some(SqlType::Double),
        1043 => Some(SqlType::Varchar(None)),
        1082 => Some(SqlType::Date),
        1083 => Some(SqlType::Time),
        1114 => Some(SqlType::Timestamp),
        1184 => Some(SqlType::TimestampTz),
        1186 => Some(SqlType::Interval),
        1700 => Some(numeric),
        2950 => Some(SqlType::Uuid),
        1000 => array(SqlType::Boolean),
        1001 => array(SqlType::Bytea),
        1005 => array(SqlType::SmallInt),
        1007 => array(SqlType::Integer),
        1009 => array(SqlType::Text),
        1015 => array(SqlType::Varchar(None)),
        1016 => array(SqlType::BigInt),
        1021 => array(SqlType::Real),
        1022 => array(SqlType::Double),
        1115 => array(SqlType::Timestamp),
        1182 => array(SqlType::Date),
        1183 => array(SqlType::Time),
        1185 => array(SqlType::TimestampTz),
        1187 => array(SqlType::Interval),
        1231 => array(numeric),
        199 => array(SqlType::Json),
        3807 => array(SqlType::Jsonb),
        2951 => array(SqlType::Uuid),
        _ => of_system(oid),
    }
}

/// A type of the system catalogs, or of arrays of one.
fn of_system(oid: u32) -> Option<SqlType> {
    let is_pseudo = |of: &SystemType| matches!(of, SystemType::Void | SystemType::Cstring);
    if let Some(of) = SystemType::of_oid(oid) {
        return Some(SqlType::System(of)).filter(|_| !is_pseudo(&of));
    }
    let mut known = SystemType::ALL.into_iter().filter(|of| !is_pseudo(of));
    let item = known.find(|of| of.array_oid() == oid).filter(|_| oid != 0)?;
    Some(SqlType::Array(Box::new(SqlType::System(item))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_that_is_sent_can_come_back() {
        for sql_type in [
            SqlType::Boolean,
            SqlType::SmallInt,
            SqlType::Integer,
            SqlType::BigInt,
            SqlType::Real,
            SqlType::Double,
            SqlType::Text,
            SqlType::Bytea,
            SqlType::Date,
            SqlType::Time,
            SqlType::Timestamp,
            SqlType::TimestampTz,
            SqlType::Interval,
            SqlType::Uuid,
            SqlType::Json,
            SqlType::Jsonb,
        ] {
            assert_eq!(parameter_type(info(&sql_type).oid), Some(sql_type.clone()));
            let array = SqlType::Array(Box::new(sql_type));
            assert_eq!(parameter_type(info(&array).oid), Some(array));
        }
        for of in SystemType::ALL {
            let is_pseudo = matches!(of, SystemType::Void | SystemType::Cstring);
            let one = SqlType::System(of);
            let known = parameter_type(info(&one).oid);
            assert_eq!(known, Some(one.clone()).filter(|_| !is_pseudo));
            let array = SqlType::Array(Box::new(one));
            let known = parameter_type(info(&array).oid);
            let is_known = of.array_oid() != 0 && !is_pseudo;
            assert_eq!(known == Some(array), is_known, "{}", of.name());
        }
    }

    #[test]
    fn types_of_the_system_catalogs_have_postgresqls_ids() {
        let info = |of| info(&SqlType::System(of));
        assert_eq!((info(SystemType::Regclass).oid, info(SystemType::Regclass).size), (2205, 4));
        assert_eq!((info(SystemType::Name).oid, info(SystemType::Name).size), (19, 64));
        assert_eq!((info(SystemType::Xid).oid, info(SystemType::Xid).size), (28, 4));
        assert_eq!((info(SystemType::Int2Vector).oid, info(SystemType::OidVector).oid), (22, 30));
        assert_eq!(array_oid(&SqlType::System(SystemType::Regclass)), 2210);
    }

    #[test]
    fn modifiers_are_postgresqls() {
        assert_eq!(info(&SqlType::Varchar(Some(20))).modifier, 24);
        assert_eq!(info(&SqlType::Numeric { precision: 12, scale: 2 }).modifier, 786_438);
    }
}
