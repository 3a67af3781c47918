//! Arrays: ARRAY[...], ANY and ALL, subscripts.

use crate::functions::{self, Make, called, comparisons};
use crate::numbers::holds_open;
use crate::refusal::{Result, missing, unsupported};
use crate::scope::Lowering;
use crate::typed::{Typed, unify};
use crate::types;
use ::functions::arrays::quantified;
use analyzer::system::{Oid, SqlType, operators};
use analyzer::tree::{Expr, Kind, Quantified};
use datafusion::arrow::array::Array;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{Expr as Engine, Operator, binary_expr};
use std::sync::Arc;
use values::error::{Error, SqlState};

type Bounds = (Option<Expr>, Option<Expr>);

/// The most dimensions of an array.
const DIMENSIONS_MAX: usize = 6;

fn dimensions(data_type: &DataType) -> usize {
    match data_type {
        DataType::List(item) => 1 + dimensions(item.data_type()),
        _ => 0,
    }
}

impl Lowering<'_> {
    pub(super) fn array(&mut self, items: &[Expr], sql_type: SqlType) -> Result<Typed> {
        if items.iter().any(|item| item.sql_type.oid.element().is_some()) {
            return self.array_of_arrays(items, sql_type);
        }
        let items = self.exprs(items)?;
        if items.is_empty() {
            return self.empty_array(sql_type);
        }
        let item = sql_type.oid.element().unwrap_or(Oid::TEXT);
        let items = self.together(items, SqlType { oid: item, modifier: sql_type.modifier })?;
        let (expr, data_type) = self.engine_function("make_array", items)?;
        let array = Typed::of(expr, data_type, sql_type)?;
        // The engine's array does not say that its texts are JSON.
        Ok(if matches!(item, Oid::JSON | Oid::JSONB) { array.declared()? } else { array })
    }

    /// An array of several dimensions.
    fn array_of_arrays(&mut self, items: &[Expr], sql_type: SqlType) -> Result<Typed> {
        let lengths = items.iter().filter_map(|item| match &item.kind {
            Kind::Array(inner) => Some(inner.len()),
            _ => None,
        });
        let lengths: Vec<usize> = lengths.collect();
        if lengths.windows(2).any(|pair| pair[0] != pair[1]) {
            let message =
                "multidimensional arrays must have array expressions with matching dimensions";
            return Err(Error::new(SqlState::ArraySubscriptError, message).into());
        }
        let mut arrays = self.exprs(items)?;
        unify(&mut arrays);
        let (expr, data_type) = self.engine_function("make_array", arrays)?;
        if dimensions(&data_type) > DIMENSIONS_MAX {
            let message = format!(
                "number of array dimensions ({}) exceeds the maximum allowed ({DIMENSIONS_MAX})",
                dimensions(&data_type)
            );
            return Err(Error::new(SqlState::ProgramLimitExceeded, message).into());
        }
        Ok(Typed { expr, sql_type, data_type })
    }

    /// An array without items.
    pub(crate) fn empty_array(&self, sql_type: SqlType) -> Result<Typed> {
        let DataType::List(field) = types::held(sql_type)?.arrow() else {
            return missing(format!("arrays of type {sql_type}"));
        };
        let list = ScalarValue::new_list_nullable(&[], field.data_type());
        Ok(Typed::constant(ScalarValue::List(list), sql_type))
    }

    /// A comparison with each item of an array or a list.
    pub(super) fn quantified(&mut self, quantified: &Quantified) -> Result<Typed> {
        let Quantified { operator, is_all, value, array } = quantified;
        let found = operators::of(*operator).map(|operator| operator.function);
        let Some(make) = found.and_then(functions::of) else {
            let name = operators::of(*operator).map_or("?", |operator| operator.name);
            return missing(format!("operator {name} ANY"));
        };
        let value = self.expr(value)?;
        if let Some(items) = self.known_items(array)? {
            return self.with_items(make, value, items, *is_all);
        }
        let array = self.expr(array)?;
        match make {
            Make::Compare(operator) => self.compared_with(value, *operator, array, *is_all),
            _ => missing("ANY and ALL of an array that is computed"),
        }
    }

    /// A comparison with the items of an array that is computed.
    pub(super) fn compared_with(
        &mut self,
        value: Typed,
        operator: Operator,
        array: Typed,
        is_all: bool,
    ) -> Result<Typed> {
        let DataType::List(field) = &array.data_type else {
            return missing("ANY of this value");
        };
        if value.sql_type.oid.is_row() && operator == Operator::Eq && !is_all {
            let (expr, _) = self.engine_function("array_has", vec![array, value])?;
            return Ok(Typed::boolean(expr));
        }
        if holds_open(&value.data_type) || holds_open(&array.data_type) {
            let function = Arc::new(quantified::compared(operator, is_all));
            return Ok(Typed::boolean(called(&function, vec![value.opened(), array.opened()])?.0));
        }
        if value.sql_type.oid == Oid::INTERVAL {
            let function = Arc::new(quantified::compared(operator, is_all));
            return Ok(Typed::boolean(called(&function, vec![value, array])?.0));
        }
        if value.sql_type.oid == Oid::JSONB {
            let keys = |of: Typed| -> Result<Typed> {
                let (expr, data_type) = self.engine_function("jsonb_order", vec![of])?;
                Ok(Typed { expr, sql_type: Oid::BYTEA.into(), data_type })
            };
            let function = Arc::new(quantified::compared(operator, is_all));
            return Ok(Typed::boolean(called(&function, vec![keys(value)?, keys(array)?])?.0));
        }
        // Equal values of `tid` have equal texts.
        let has_equal_texts =
            value.sql_type.oid == Oid::TID && matches!(operator, Operator::Eq | Operator::NotEq);
        if !has_equal_texts && Self::has_order_key(value.sql_type, &value.data_type) {
            return unsupported(format!("ANY and ALL of a computed array of {}", value.sql_type));
        }
        let (value, item) = comparisons::sides(self, value, item(&array, field.data_type()))?;
        let field = field.as_ref().clone().with_data_type(item.data_type);
        let array = array.converted(&DataType::List(field.into()));
        let function = Arc::new(quantified::compared(operator, is_all));
        Ok(Typed::boolean(called(&function, vec![value, array])?.0))
    }

    /// The items of an array or list that the statement lists.
    fn known_items(&mut self, array: &Expr) -> Result<Option<Vec<Typed>>> {
        let element = array.sql_type.oid.element();
        match (&array.kind, element) {
            (Kind::Array(items), _) => self.exprs(items).map(Some),
            (_, None) => Ok(None),
            (Kind::Literal(_) | Kind::Parameter(_), Some(item)) if !item.is_row() => {
                let array = self.expr(array)?;
                Ok(array.value().and_then(|value| items_of(value, item)))
            }
            _ => Ok(None),
        }
    }

    fn with_items(
        &mut self,
        make: &Make,
        value: Typed,
        items: Vec<Typed>,
        is_all: bool,
    ) -> Result<Typed> {
        let is_list = matches!(
            (make, is_all),
            (Make::Compare(Operator::Eq), false) | (Make::Compare(Operator::NotEq), true)
        );
        // The engine takes a CASE in a list for a constant, the value that it has of no row.
        let is_case = |part: &Engine| {
            Ok(match part {
                Engine::Case(_) => true,
                Engine::ScalarFunction(call) => call.name() == "coalesce",
                _ => false,
            })
        };
        let has_case = items.iter().any(|item| item.expr.exists(is_case).unwrap_or(true));
        // The engine compares the bits of constants with those of a list. Equal ones may have others: 0 and -0, 1 day and 24 hours.
        let by_bits = |typed: &Typed| {
            let item = typed.sql_type.oid.element().unwrap_or(typed.sql_type.oid);
            !matches!(item, Oid::INTERVAL | Oid::FLOAT4 | Oid::FLOAT8)
        };
        let have_bits = by_bits(&value) && items.iter().all(by_bits);
        if is_list && !has_case && !items.is_empty() && have_bits {
            let (value, list) = comparisons::with_list(self, value, items)?;
            let list = list.into_iter().map(|item| item.expr).collect();
            return Ok(Typed::boolean(in_list(value.expr, list, is_all)));
        }
        let each = items.into_iter().map(|item| {
            let compared = make.build(self, vec![value.clone(), item], Oid::BOOL.into())?;
            Ok(compared.expr)
        });
        let each = each.collect::<Result<Vec<_>>>()?;
        if each.is_empty() {
            return Ok(Typed::constant(ScalarValue::Boolean(Some(is_all)), Oid::BOOL.into()));
        }
        let join = if is_all { Engine::and } else { Engine::or };
        Ok(Typed::boolean(super::logic::all(each, join)))
    }

    pub(super) fn subscript(
        &mut self,
        array: &Expr,
        subscripts: &[Bounds],
        is_slice: bool,
        sql_type: SqlType,
    ) -> Result<Typed> {
        let is_vector = matches!(array.sql_type.oid, Oid::INT2VECTOR | Oid::OIDVECTOR);
        let array = self.expr(array)?;
        match subscripts {
            [(None, Some(index))] if !is_slice && array.sql_type.oid == Oid::JSONB => {
                let index = self.expr(index)?;
                self.registered("jsonb_extract_path", vec![array, index], sql_type)
            }
            subscripts if !is_slice => {
                // An element needs a subscript for each dimension.
                if dimensions(&array.data_type) != subscripts.len() {
                    return Typed::null(sql_type);
                }
                let mut value = array;
                for index in subscripts.iter().filter_map(|(_, index)| index.as_ref()) {
                    let first = if is_vector { 0 } else { 1 };
                    let Some(element) = self.element(value, index, first)? else {
                        return Typed::null(sql_type);
                    };
                    value = element;
                }
                Typed::of(value.expr, value.data_type, sql_type)
            }
            [(from, to)] if is_slice && !is_vector && array.data_type.is_nested() => {
                let from = self.slice_bound(from.as_ref(), 1)?;
                let to = self.slice_bound(to.as_ref(), i64::MAX)?;
                let (expr, data_type) =
                    self.engine_function("array_slice", vec![array, from, to])?;
                Typed::of(expr, data_type, sql_type)
            }
            _ => missing("these subscripts"),
        }
    }
}

