//! Constants.

use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use crate::types;
use analyzer::system::{Oid, SqlType};
use analyzer::tree::{Literal, ValueFunction};
use datafusion::arrow::array::Array;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::Placeholder;
use datafusion::logical_expr::{Expr, Operator, binary_expr, cast};
use functions::casts::{constants, conversion};
use functions::system::tid;
use store::catalog::SqlType as Held;
use values::input::{interval, refused, system};
use values::numbers;
use values::precision;
use values::translate::refused_text;

impl Lowering<'_> {
    /// A constant of the tree.
    pub(crate) fn literal(&self, literal: &Literal, sql_type: SqlType) -> Result<Typed> {
        match literal {
            Literal::Null => Typed::null(sql_type),
            Literal::Boolean(value) => {
                Ok(Typed::constant(ScalarValue::Boolean(Some(*value)), sql_type))
            }
            Literal::Integer(value) => integer(*value, sql_type),
            Literal::Text(text) => self.written(text, sql_type),
        }
    }

    /// A constant in the input syntax of its type.
    pub(crate) fn written(&self, text: &str, sql_type: SqlType) -> Result<Typed> {
        // Trailing blanks of char(n) do not count and are not held.
        let is_trimmed = sql_type.oid == Oid::BPCHAR && sql_type.modifier >= 0;
        let text = if is_trimmed { text.trim_end_matches(' ') } else { text };
        let text = match sql_type.oid {
            Oid::NAME => system::name(text),
            Oid::CHAR => &system::letter(text)?,
            Oid::TID => &tid::normal(text).ok_or_else(|| refused_text(text, "tid"))?,
            _ => text,
        };
        if sql_type.oid == Oid::JSONPATH {
            functions::json::paths::check(text).map_err(|error| error.at_literal(text))?;
        }
        let view = || ScalarValue::Utf8View(Some(text.to_owned()));
        if types::is_named_id(sql_type.oid) {
            return self.named_id(text, sql_type);
        }
        if let Some(item) = sql_type.oid.element().filter(|item| types::is_named_id(*item)) {
            return self.named_ids(text, item, sql_type);
        }
        if types::is_id(sql_type.oid) && !types::is_long_id(sql_type.oid) {
            let id = system::object_id(text, sql_type.oid.catalog_name())?;
            return Ok(Typed::constant(ScalarValue::Int64(Some(id.into())), sql_type));
        }
        if sql_type == SqlType::plain(Oid::NUMERIC)
            && let Some(value) = numbers::of_text(text)
        {
            return Ok(Typed::constant(value, sql_type));
        }
        if let Some(moment) = self.moment_word(text, sql_type)? {
            return Ok(moment);
        }
        let held = types::read(sql_type)?;
        if held == Held::Interval {
            let interval = interval::parse(text, sql_type.modifier, self.style().interval);
            let interval = interval.map_err(|error| refused(error, text, "interval"))?;
            let adjusted = precision::of_interval(interval, sql_type.modifier);
            let value = ScalarValue::IntervalMonthDayNano(Some(adjusted.unwrap_or(interval)));
            return Ok(Typed::constant(value, sql_type));
        }
        if let Some(nested) = self.nested(text, &held, sql_type)? {
            return Ok(nested);
        }
        // Only system tables have such values, as texts.
        let is_refused = match sql_type.oid.catalog_name() {
            "aclitem" => !is_acl_item(text),
            name => matches!(name, "inet" | "pg_node_tree"),
        };
        if is_refused {
            return missing(format!("a constant of type {sql_type}"));
        }
        let value = match &held {
            Held::Text => view(),
            Held::System(of) if of.arrow() == DataType::Utf8View => view(),
            Held::Array(_) if sql_type.oid.element().is_none() => {
                return missing(format!("constants of type {sql_type}"));
            }
            held => constants::value_of(&view(), held, self.style())?,
        };
        Ok(Typed::constant(value.cast_to(&held.arrow())?, sql_type))
    }

    /// The value of `now`, `today`, `tomorrow` or `yesterday`, which is that of the transaction; `None` for other texts and
    /// types.
    fn moment_word(&self, text: &str, sql_type: SqlType) -> Result<Option<Typed>> {
        let is_moment = matches!(sql_type.oid, Oid::DATE | Oid::TIMESTAMP | Oid::TIMESTAMPTZ);
        let days = match text.trim().to_ascii_lowercase().as_str() {
            "now" if is_moment || sql_type.oid == Oid::TIME => {
                let now = self.registered("now", Vec::new(), Oid::TIMESTAMPTZ.into())?;
                let now = self.plain(now, SqlType::plain(sql_type.oid))?;
                return match (0..6).contains(&sql_type.modifier) {
                    true => self.adjusted("moment_precision", now, sql_type).map(Some),
                    false => Ok(Some(now)),
                };
            }
            "today" if is_moment => 0,
            "tomorrow" if is_moment => 1,
            "yesterday" if is_moment => -1,
            _ => return Ok(None),
        };
        let today = self.value_function(ValueFunction::Date, Oid::DATE.into())?;
        let day = cast(today.expr, DataType::Int32);
        let days = Expr::Literal(ScalarValue::Int32(Some(days)), None);
        let day = cast(binary_expr(day, Operator::Plus, days), DataType::Date32);
        let day = Typed::of(day, DataType::Date32, Oid::DATE.into())?;
        self.plain(day, SqlType::plain(sql_type.oid)).map(Some)
    }

    /// The id of the object that has a name.
    fn named_id(&self, text: &str, sql_type: SqlType) -> Result<Typed> {
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            let id = system::object_id(text, Oid::OID.catalog_name())?;
            return Ok(Typed::constant(ScalarValue::Int64(Some(id.into())), sql_type));
        }
        let name = format!("{}in", sql_type.oid.catalog_name());
        let text = ScalarValue::Utf8View(Some(text.to_owned()));
        let text = Typed::constant(text, SqlType::plain(Oid::TEXT));
        self.registered(&name, vec![text], sql_type)
    }

    /// The ids of the objects that have the names in an array: `'{int,text}'::regtype[]`.
    fn named_ids(&self, text: &str, item: Oid, sql_type: SqlType) -> Result<Typed> {
        let text = ScalarValue::Utf8View(Some(text.to_owned()));
        let names = constants::value_of(&text, &Held::Array(Box::new(Held::Text)), self.style())?;
        let ScalarValue::List(lists) = names else { return Typed::null(sql_type) };
        let names = lists.value(0);
        let id = |row| match ScalarValue::try_from_array(&names, row)?.try_as_str() {
            Some(Some(name)) => self.named_id(name, item.into()),
            _ => Typed::null(item.into()),
        };
        let ids = (0..names.len()).map(id).collect::<Result<Vec<_>>>()?;
        if ids.is_empty() {
            return self.empty_array(sql_type);
        }
        let (expr, data_type) = self.engine_function("make_array", ids)?;
        Typed::of(expr, data_type, sql_type)
    }

    /// A parameter: its value, if that is known.
    pub(crate) fn parameter(&self, number: u32, sql_type: SqlType) -> Result<Typed> {
        let index = usize::try_from(number).unwrap_or_default().checked_sub(1);
        if let Some(value) = index.and_then(|index| self.around.parameters.get(index)) {
            let data_type = value.data_type();
            if types::fits(&data_type, sql_type)? {
                return Ok(Typed::constant(value.clone(), sql_type));
            }
            // Clients send values of types without a representation of their own as texts.
            if let Some(Some(text)) = value.try_as_str() {
                return self.written(text, sql_type);
            }
            let held = types::held(sql_type)?;
            if held.user_type().is_some() {
                let read = conversion::convert(&value.to_array()?, &held, self.style())?;
                let value = ScalarValue::try_from_array(&read, 0)?;
                return Ok(Typed::constant(value, sql_type));
            }
            if held == Held::NUMERIC {
                let data_type = value.data_type();
                let given = Typed { expr: Expr::Literal(value.clone(), None), sql_type, data_type };
                return Ok(given.opened());
            }
            let value = value.cast_to(&held.arrow())?;
            return Ok(Typed::constant(value, sql_type));
        }
        let held = types::held(sql_type)?;
        let is_of_catalog = held.user_type().is_some() || types::has_names(sql_type);
        if self.around.folds && is_of_catalog {
            return missing("a plan for any value of this parameter");
        }
        let data_type = held.arrow();
        let field = Some(types::field(sql_type, &data_type));
        let expr = Expr::Placeholder(Placeholder { id: format!("${number}"), field });
        Ok(Typed { expr, sql_type, data_type })
    }
}

/// Whether a text has the form of a role's privileges, `role=letters/grantor`.
fn is_acl_item(text: &str) -> bool {
    let parts = text.split_once('=').and_then(|(_, rest)| rest.split_once('/'));
    let is_letter = |letter: char| letter == '*' || letter.is_ascii_alphabetic();
    parts.is_some_and(|(letters, grantor)| letters.chars().all(is_letter) && !grantor.is_empty())
}

fn integer(value: i64, sql_type: SqlType) -> Result<Typed> {
    let held = types::held(sql_type)?.arrow();
    let value = ScalarValue::Int64(Some(value)).cast_to(&held)?;
    Ok(Typed::constant(value, sql_type))
}
