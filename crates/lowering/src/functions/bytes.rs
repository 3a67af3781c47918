//! Bytes.

use super::{Make, Table, take};
use crate::refusal::Result;
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::system::{Oid, SqlType};
use analyzer::tree::Literal;
use datafusion::logical_expr::Operator;

pub(super) const TABLE: Table = &[
    ("||(bytea,bytea)", Make::Hidden("bytea_concat")),
    ("length(bytea)", Make::Named("octet_length")),
    ("length(bytea,name)", Make::Named("encoded_length")),
    ("bit_length(bytea)", Make::Own(bits)),
    (
        "substr(bytea,int4) substr(bytea,int4,int4) substring(bytea,int4) substring(bytea,int4,int4)",
        Make::Named("substr"),
    ),
    ("position(bytea,bytea)", Make::Named("strpos")),
    (
        "boolsend(bool) int2send(int2) int4send(int4) int8send(int8) float4send(float4) float8send(float8) \
         numeric_send(numeric) oidsend(oid) textsend(text) varcharsend(varchar) bpcharsend(bpchar) namesend(name) \
         byteasend(bytea) json_send(json) jsonb_send(jsonb) uuid_send(uuid) date_send(date) time_send(time) \
         timestamp_send(timestamp) timestamptz_send(timestamptz) interval_send(interval)",
        Make::Own(sent),
    ),
];

/// A value in binary format.
fn sent(lowering: &Lowering<'_>, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let [value] = take(arguments)?;
    let value = lowering.padded(value)?;
    let name = Literal::Text(value.sql_type.oid.catalog_name().to_owned());
    let name = lowering.literal(&name, Oid::TEXT.into())?;
    lowering.hidden("binary_format", vec![value, name], sql_type)
}

/// Eight times as many as bytes.
fn bits(lowering: &Lowering<'_>, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let bytes = lowering.registered("octet_length", arguments, sql_type)?;
    let eight = lowering.literal(&Literal::Integer(8), Oid::INT4.into())?;
    super::of_engine(bytes, Operator::Multiply, eight, sql_type)
}