impl Lowering<'_> {
    /// An element of an array whose subscripts begin with `first`; `None` if there is none.
    fn element(&mut self, array: Typed, index: &Expr, first: i64) -> Result<Option<Typed>> {
        let index = self.expr(index)?.converted(&DataType::Int64);
        // The engine counts negative places from the end.
        let place = match index.value() {
            Some(ScalarValue::Int64(Some(number))) if *number < first => return Ok(None),
            Some(ScalarValue::Int64(Some(number))) => {
                let place = ScalarValue::Int64(Some(number - first + 1));
                Typed::constant(place, Oid::INT8.into())
            }
            _ => placed(index, first),
        };
        let sql_type = array.sql_type;
        let (expr, data_type) = self.engine_function("array_element", vec![array, place])?;
        Ok(Some(Typed { expr, sql_type, data_type }))
    }

    /// A bound of a slice, or the bound of the array.
    fn slice_bound(&mut self, bound: Option<&Expr>, otherwise: i64) -> Result<Typed> {
        let Some(bound) = bound else {
            return Ok(Typed::constant(ScalarValue::Int64(Some(otherwise)), Oid::INT8.into()));
        };
        Ok(self.expr(bound)?.converted(&DataType::Int64))
    }
}

/// A computed subscript as a place that counts from 1; 0, which is no place, for what lies before the array.
fn placed(index: Typed, first: i64) -> Typed {
    let number = |number: i64| Engine::Literal(ScalarValue::Int64(Some(number)), None);
    let place = if first == 1 {
        index.expr.clone()
    } else {
        binary_expr(index.expr.clone(), Operator::Plus, number(1 - first))
    };
    let before = binary_expr(index.expr, Operator::Lt, number(first));
    let branch = (Box::new(before), Box::new(number(0)));
    let case = datafusion::logical_expr::expr::Case::new(None, vec![branch], Some(Box::new(place)));
    Typed { expr: Engine::Case(case), sql_type: Oid::INT8.into(), data_type: DataType::Int64 }
}

