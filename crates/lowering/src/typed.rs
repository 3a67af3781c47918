//! Expressions of the engine with their types.

use crate::refusal::Result;
use crate::types;
use analyzer::system::{Oid, SqlType};
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::ScalarValue;
use datafusion::common::metadata::FieldMetadata;
use datafusion::logical_expr::expr::Cast;
use datafusion::logical_expr::{Expr, cast};
use functions::numbers::common_types;
use std::collections::HashMap;
use std::sync::Arc;
use store::catalog::SqlType as Held;
use values::numbers::{holds_open, is_open};
use values::types::plan_field;

/// The key in the metadata of a constant moment that has a zone.
const ZONED_KEY: &str = "pando.zoned";

/// An expression of the engine, its type in the tree, and the Arrow type that it has.
#[derive(Debug, Clone)]
pub(crate) struct Typed {
    pub(crate) expr: Expr,
    pub(crate) sql_type: SqlType,
    pub(crate) data_type: DataType,
}

impl Typed {
    /// An expression that the engine gives an Arrow type. It is converted if that does not represent the type.
    pub(crate) fn of(expr: Expr, data_type: DataType, sql_type: SqlType) -> Result<Self> {
        let given = Self { expr, sql_type, data_type };
        if types::fits(&given.data_type, sql_type)? {
            return Ok(given);
        }
        if sql_type == SqlType::plain(Oid::NUMERIC) && !given.data_type.is_integer() {
            return Ok(given.opened());
        }
        if sql_type == SqlType::plain(Oid::NUMERIC) {
            let (precision, scale) = common_types::digits(&given.data_type);
            return Ok(given.converted(&DataType::Decimal128(precision, scale)));
        }
        let field = types::held(sql_type)?;
        if is_open(&given.data_type) {
            return Ok(given.closed(&field.arrow()));
        }
        let field = plan_field("cast", &field, true);
        let data_type = field.data_type().clone();
        if field.metadata().is_empty() {
            // The plan knows that the value is not null where its source is not.
            return Ok(given.converted(&data_type));
        }
        let expr = Expr::Cast(Cast::new_from_field(Box::new(given.expr), Arc::new(field)));
        Ok(Self { expr, sql_type, data_type })
    }

    /// A boolean.
    pub(crate) fn boolean(expr: Expr) -> Self {
        Self { expr, sql_type: SqlType::plain(Oid::BOOL), data_type: DataType::Boolean }
    }

    /// A constant. The engine takes constants with the same value and metadata for one, also a moment with a zone and one
    /// without.
    pub(crate) fn constant(value: ScalarValue, sql_type: SqlType) -> Self {
        let data_type = value.data_type();
        let metadata = types::held(sql_type).ok().and_then(|held| metadata_of(&held));
        Self { expr: Expr::Literal(value, metadata), sql_type, data_type }
    }

    /// The NULL of a type.
    pub(crate) fn null(sql_type: SqlType) -> Result<Self> {
        if sql_type.oid == Oid::RECORD {
            // The other values that it stands with say which fields it has.
            return Ok(Self::constant(ScalarValue::Null, sql_type));
        }
        let value = ScalarValue::try_from(types::held(sql_type)?.arrow())?;
        Ok(Self::constant(value, sql_type))
    }

    /// The value of a constant.
    pub(crate) fn value(&self) -> Option<&ScalarValue> {
        match &self.expr {
            Expr::Literal(value, _) => Some(value),
            _ => None,
        }
    }

    /// The text of a constant.
    pub(crate) fn text(&self) -> Option<&str> {
        self.value()?.try_as_str().flatten()
    }

    /// Whether it is the constant NULL.
    pub(crate) fn is_null(&self) -> bool {
        self.value().is_some_and(ScalarValue::is_null)
    }

    /// The same type under another Arrow type. Constants are converted at once.
    pub(crate) fn converted(self, data_type: &DataType) -> Self {
        if self.data_type == *data_type {
            return self;
        }
        match (holds_open(&self.data_type), holds_open(data_type)) {
            (_, true) => return self.opened(),
            (true, false) => return self.closed(data_type),
            _ => {}
        }
        let folded = self.value().filter(|value| is_exact(value, data_type));
        let folded = folded.and_then(|value| value.cast_to(data_type).ok());
        let expr = match folded {
            Some(value) => {
                return Self {
                    data_type: data_type.clone(),
                    ..Self::constant(value, self.sql_type)
                };
            }
            None => cast(self.expr, data_type.clone()),
        };
        Self { expr, sql_type: self.sql_type, data_type: data_type.clone() }
    }

    /// The same value, whose field in plans names its type.
    pub(crate) fn declared(self) -> Result<Self> {
        let field = plan_field("cast", &types::held(self.sql_type)?, true);
        let expr = Expr::Cast(Cast::new_from_field(Box::new(self.expr), Arc::new(field)));
        Ok(Self { expr, ..self })
    }

    /// The same expression with another type of the tree, which the same values represent.
    pub(crate) fn named(self, sql_type: SqlType) -> Self {
        Self { sql_type, ..self }
    }

    /// Its field in plans.
    pub(crate) fn field(&self) -> FieldRef {
        types::field(self.sql_type, &self.data_type)
    }
}

/// The metadata of a constant of a type.
fn metadata_of(held: &Held) -> Option<FieldMetadata> {
    let item = match held {
        Held::Array(item) => item,
        held => held,
    };
    match item {
        Held::Uuid | Held::Json | Held::Jsonb => {
            Some(FieldMetadata::from(plan_field("", held, true).metadata().clone()))
        }
        Held::TimestampTz => {
            Some(FieldMetadata::from(HashMap::from([(ZONED_KEY.to_owned(), String::new())])))
        }
        _ => None,
    }
}

/// Converts numerics among values of one type, and arrays of them, to a common scale.
pub(crate) fn unify(values: &mut [Typed]) {
    let is_mixed = values.windows(2).any(|pair| pair[0].data_type != pair[1].data_type);
    if !is_mixed {
        return;
    }
    let known = values.iter().filter(|value| !value.is_null()).map(|value| &value.data_type);
    let together = known.cloned().reduce(|left, right| common_types::of_both(&left, &right));
    let Some(together) = together.or_else(|| Some(values.first()?.data_type.clone())) else {
        return;
    };
    for value in values {
        let old = std::mem::replace(value, value.clone());
        *value = old.converted(&together);
    }
}

/// Whether a conversion of a constant between types of numbers can be done when the statement is planned: NULL and numbers
/// become wider.
fn is_exact(value: &ScalarValue, to: &DataType) -> bool {
    let from = value.data_type();
    let is_wider = match (&from, to) {
        (from, to) if from.is_integer() => to.is_numeric(),
        (from, to) if from.is_floating() => to.is_floating(),
        (from, to) => from.is_decimal() && (to.is_decimal() || to.is_floating()),
    };
    value.is_null() || is_wider
}
