//! Numerics: decimals with one scale for all rows, or numbers with a scale each.
//!
//! A numeric is a decimal of the engine where its type says how many digits each value has behind the point: a column of
//! type `numeric(p, s)`, a constant, a sum or product of such. Quotients, averages, and values of which each may have
//! another scale are held as [`OPEN`] numbers.

use crate::typed::Typed;
use analyzer::system::{Oid, SqlType};
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr, LogicalPlanBuilder, Subquery};
use functions::casts::conversion::{self, UNDECLARED};
use functions::numbers::open::{KEY, OPENED, comparable};
use functions::operators;
use std::sync::Arc;
use values::assign;
pub(crate) use values::numbers::holds_open;
use values::numbers::{OPEN, has_one_scale, is_open};
use values::style::Style;
use values::types::of_arrow;

/// Whether values are numbers with a scale each.
pub(crate) fn is_open_number(value: &Typed) -> bool {
    is_open(&value.data_type)
}

/// Whether values are decimals or integers, all with as many digits behind the point as their type says.
pub(crate) fn has_known_scale(value: &Typed) -> bool {
    value.data_type.is_integer() || has_one_scale(&value.data_type)
}

impl Typed {
    /// The same numbers with a scale each; arrays of them, for arrays.
    pub(crate) fn opened(self) -> Self {
        if holds_open(&self.data_type) {
            return self;
        }
        let known = self.value().and_then(|value| {
            let array = value.to_array().ok()?;
            let array = assign::opened(&array).ok()?;
            ScalarValue::try_from_array(&array, 0).ok()
        });
        if let Some(value) = known {
            let data_type = value.data_type();
            return Self { data_type, ..Self::constant(value, self.sql_type) };
        }
        let data_type = opened_type(&self.data_type);
        Self { expr: call(OPENED, self.expr), sql_type: self.sql_type, data_type }
    }

    /// Numbers with a scale each as values of another type of numbers.
    pub(crate) fn closed(self, data_type: &DataType) -> Self {
        let function = conversion::to(&of_arrow(data_type), data_type, Style::default());
        let expr = function.call(vec![self.expr]);
        Self { expr, sql_type: self.sql_type, data_type: data_type.clone() }
    }

    /// The keys of numbers with a scale each, or of arrays of them: the same for equal numbers, and in their order.
    pub(crate) fn number_key(self) -> Self {
        let data_type = key_type(&self.data_type);
        let sql_type = SqlType::plain(Oid::BYTEA);
        let known = self.value().and_then(|value| {
            let keys = comparable(&assign::opened(&value.to_array().ok()?).ok()?).ok()?;
            ScalarValue::try_from_array(&keys, 0).ok()
        });
        if let Some(key) = known {
            return Self { data_type, ..Self::constant(key, sql_type) };
        }
        Self { expr: call(KEY, self.expr), sql_type, data_type }
    }
}

fn opened_type(of: &DataType) -> DataType {
    with_items(of, &OPEN)
}

fn key_type(of: &DataType) -> DataType {
    with_items(of, &DataType::BinaryView)
}

fn with_items(of: &DataType, to: &DataType) -> DataType {
    match of {
        DataType::List(field) => {
            let item = with_items(field.data_type(), to);
            DataType::List(Field::new_list_field(item, true).into())
        }
        _ => to.clone(),
    }
}

/// A call of a function that takes any value. For the value of a subquery it is part of the subquery, which calls it once.
fn call(name: &str, argument: Expr) -> Expr {
    match argument {
        Expr::ScalarSubquery(subquery) => match within(name, &subquery) {
            Some(within) => Expr::ScalarSubquery(within),
            None => called(name, Expr::ScalarSubquery(subquery)),
        },
        Expr::ScalarFunction(mut of) if of.name() == UNDECLARED && is_subquery(&of.args) => {
            of.args = of.args.into_iter().map(|argument| call(name, argument)).collect();
            Expr::ScalarFunction(of)
        }
        argument => called(name, argument),
    }
}

fn is_subquery(arguments: &[Expr]) -> bool {
    matches!(arguments, [Expr::ScalarSubquery(_)])
}

/// A subquery whose value is that of a function of its value.
fn within(name: &str, subquery: &Subquery) -> Option<Subquery> {
    let plan = subquery.subquery.as_ref().clone();
    let column = plan.schema().columns().into_iter().next()?;
    let value = called(name, Expr::Column(column)).alias("value");
    let plan = LogicalPlanBuilder::from(plan).project([value]).ok()?.build().ok()?;
    Some(Subquery { subquery: Arc::new(plan), ..subquery.clone() })
}

fn called(name: &str, argument: Expr) -> Expr {
    match operators::named(name) {
        Some(function) => function.call(vec![argument]),
        None => argument,
    }
}