/// A value of the type of an array's items, for the types of a comparison.
fn item(array: &Typed, data_type: &DataType) -> Typed {
    let element = array.sql_type.oid.element().unwrap_or(match array.sql_type.oid {
        Oid::INT2VECTOR => Oid::INT2,
        _ => Oid::OID,
    });
    let none = ScalarValue::try_from(data_type).unwrap_or(ScalarValue::Null);
    Typed { data_type: data_type.clone(), ..Typed::constant(none, element.into()) }
}

/// The items of a constant array.
fn items_of(value: &ScalarValue, item: Oid) -> Option<Vec<Typed>> {
    let ScalarValue::List(list) = value else { return None };
    if list.len() != 1 || list.is_null(0) {
        return None;
    }
    let values = list.value(0);
    let items = (0..values.len()).map(|row| {
        let value = ScalarValue::try_from_array(&values, row).ok()?;
        Some(Typed::constant(value, item.into()))
    });
    items.collect()
}

/// Whether a value is one of a list, or is none of it. The engine joins and subtracts lists as if no item were NULL.
fn in_list(value: Engine, items: Vec<Engine>, negated: bool) -> Engine {
    let (nulls, list): (Vec<Engine>, Vec<Engine>) = items.into_iter().partition(is_null);
    let unknown = || Engine::Literal(ScalarValue::Boolean(None), None);
    if list.is_empty() {
        return unknown();
    }
    let found = Engine::InList(InList { expr: Box::new(value), list, negated });
    match (nulls.is_empty(), negated) {
        (true, _) => found,
        (false, true) => found.and(unknown()),
        (false, false) => found.or(unknown()),
    }
}

/// Whether an expression is the constant NULL.
fn is_null(expr: &Engine) -> bool {
    match expr {
        Engine::Literal(value, _) => value.is_null(),
        Engine::Cast(cast) => is_null(&cast.expr),
        _ => false,
    }
}
