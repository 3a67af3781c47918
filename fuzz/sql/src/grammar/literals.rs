//! Constants of each type: usual ones, limits, and what is not quite valid.

use super::Generator;
use crate::tree::{Kind, Node, Type};

const INTS: &[&str] =
    &["0", "1", "2", "7", "100", "(-1)", "2147483647", "(-2147483648)", "3::smallint"];
const BIGINTS: &[&str] =
    &["0::bigint", "42::bigint", "9223372036854775807", "(-9223372036854775808)", "4294967296"];
const NUMERICS: &[&str] = &[
    "0.0",
    "1.5",
    "(-0.001)",
    "99999999999999999999.99",
    "1e20::numeric",
    "0.00000000000000000001",
    "123456789012345678901234567890123456",
    "1e-30::numeric",
    "'NaN'::numeric",
];
const DOUBLES: &[&str] = &[
    "0::float8",
    "1.5::float8",
    "'NaN'::float8",
    "'Infinity'::float8",
    "'-Infinity'::float8",
    "1e308::float8",
    "(-0.0)::float8",
    "1e-300::float8",
    "2.5::real::float8",
];
const TEXTS: &[&str] = &[
    "''",
    "'a'",
    "'abc'",
    "'1'",
    "'äöü €'",
    "'%_'",
    "'a.*(b|c)+'",
    "E'\\\\n\\t'",
    "'{1,2}'",
    "'[1, {\"a\": null}]'",
    "' '",
    "'2020-02-29'",
    "'(((('",
    "'😀'",
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'",
    "'YYYY-MM-DD HH24:MI:SS.US'",
    "'9G999D99S'",
    "'year'",
];
const DATES: &[&str] = &[
    "'2020-02-29'::date",
    "'0001-01-01'::date",
    "'4713-01-01 BC'::date",
    "'9999-12-31'::date",
    "current_date",
    "'5874897-12-31'::date",
    "DATE '1969-07-20'",
    "'infinity'::date",
];
const TIMESTAMPS: &[&str] = &[
    "'2020-02-29 23:59:59.999999'::timestamp",
    "'4713-01-01 BC'::timestamp",
    "'1970-01-01'::timestamp",
    "'262142-12-31 23:59:59'::timestamp",
    "'-infinity'::timestamp",
];
const TIMESTAMPTZS: &[&str] = &[
    "'2020-02-29 12:00:00+02'::timestamptz",
    "now()",
    "'1900-01-01 00:00:00Z'::timestamptz",
    "to_timestamp(0)",
    "'infinity'::timestamptz",
];
const INTERVALS: &[&str] = &[
    "'1 day'::interval",
    "'0'::interval",
    "'178000000 years'::interval",
    "'-1 mon 1 day -00:00:01'::interval",
    "INTERVAL '1' HOUR",
    "'2147483647 days'::interval",
    "make_interval(days => 3)",
];
const JSONS: &[&str] = &[
    "'1'::jsonb",
    "'null'::jsonb",
    "'{\"a\": [1, 2, {\"b\": \"c\"}], \"d\": 1e5}'::jsonb",
    "'[]'::jsonb",
    "'{}'::jsonb",
    "'[1, 2, 3, \"x\", null, true]'::jsonb",
    "'\"text\"'::jsonb",
    "'{\"a\": {\"a\": {\"a\": 1}}}'::jsonb",
    "'123456789012345678901234567890.5'::jsonb",
];
const INT_ARRAYS: &[&str] = &[
    "ARRAY[1, 2, 3]",
    "'{}'::int[]",
    "ARRAY[NULL, 1]::int[]",
    "ARRAY[[1, 2], [3, 4]]",
    "ARRAY[2147483647]",
    "'{{1},{2}}'::int[]",
];
const TEXT_ARRAYS: &[&str] = &[
    "ARRAY['a', 'b', NULL]",
    "'{}'::text[]",
    "string_to_array('a,b,c', ',')",
    "'{\"a b\",c}'::text[]",
    "ARRAY['']",
];
const BYTEAS: &[&str] = &["'\\x00ff'::bytea", "''::bytea", "'abc'::bytea", "'\\x'::bytea"];
const UUIDS: &[&str] = &[
    "'123e4567-e89b-12d3-a456-426614174000'::uuid",
    "'00000000-0000-0000-0000-000000000000'::uuid",
];
const BOOLS: &[&str] = &["true", "false", "NULL::bool", "'t'::bool"];

impl Generator {
    /// A constant, or a parameter.
    pub(super) fn literal(&mut self, of: Type) -> Node {
        let kind = Kind::Expression(of);
        if let Some(parameters) = &mut self.parameters
            && *parameters < 20
            && self.random.percent(25)
        {
            *parameters += 1;
            return Node::group(kind, vec![Node::text(format!("${parameters}::{}", of.sql()))]);
        }
        if self.random.percent(6) {
            return Node::group(kind, vec![Node::text(format!("NULL::{}", of.sql()))]);
        }
        // The first ones are frequent; the last ones are often refused.
        let constants = constants(of);
        let at = (0..3).map(|_| self.random.below(constants.len())).min().unwrap_or(0);
        let literal = constants[at];
        Node::group(kind, vec![Node::text(literal)])
    }
}

fn constants(of: Type) -> &'static [&'static str] {
    match of {
        Type::Bool => BOOLS,
        Type::Int => INTS,
        Type::Bigint => BIGINTS,
        Type::Numeric => NUMERICS,
        Type::Double => DOUBLES,
        Type::Text => TEXTS,
        Type::Date => DATES,
        Type::Timestamp => TIMESTAMPS,
        Type::Timestamptz => TIMESTAMPTZS,
        Type::Interval => INTERVALS,
        Type::Jsonb => JSONS,
        Type::Ints => INT_ARRAYS,
        Type::Texts => TEXT_ARRAYS,
        Type::Bytea => BYTEAS,
        Type::Uuid => UUIDS,
    }
}
