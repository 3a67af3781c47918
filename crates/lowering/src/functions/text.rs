//! Texts and bytes.

use super::{Make, Table, called, take};
use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::{Typed, unify};
use crate::types;
use analyzer::system::{Oid, SqlType};
use datafusion::functions_nested::array_has::array_has_all_udf;
use datafusion::functions_nested::array_has::array_has_any_udf;

pub(super) const TABLE: Table = &[
    ("||(text,text)", Make::Hidden("text_concat")),
    ("||(text,anynonarray)", Make::Own(concatenated)),
    ("||(anynonarray,text)", Make::Own(concatenated)),
    ("||(bytea,bytea)", Make::Hidden("bytea_concat")),
    ("||(anycompatiblearray,anycompatiblearray)", Make::Own(array_concatenated)),
    (
        "||(anycompatiblearray,anycompatible)",
        Make::Own(|of, args, to| of.added("array_append", args, to)),
    ),
    (
        "||(anycompatible,anycompatiblearray)",
        Make::Own(|of, args, to| of.added("array_prepend", args, to)),
    ),
    (
        "array_append(anycompatiblearray,anycompatible)",
        Make::Own(|of, args, to| of.added("array_append", args, to)),
    ),
    (
        "array_prepend(anycompatible,anycompatiblearray)",
        Make::Own(|of, args, to| of.added("array_prepend", args, to)),
    ),
    ("array_cat(anycompatiblearray,anycompatiblearray)", Make::Own(array_concatenated)),
    (
        "array_remove(anycompatiblearray,anycompatible)",
        Make::Own(|of, args, to| of.added("array_remove_all", args, to)),
    ),
    (
        "array_replace(anycompatiblearray,anycompatible,anycompatible)",
        Make::Own(|of, args, to| of.added("array_replace_all", args, to)),
    ),
    (
        "array_position(anycompatiblearray,anycompatible)",
        Make::Own(|of, args, to| of.added("array_position", args, to)),
    ),
    ("format(text) format(text,any)", Make::Own(|of, args, to| of.texts("format", args, to))),
    ("@>(anyarray,anyarray)", Make::Own(contains)),
    ("<@(anyarray,anyarray)", Make::Own(contained)),
    ("&&(anyarray,anyarray)", Make::Own(overlaps)),
    ("array_length(anyarray,int4)", Make::Own(length)),
    ("cardinality(anyarray)", Make::Named("cardinality")),
    ("array_lower(anyarray,int4)", Make::Named("array_lower")),
    ("array_upper(anyarray,int4)", Make::Named("array_upper")),
    ("array_to_string(anyarray,text) array_to_string(anyarray,text,text)", Make::Own(joined)),
    ("string_to_array(text,text) string_to_array(text,text,text)", Make::Named("string_to_array")),
    ("lower(text)", Make::Named("lower")),
    ("upper(text)", Make::Named("upper")),
    ("initcap(text)", Make::Named("initcap")),
    ("reverse(text)", Make::Named("reverse")),
    (
        "length(text) length(bpchar) char_length(text) char_length(bpchar) character_length(text) character_length(bpchar)",
        Make::Named("character_length"),
    ),
    ("octet_length(text) octet_length(bytea)", Make::Named("octet_length")),
    ("bit_length(text)", Make::Named("bit_length")),
    (
        "substr(text,int4) substr(text,int4,int4) substring(text,int4) substring(text,int4,int4)",
        Make::Named("substr"),
    ),
    ("strpos(text,text) position(text,text)", Make::Named("strpos")),
    ("replace(text,text,text)", Make::Named("replace")),
    ("translate(text,text,text)", Make::Named("translate")),
    ("btrim(text) btrim(text,text)", Make::Named("btrim")),
    ("ltrim(text) ltrim(text,text)", Make::Named("ltrim")),
    ("rtrim(text) rtrim(text,text)", Make::Named("rtrim")),
    ("lpad(text,int4) lpad(text,int4,text)", Make::Named("lpad")),
    ("rpad(text,int4) rpad(text,int4,text)", Make::Named("rpad")),
    ("left(text,int4)", Make::Named("left")),
    ("right(text,int4)", Make::Named("right")),
    ("repeat(text,int4)", Make::Named("repeat")),
    ("split_part(text,text,int4)", Make::Named("split_part")),
    ("ascii(text)", Make::Named("ascii")),
    ("chr(int4)", Make::Named("chr")),
    ("md5(text)", Make::Named("md5")),
    ("starts_with(text,text) ^@(text,text)", Make::Named("starts_with")),
    ("to_hex(int4) to_hex(int8)", Make::Named("to_hex")),
    ("quote_ident(text)", Make::Named("quote_ident")),
    ("quote_literal(text)", Make::Named("quote_literal")),
    ("quote_nullable(text)", Make::Named("quote_nullable")),
    ("concat(any)", Make::Own(|of, args, to| of.texts("concat", args, to))),
    ("concat_ws(text,any)", Make::Own(|of, args, to| of.texts("concat_ws", args, to))),
    ("get_byte(bytea,int4)", Make::Named("get_byte")),
    ("encode(bytea,text)", Make::Named("encode")),
    ("decode(text,text)", Make::Named("decode")),
    ("gen_random_uuid()", Make::Named("gen_random_uuid")),
];

