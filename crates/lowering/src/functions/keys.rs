//! Keys by which values are ordered and told apart, for types whose values the engine would compare otherwise.

use super::comparisons::{length, with_one_zero, without_blanks};
use crate::numbers::is_open_number;
use crate::refusal::{Result, unsupported};
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::system::{Oid, SqlType};
use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::expr::Case;
use datafusion::logical_expr::{Expr, Operator, binary_expr};
use functions::system::tid;
use values::numbers::is_open;

impl Lowering<'_> {
    /// The key that orders a value; the value itself for most types.
    pub(crate) fn order_key(&self, value: Typed) -> Result<Typed> {
        let bytes = SqlType::plain(Oid::BYTEA);
        if value.sql_type.oid == Oid::TID {
            return self.hidden(tid::NUMBER, vec![value], Oid::INT8.into());
        }
        match value.sql_type.oid.element() {
            Some(item) if value.data_type.is_nested() => match item {
                Oid::JSONB | Oid::BPCHAR => unsupported(format!("the order of {}", value.sql_type)),
                _ => self.hidden("array_order", vec![value], bytes),
            },
            _ => Ok(with_one_zero(self.equality_key(value)?)),
        }
    }

    /// The key that is the same for equal values; the value itself for most types.
    pub(crate) fn equality_key(&self, value: Typed) -> Result<Typed> {
        Ok(match value.sql_type.oid {
            Oid::INTERVAL => length(value),
            Oid::BPCHAR => without_blanks(value),
            Oid::JSONB => {
                self.registered("jsonb_order", vec![value], SqlType::plain(Oid::BYTEA))?
            }
            oid if oid.is_row() => self.record_key(value)?,
            Oid::NUMERIC if is_open_number(&value) => value.number_key(),
            _ if value.data_type.is_nested() && holds_keyed(&value.data_type) => {
                self.hidden("array_order", vec![value], SqlType::plain(Oid::BYTEA))?
            }
            _ => value,
        })
    }

    /// Whether equal values of a type, held as an Arrow type, may differ.
    pub(crate) fn has_equality_key(sql_type: SqlType, held: &DataType) -> bool {
        holds_keyed(held)
            || sql_type.oid == Oid::JSONB
            || sql_type.oid.is_row()
            || sql_type == SqlType::plain(Oid::BPCHAR)
    }

    /// Whether arrays of a type have keys by which they are ordered and told apart.
    pub(crate) fn has_array_key(sql_type: SqlType) -> bool {
        let item = sql_type.oid.element();
        item.is_some_and(|item| !Self::has_equality_key(item.into(), &DataType::Null))
    }

    /// Whether the engine does not know the order of a type.
    pub(crate) fn has_order_key(sql_type: SqlType, held: &DataType) -> bool {
        Self::has_equality_key(sql_type, held)
            || sql_type.oid.element().is_some()
            || sql_type.oid == Oid::TID
    }

    /// The greatest or least of values that have keys; the first of equal ones.
    pub(crate) fn extreme_of(
        &self,
        values: Vec<Typed>,
        is_greatest: bool,
        sql_type: SqlType,
    ) -> Result<Typed> {
        let beyond = if is_greatest { Operator::Gt } else { Operator::Lt };
        let mut values = values.into_iter();
        let Some(mut best) = values.next() else { return unsupported("no value") };
        for next in values {
            let keys = [self.order_key(next.clone())?.expr, self.order_key(best.clone())?.expr];
            let [of_next, of_best] = keys;
            let branches = vec![
                (Box::new(best.expr.clone().is_null()), Box::new(next.expr.clone())),
                (Box::new(binary_expr(of_next, beyond, of_best)), Box::new(next.expr)),
            ];
            let case = Expr::Case(Case::new(None, branches, Some(Box::new(best.expr))));
            best = Typed { expr: case, ..best };
        }
        Typed::of(best.expr, best.data_type, sql_type)
    }
}

/// Whether equal values of an Arrow type, or of the items of its arrays, may differ.
fn holds_keyed(held: &DataType) -> bool {
    match held {
        DataType::List(item) => holds_keyed(item.data_type()),
        DataType::Interval(_) => true,
        other => is_open(other),
    }
}
