//! Texts.

use super::comparisons::without_blanks;
use super::{Make, Table, called, take};
use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use crate::types;
use analyzer::system::{Oid, SqlType};
use datafusion::common::ScalarValue;
use std::sync::Arc;

pub(super) const TABLE: Table = &[
    ("||(text,text)", Make::Hidden("text_concat")),
    ("||(text,anynonarray)", Make::Own(concatenated)),
    ("||(anynonarray,text)", Make::Own(concatenated)),
    ("format(text) format(text,any)", Make::Own(|of, args, to| of.texts("format", args, to))),
    ("length(text) char_length(text) character_length(text)", Make::Named("character_length")),
    (
        "length(bpchar) char_length(bpchar) character_length(bpchar)",
        Make::Own(|of, args, to| {
            let bare = args.into_iter().map(without_blanks).collect();
            of.registered("character_length", bare, to)
        }),
    ),
    (
        "octet_length(bpchar)",
        Make::Own(|of, args, to| {
            let padded = args.into_iter().map(|argument| of.padded(argument));
            of.registered("octet_length", padded.collect::<Result<_>>()?, to)
        }),
    ),
    (
        "substr(text,int4) substr(text,int4,int4) substring(text,int4) substring(text,int4,int4)",
        Make::Named("substr"),
    ),
    ("strpos(text,text) position(text,text)", Make::Named("strpos")),
    ("hashname(name)", Make::Named("hashtext")),
    ("hashnameextended(name,int8)", Make::Named("hashtextextended")),
    ("hashint2(int2) hashint4(int4)", Make::Named("hashint8")),
    ("hashint2extended(int2,int8) hashint4extended(int4,int8)", Make::Named("hashint8extended")),
    ("starts_with(text,text) ^@(text,text)", Make::Named("starts_with")),
    (
        "quote_literal(text) quote_literal(anyelement)",
        Make::Own(|of, args, to| of.of_texts("quote_literal", args, to)),
    ),
    (
        "quote_nullable(text) quote_nullable(anyelement)",
        Make::Own(|of, args, to| of.of_texts("quote_nullable", args, to)),
    ),
    ("concat(any)", Make::Own(|of, args, to| of.texts("concat", args, to))),
    ("concat_ws(text,any)", Make::Own(|of, args, to| of.texts("concat_ws", args, to))),
    ("varchar(varchar,int4,bool) bpchar(bpchar,int4,bool)", Make::Own(with_length)),
];

/// A text of a length, which is a type modifier; whether the conversion is explicit, and cuts what is longer.
fn with_length(lowering: &Lowering<'_>, args: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let [text, modifier, is_explicit] = take(args)?;
    match (modifier.value(), is_explicit.value()) {
        (Some(ScalarValue::Int32(Some(modifier))), Some(ScalarValue::Boolean(Some(explicit)))) => {
            let of_length = SqlType { modifier: *modifier, ..sql_type };
            Ok(lowering.to_length(text, of_length, *explicit)?.named(sql_type))
        }
        _ => missing("a length that is no constant"),
    }
}

/// A text and a value of another type.
fn concatenated(lowering: &Lowering<'_>, args: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let texts = args.into_iter().map(|argument| lowering.as_text(argument));
    lowering.hidden("text_concat", texts.collect::<Result<_>>()?, sql_type)
}

impl Lowering<'_> {
    /// A value as text.
    pub(super) fn as_text(&self, value: Typed) -> Result<Typed> {
        let is_text = types::is_text(value.sql_type.oid) || value.sql_type.oid == Oid::BPCHAR;
        if is_text || matches!(value.sql_type.oid, Oid::JSON | Oid::JSONB | Oid::UUID) {
            return Ok(value.named(Oid::TEXT.into()));
        }
        match self.by_names(&value, Oid::TEXT.into())? {
            Some(names) => Ok(names),
            None => self.plain(value, Oid::TEXT.into()),
        }
    }

    /// A value as its output is: as [`as_text`](Self::as_text), but `t` for true, and `char` with its blanks.
    pub(super) fn as_output(&self, value: Typed) -> Result<Typed> {
        match value.sql_type.oid {
            Oid::BOOL => {
                let function = Arc::new(::functions::casts::output::of_value(self.style()));
                let (expr, data_type) = called(&function, vec![value])?;
                Ok(Typed { expr, sql_type: Oid::TEXT.into(), data_type })
            }
            Oid::BPCHAR => Ok(self.padded(value)?.named(Oid::TEXT.into())),
            _ => self.as_text(value),
        }
    }

    /// A value of `char(n)` with its blanks, without which it is held. Other values are unchanged.
    pub(crate) fn padded(&self, value: Typed) -> Result<Typed> {
        let Some(length) =
            types::length(value.sql_type).filter(|_| value.sql_type.oid == Oid::BPCHAR)
        else {
            return Ok(value);
        };
        let sql_type = SqlType::plain(Oid::BPCHAR);
        let length = ScalarValue::Int64(Some(length.into()));
        let length = Typed::constant(length, Oid::INT8.into());
        self.registered("rpad", vec![value, length], sql_type)
    }

    /// A function of texts that takes the texts of other values.
    fn of_texts(&self, name: &str, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
        let texts = arguments.into_iter().map(|argument| self.as_text(argument));
        self.registered(name, texts.collect::<Result<_>>()?, sql_type)
    }

    /// A function of texts that takes the outputs of values.
    fn texts(&self, name: &str, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
        if arguments.is_empty() {
            return missing(format!("{name} without arguments"));
        }
        let texts = arguments.into_iter().map(|argument| self.as_output(argument));
        self.registered(name, texts.collect::<Result<_>>()?, sql_type)
    }
}