/// A text and a value of another type.
fn concatenated(lowering: &Lowering<'_>, args: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let texts = args.into_iter().map(|argument| lowering.as_text(argument));
    lowering.hidden("text_concat", texts.collect::<Result<_>>()?, sql_type)
}

fn array_concatenated(
    lowering: &Lowering<'_>,
    mut arguments: Vec<Typed>,
    sql_type: SqlType,
) -> Result<Typed> {
    unify(&mut arguments);
    lowering.registered("array_concat", arguments, sql_type)
}

fn contains(_: &Lowering<'_>, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let [left, right] = take(arguments)?;
    let (expr, data_type) = called(&array_has_all_udf(), vec![left, right])?;
    Typed::of(expr, data_type, sql_type)
}

fn contained(
    lowering: &Lowering<'_>,
    mut arguments: Vec<Typed>,
    sql_type: SqlType,
) -> Result<Typed> {
    arguments.reverse();
    contains(lowering, arguments, sql_type)
}

fn overlaps(_: &Lowering<'_>, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let [left, right] = take(arguments)?;
    let (expr, data_type) = called(&array_has_any_udf(), vec![left, right])?;
    Typed::of(expr, data_type, sql_type)
}

/// The number of items of an array, NULL if there are none.
fn length(lowering: &Lowering<'_>, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let [array, dimension] = take(arguments)?;
    let dimension = dimension.converted(&datafusion::arrow::datatypes::DataType::Int64);
    let count = lowering.registered("array_length", vec![array, dimension], sql_type)?;
    let none = lowering.literal(&analyzer::tree::Literal::Integer(0), sql_type)?;
    lowering.registered("nullif", vec![count, none], sql_type)
}

/// Whether `array_to_string` writes items of a type as their output is.
fn is_joined(item: Oid) -> bool {
    let is_plain_id = types::is_id(item) && !types::is_named_id(item);
    types::is_text(item) || types::is_integer(item) || is_plain_id
}

fn joined(lowering: &Lowering<'_>, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let array = arguments.first().map(|array| array.sql_type);
    match array.and_then(|array| array.oid.element()) {
        Some(item) if is_joined(item) => {
            lowering.registered("array_to_string", arguments, sql_type)
        }
        _ => missing("array_to_string of these items"),
    }
}

impl Lowering<'_> {
    /// A value as text.
    pub(super) fn as_text(&self, value: Typed) -> Result<Typed> {
        let is_text = types::is_text(value.sql_type.oid) || value.sql_type.oid == Oid::BPCHAR;
        if is_text || matches!(value.sql_type.oid, Oid::JSON | Oid::JSONB | Oid::UUID) {
            return Ok(value.named(Oid::TEXT.into()));
        }
        if types::is_named_id(value.sql_type.oid) {
            let name = format!("{}out", value.sql_type.oid.catalog_name());
            return self.registered(&name, vec![value], Oid::TEXT.into());
        }
        self.plain(value, Oid::TEXT.into())
    }

    /// A function of texts that takes values of any type.
    fn texts(&self, name: &str, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
        let is_flag = |value: &Typed| value.sql_type.oid == Oid::BOOL;
        if arguments.is_empty() || arguments.iter().any(is_flag) {
            return missing(format!("{name} of these types"));
        }
        let texts = arguments.into_iter().map(|argument| self.as_text(argument));
        self.registered(name, texts.collect::<Result<_>>()?, sql_type)
    }

    /// An array with one more item.
    fn added(&self, name: &str, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
        self.registered(name, arguments, sql_type)
    }
}
