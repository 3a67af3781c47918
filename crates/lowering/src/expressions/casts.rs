//! Conversions.

use crate::functions;
use crate::functions::comparisons::without_blanks;
use crate::numbers::has_known_scale;
use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use crate::types;
use ::functions::casts::lengths::WITHIN;
use ::functions::casts::{constants, conversion, labels};
use ::functions::numbers::common_types;
use ::functions::numbers::open::WITH_PRECISION;
use ::functions::system::tid;
use analyzer::system::{Oid, SqlType, functions as procedures};
use analyzer::tree::{Cast, Conversion, Kind, Literal};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Operator, binary_expr, lit, not, when};
use store::catalog::SqlType as Held;
use values::assign::labels::{texts, texts_type};
use values::nested_arrays;
use values::style::Style;
use values::types::name_without_length;

/// Whether PostgreSQL reads constant texts as values of a type when it plans a statement.
fn is_read_early(oid: Oid) -> bool {
    matches!(oid, Oid::BOOL | Oid::INT2 | Oid::INT4 | Oid::INT8 | Oid::FLOAT4 | Oid::FLOAT8)
        || matches!(oid, Oid::UUID | Oid::JSON | Oid::JSONB | Oid::BYTEA)
}

impl Lowering<'_> {
    pub(super) fn cast(&mut self, cast: &Cast, sql_type: SqlType) -> Result<Typed> {
        // The fields in the type of an interval say how its text is read.
        if let (
            Kind::Literal(literal @ Literal::Text(_)),
            Oid::INTERVAL | Oid::UNKNOWN,
            Oid::INTERVAL,
        ) = (&cast.value.kind, cast.value.sql_type.oid, sql_type.oid)
        {
            return self.literal(literal, sql_type);
        }
        // A number keeps the digits that it would lose as a numeric.
        if let (Kind::Literal(Literal::Text(text)), Oid::NUMERIC, Oid::FLOAT4 | Oid::FLOAT8) =
            (&cast.value.kind, cast.value.sql_type.oid, sql_type.oid)
        {
            return self.written(text, sql_type);
        }
        if cast.conversion == Conversion::Row
            && let Kind::Row(fields) = &cast.value.kind
        {
            let fields = self.exprs(fields)?;
            return self.composite(fields, None, sql_type);
        }
        let value = self.expr(&cast.value)?;
        match cast.conversion {
            // The integer that tells the rows of a table apart.
            Conversion::Relabel if sql_type.oid == Oid::TID && value.data_type.is_integer() => {
                self.hidden(tid::OF_NUMBER, vec![value], sql_type)
            }
            Conversion::Relabel => self.relabelled(value, sql_type),
            Conversion::Row => missing("a conversion of this row"),
            Conversion::Text => {
                let is_folded = self.around.folds && value.value().is_some();
                let read = self.through_text(value, sql_type)?;
                Ok(if is_folded && is_read_early(sql_type.oid) { self.folded(read) } else { read })
            }
            Conversion::Items => self.items(value, sql_type),
            Conversion::Length => self.to_length(value, sql_type, cast.is_explicit),
            Conversion::Function(function) => {
                let is_folded = self.is_folded(function, std::slice::from_ref(&value));
                let value = match functions::of(function) {
                    Some(make) => make.build(self, vec![value], sql_type)?,
                    None => self.by_function(function, value, sql_type)?,
                };
                Ok(if is_folded { self.folded(value) } else { value })
            }
        }
    }

    /// A conversion by a function of the catalog that is a plain cast of values.
    fn by_function(&self, function: Oid, value: Typed, sql_type: SqlType) -> Result<Typed> {
        let name = procedures::of(function).map_or("?", |function| function.name);
        let (from, to) = (value.sql_type, sql_type);
        if from.oid == to.oid {
            return self.to_length(value, sql_type, true);
        }
        if from.oid == Oid::BPCHAR && types::is_text(to.oid) {
            return self.plain(without_blanks(value), sql_type);
        }
        if !is_plain(from.oid, to.oid) {
            return missing(format!("function {name}({from})"));
        }
        self.plain(value, sql_type)
    }

    /// A conversion that depends on the types alone.
    pub(crate) fn plain(&self, value: Typed, sql_type: SqlType) -> Result<Typed> {
        if value.is_null() {
            return Typed::null(sql_type);
        }
        let from = value.sql_type.oid;
        match (from, sql_type.oid) {
            (Oid::INT4, Oid::BOOL) => {
                let zero = self.literal(&Literal::Integer(0), from.into())?;
                let is_true = binary_expr(value.expr, Operator::NotEq, zero.expr);
                return Ok(Typed::boolean(is_true));
            }
            (Oid::BOOL, Oid::INT4) => {
                return Ok(value.converted(&Held::Integer.arrow()).named(sql_type));
            }
            _ => {}
        }
        if matches!(from, Oid::JSON | Oid::JSONB)
            && matches!(sql_type.oid, Oid::TEXT | Oid::VARCHAR)
            && value.value().is_none()
        {
            // The field of a document says that it is one.
            return self.converted(value, &Held::Text, sql_type);
        }
        if let Some(converted) = self.of_system(&value, sql_type)? {
            return Ok(converted);
        }
        if sql_type.oid == Oid::NAME && from != Oid::NAME && is_textual(value.sql_type) {
            return self.hidden("name_of_text", vec![value], sql_type);
        }
        if let Some(moved) = self.in_session_zone(&value, sql_type.oid)? {
            return Ok(moved.named(sql_type));
        }
        if sql_type == SqlType::plain(Oid::NUMERIC)
            && let Some(number) = self.number_of(&value)?
        {
            return Ok(number.named(sql_type));
        }
        let held = types::read(sql_type)?;
        if value.sql_type.oid == Oid::JSONB {
            return match held == Held::Boolean || held.arrow().is_numeric() {
                true => self.of_document(value, &held, sql_type),
                // A rule of the engine's analyzer knows the casts of JSON by their types.
                false => Typed::of(value.expr, value.data_type, sql_type),
            };
        }
        if let Some(text) = value.text().filter(|_| !matches!(held, Held::Text)) {
            if let Some(nested) = self.nested(text, &held, sql_type)? {
                return Ok(nested);
            }
            let text = ScalarValue::Utf8View(Some(text.to_owned()));
            match constants::value_of(&text, &held, self.style()) {
                Ok(read) => return Ok(Typed::constant(read.cast_to(&held.arrow())?, sql_type)),
                Err(error) if from == Oid::UNKNOWN => return Err(error.into()),
                // It is an error for the rows that reach it.
                Err(_) => {}
            }
        }
        // Comparisons take a cast to a narrower type for one that cannot fail.
        let narrows = |to: &DataType| {
            to.is_integer() && to.primitive_width() < value.data_type.primitive_width()
        };
        let to = held.arrow();
        if value.data_type.is_integer() && to.is_numeric() && !narrows(&to) {
            return Ok(value.converted(&held.arrow()).named(sql_type));
        }
        self.converted(value, &held, sql_type)
    }

    /// The array of several dimensions that a constant text is; `None` if it is none.
    pub(crate) fn nested(
        &self,
        text: &str,
        held: &Held,
        sql_type: SqlType,
    ) -> Result<Option<Typed>> {
        if !matches!(held, Held::Array(_)) || held.user_type().is_some() {
            return Ok(None);
        }
        let Some((dimensions, flat)) = nested_arrays::flattened(text)? else { return Ok(None) };
        let flat = ScalarValue::Utf8View(Some(flat));
        let read = constants::value_of(&flat, held, self.style())?.cast_to(&held.arrow())?;
        let ScalarValue::List(flat) = read else { return Ok(None) };
        let nested = nested_arrays::nested(flat.value(0), &dimensions)?;
        Ok(Some(Typed::constant(ScalarValue::List(nested.into()), sql_type)))
    }

    /// A value as a numeric without a declaration; `None` for values that are no numbers, texts or JSON.
    fn number_of(&self, value: &Typed) -> Result<Option<Typed>> {
        let from = value.sql_type.oid;
        if value.data_type.is_integer() {
            let (precision, scale) = common_types::digits(&value.data_type);
            let decimal = DataType::Decimal128(precision, scale);
            return Ok(Some(exact(value.clone().converted(&decimal))));
        }
        if from == Oid::JSONB {
            return Ok(Some(self.digits_of(value, "numeric")?));
        }
        let is_read = value.data_type.is_floating() || types::is_text(from) || from == Oid::BPCHAR;
        Ok(is_read.then(|| value.clone().opened()))
    }

    /// The number that a document is, as a numeric; `target` is what an error says it is cast to.
    fn digits_of(&self, document: &Typed, target: &str) -> Result<Typed> {
        let target = ScalarValue::Utf8View(Some(target.to_owned()));
        let arguments = vec![document.clone(), Typed::constant(target, Oid::TEXT.into())];
        Ok(self.registered("jsonb_number", arguments, Oid::TEXT.into())?.opened())
    }

    /// The number or the truth value that a document is.
    fn of_document(&self, document: Typed, held: &Held, sql_type: SqlType) -> Result<Typed> {
        let target = name_without_length(held);
        if sql_type.oid == Oid::BOOL {
            let target = ScalarValue::Utf8View(Some(target));
            let arguments = vec![document, Typed::constant(target, Oid::TEXT.into())];
            return self.registered("jsonb_bool", arguments, sql_type);
        }
        self.plain(self.digits_of(&document, &target)?.named(Oid::NUMERIC.into()), sql_type)
    }

    /// The output style of the session.
    pub(crate) fn style(&self) -> Style {
        Style::from_config(self.around.engine.config_options())
    }

    /// A conversion by the function that casts.
    fn converted(&self, value: Typed, held: &Held, sql_type: SqlType) -> Result<Typed> {
        let data_type = held.arrow();
        let function = conversion::to(held, &data_type, self.style());
        let value = Typed { expr: function.call(vec![value.expr]), sql_type, data_type };
        match types::is_wide_numeric(sql_type) {
            true => self.adjusted(WITH_PRECISION, value, sql_type),
            false => Ok(value),
        }
    }

    /// A conversion by the text of a value.
    fn through_text(&self, value: Typed, sql_type: SqlType) -> Result<Typed> {
        // Only system tables have such values, as texts.
        let is_system = matches!(sql_type.oid.catalog_name(), "inet" | "aclitem" | "pg_node_tree");
        if is_system && !value.is_null() {
            return missing(format!("a conversion to {sql_type}"));
        }
        if let Some(text) = self.labels(&value)? {
            return self.plain(text, sql_type);
        }
        if let Some(named) = self.by_names(&value, sql_type)? {
            return Ok(named);
        }
        if value.sql_type.oid == Oid::BOOL && !value.is_null() {
            return self.plain(letter(value)?, sql_type);
        }
        if matches!(value.sql_type.oid, Oid::INT2VECTOR | Oid::OIDVECTOR) && !value.is_null() {
            let text = SqlType::plain(Oid::TEXT);
            let blank = Typed::constant(ScalarValue::Utf8View(Some(" ".to_owned())), text);
            let items = self.registered("array_to_string", vec![value, blank], text)?;
            return self.plain(items, sql_type);
        }
        if value.sql_type.oid == Oid::JSONPATH {
            return missing(format!("the text of {}", value.sql_type));
        }
        if value.sql_type.oid == Oid::BPCHAR
            || types::is_text(value.sql_type.oid)
            || is_textual(sql_type)
        {
            return self.plain(value, sql_type);
        }
        let text = self.plain(value, SqlType::plain(Oid::TEXT))?;
        self.plain(text, sql_type)
    }

    /// The labels of values of an enum, or of arrays of them. `None` for other values.
    pub(crate) fn labels(&self, value: &Typed) -> Result<Option<Typed>> {
        let Ok(held) = types::held(value.sql_type) else { return Ok(None) };
        let Some(user) = held.user_type().filter(|user| user.has_labels()) else {
            return Ok(None);
        };
        let oid = match (value.sql_type.oid.element(), user.attributes()) {
            (Some(_), None) => Oid::TEXT_ARRAY,
            (Some(_), Some(_)) => Oid::RECORD_ARRAY,
            (None, None) => Oid::TEXT,
            (None, Some(_)) => Oid::RECORD,
        };
        if value.is_null() {
            return Typed::null(oid.into()).map(Some);
        }
        let data_type = texts_type(&value.data_type, user);
        if let Some(constant) = value.value() {
            let text = texts(&constant.to_array()?, user)?;
            let text = ScalarValue::try_from_array(&text, 0)?;
            return Ok(Some(Typed::constant(text, oid.into())));
        }
        let expr = labels::of(user).call(vec![value.expr.clone()]);
        Ok(Some(Typed { expr, sql_type: oid.into(), data_type }))
    }

    /// The same value under another type. Records have labels of enums.
    pub(super) fn relabelled(&self, value: Typed, sql_type: SqlType) -> Result<Typed> {
        if value.is_null() {
            return Typed::null(sql_type);
        }
        if (types::is_id(value.sql_type.oid) || types::is_id(sql_type.oid))
            && let Some(converted) = self.of_system(&value, sql_type)?
        {
            return Ok(converted);
        }
        let is_of_integers = value.sql_type.oid.element() == Some(Oid::INT4);
        if is_of_integers && sql_type.oid.element().is_some_and(types::is_id) {
            return self.converted(value, &types::read(sql_type)?, sql_type);
        }
        let is_record = matches!(sql_type.oid, Oid::RECORD | Oid::RECORD_ARRAY);
        let value = match self.labels(&value)? {
            Some(labels) if is_record => labels,
            _ => value,
        };
        Typed::of(value.expr, value.data_type, sql_type)
    }

    fn items(&self, value: Typed, sql_type: SqlType) -> Result<Typed> {
        if let Some(texts) = self.labels(&value)? {
            return match sql_type.oid {
                Oid::TEXT_ARRAY => Ok(texts),
                _ => self.items(texts, sql_type),
            };
        }
        if let Some(named) = self.by_names(&value, sql_type)? {
            return Ok(named);
        }
        let (from, to) = (value.sql_type.oid.element(), sql_type.oid.element());
        let is_known = match (from, to) {
            (Some(from), Some(to)) => {
                is_plain(from, to) || types::is_text(from) || types::is_text(to)
            }
            _ => false,
        };
        if !is_known {
            return missing(format!("a cast of {} to {sql_type}", value.sql_type));
        }
        if value.is_null() {
            return Typed::null(sql_type);
        }
        if nested_arrays::is_nested(&value.data_type) {
            return missing(format!("a cast of an array of several dimensions to {sql_type}"));
        }
        let held = types::read(sql_type)?;
        self.converted(value, &held, sql_type)
    }

    /// A conversion to the length or precision of a type.
    pub(crate) fn to_length(
        &self,
        value: Typed,
        sql_type: SqlType,
        is_explicit: bool,
    ) -> Result<Typed> {
        let held = types::held(sql_type)?;
        if value.is_null() {
            return Typed::null(sql_type);
        }
        if nested_arrays::is_nested(&value.data_type) {
            return missing("a length of items in several dimensions");
        }
        let item = if let Held::Array(item) = &held { item } else { &held };
        match held {
            _ if !is_explicit && let Held::Varchar(Some(length)) | Held::Char(length) = *item => {
                let length = ScalarValue::Int64(Some(length.into()));
                let length = Typed::constant(length, Oid::INT8.into());
                let is_char = ScalarValue::Boolean(Some(matches!(item, Held::Char(_))));
                let is_char = Typed::constant(is_char, Oid::BOOL.into());
                self.registered(WITHIN, vec![value, length, is_char], sql_type)
            }
            Held::Varchar(None) | Held::Text => Ok(value.named(sql_type)),
            Held::Varchar(_) | Held::Char(_) => self.converted(value, &held, sql_type),
            Held::Numeric { .. } if sql_type.modifier < 0 => Ok(value.named(sql_type)),
            Held::Numeric { .. } if types::is_wide_numeric(sql_type) => {
                self.adjusted(WITH_PRECISION, value.opened(), sql_type)
            }
            Held::Numeric { .. } if !has_known_scale(&value) => {
                self.converted(value, &held, sql_type)
            }
            Held::Numeric { .. } => {
                let is_same = value.data_type == held.arrow();
                if is_same { Ok(value.named(sql_type)) } else { rounded(value, &held, sql_type) }
            }
            Held::Interval if sql_type.modifier < 0 => Ok(value.named(sql_type)),
            Held::Time | Held::Timestamp | Held::TimestampTz
                if !(0..6).contains(&sql_type.modifier) =>
            {
                Ok(value.named(sql_type))
            }
            Held::Time | Held::Timestamp | Held::TimestampTz => {
                self.adjusted("moment_precision", value, sql_type)
            }
            Held::Interval => self.adjusted("interval_precision", value, sql_type),
            Held::Array(_) => self.converted(value, &held, sql_type),
            _ => missing(format!("a conversion to {sql_type}")),
        }
    }
}

