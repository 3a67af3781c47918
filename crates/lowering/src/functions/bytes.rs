//! Bytes.

use super::{Make, Table};
use crate::refusal::Result;
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::system::{Oid, SqlType};
use analyzer::tree::Literal;
use datafusion::logical_expr::Operator;

pub(super) const TABLE: Table = &[
    ("||(bytea,bytea)", Make::Hidden("bytea_concat")),
    ("octet_length(bytea)", Make::Named("octet_length")),
    ("length(bytea)", Make::Named("octet_length")),
    ("bit_length(bytea)", Make::Own(bits)),
    (
        "substr(bytea,int4) substr(bytea,int4,int4) substring(bytea,int4) substring(bytea,int4,int4)",
        Make::Named("substr"),
    ),
    ("overlay(bytea,bytea,int4) overlay(bytea,bytea,int4,int4)", Make::Named("overlay")),
    ("position(bytea,bytea)", Make::Named("strpos")),
    ("btrim(bytea,bytea)", Make::Named("btrim")),
    ("ltrim(bytea,bytea)", Make::Named("ltrim")),
    ("rtrim(bytea,bytea)", Make::Named("rtrim")),
    ("get_byte(bytea,int4)", Make::Named("get_byte")),
    ("set_byte(bytea,int4,int4)", Make::Named("set_byte")),
    ("get_bit(bytea,int8)", Make::Named("get_bit")),
    ("set_bit(bytea,int8,int4)", Make::Named("set_bit")),
    ("bit_count(bytea)", Make::Named("bit_count")),
    ("convert_to(text,name)", Make::Named("convert_to")),
    ("convert_from(bytea,name)", Make::Named("convert_from")),
    ("encode(bytea,text)", Make::Named("encode")),
    ("decode(text,text)", Make::Named("decode")),
    ("md5(bytea)", Make::Named("md5")),
    ("sha224(bytea)", Make::Named("sha224")),
    ("sha256(bytea)", Make::Named("sha256")),
    ("sha384(bytea)", Make::Named("sha384")),
    ("sha512(bytea)", Make::Named("sha512")),
];

/// Eight times as many as bytes.
fn bits(lowering: &Lowering<'_>, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let bytes = lowering.registered("octet_length", arguments, sql_type)?;
    let eight = lowering.literal(&Literal::Integer(8), Oid::INT4.into())?;
    super::of_engine(bytes, Operator::Multiply, eight, sql_type)
}