impl Lowering<'_> {
    /// A value with the precision of its type's modifier, by a function of both.
    pub(crate) fn adjusted(&self, name: &str, value: Typed, sql_type: SqlType) -> Result<Typed> {
        let modifier = ScalarValue::Int32(Some(sql_type.modifier));
        let modifier = Typed::constant(modifier, Oid::INT4.into());
        self.hidden(name, vec![value, modifier], sql_type)
    }
}

/// What is read and written of a truth value: `t` or `f`.
fn letter(value: Typed) -> Result<Typed> {
    let letter = |letter: &str| lit(ScalarValue::Utf8View(Some(letter.to_owned())));
    let expr = when(value.expr.clone(), letter("t")).when(not(value.expr), letter("f")).end()?;
    Typed::of(expr, DataType::Utf8View, Oid::TEXT.into())
}

/// A numeric with a declared precision and scale.
fn rounded(value: Typed, held: &Held, sql_type: SqlType) -> Result<Typed> {
    if let Some(constant) = value.value() {
        let text = constant.cast_to(&Held::Text.arrow())?;
        let value = constants::value_of(&text, held, Style::default())?.cast_to(&held.arrow())?;
        return Ok(Typed::constant(value, sql_type));
    }
    Typed::of(value.expr, value.data_type, sql_type)
}

/// A whole constant with no more digits than it has.
fn exact(value: Typed) -> Typed {
    let Some(ScalarValue::Decimal128(Some(number), _, 0)) = value.value() else { return value };
    let digits = number.unsigned_abs().checked_ilog10().unwrap_or(0) + 1;
    let Ok(precision) = u8::try_from(digits) else { return value };
    Typed::constant(ScalarValue::Decimal128(Some(*number), precision, 0), value.sql_type)
}

/// Whether a type is text to which the output of any value can be converted.
fn is_textual(sql_type: SqlType) -> bool {
    types::is_text(sql_type.oid) || sql_type.oid == Oid::BPCHAR
}

/// Whether the engine's cast between two types, or ours by the same types, is PostgreSQL's.
fn is_plain(from: Oid, to: Oid) -> bool {
    let is_number =
        |oid| types::is_integer(oid) || matches!(oid, Oid::NUMERIC | Oid::FLOAT4 | Oid::FLOAT8);
    match (from, to) {
        (from, to) if is_number(from) && is_number(to) => true,
        (Oid::INT4, Oid::BOOL) | (Oid::BOOL, Oid::INT4) => true,
        (Oid::INT2 | Oid::INT8, to) | (to, Oid::INT8) if types::is_id(to) => true,
        (from, to) if types::is_id(from) && types::is_id(to) => {
            types::is_long_id(from) == types::is_long_id(to)
        }
        (Oid::CHAR, Oid::INT4) | (Oid::INT4, Oid::CHAR) => true,
        (Oid::DATE | Oid::TIMESTAMPTZ, Oid::TIMESTAMP)
        | (Oid::DATE | Oid::TIMESTAMP, Oid::TIMESTAMPTZ)
        | (Oid::TIMESTAMP | Oid::TIMESTAMPTZ, Oid::DATE)
        | (Oid::TIMESTAMP | Oid::TIMESTAMPTZ, Oid::TIME) => true,
        (Oid::JSONB, to) => is_number(to) || to == Oid::BOOL,
        (from, to) => (is_textual(from.into()) || from == Oid::BOOL) && is_textual(to.into()),
    }
}
