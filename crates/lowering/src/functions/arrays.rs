//! Arrays.

use super::{Make, Table, called, take};
use crate::numbers::holds_open;
use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::{Typed, unify};
use crate::types;
use analyzer::system::{Oid, SqlType};
use analyzer::tree::Literal;
use datafusion::arrow::array::{Array, ListArray, new_empty_array};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::functions_nested::array_has::{array_has_all_udf, array_has_any_udf};
use datafusion::logical_expr::{Expr, lit, when};
use std::sync::Arc;
use values::error::{Error, SqlState};

pub(super) const TABLE: Table = &[
    ("||(anycompatiblearray,anycompatiblearray)", Make::Own(concatenated)),
    (
        "||(anycompatiblearray,anycompatible) array_append(anycompatiblearray,anycompatible)",
        Make::Own(|of, args, to| extended(of, "array_append", 0, args, to)),
    ),
    (
        "||(anycompatible,anycompatiblearray) array_prepend(anycompatible,anycompatiblearray)",
        Make::Own(|of, args, to| extended(of, "array_prepend", 1, args, to)),
    ),
    ("array_cat(anycompatiblearray,anycompatiblearray)", Make::Own(concatenated)),
    (
        "pando_array_assign(anyarray,int4,anyelement)",
        Make::Own(|of, args, to| of_items(of, "array_assigned", args, to)),
    ),
    (
        "array_remove(anycompatiblearray,anycompatible)",
        Make::Own(|of, args, to| of_items(of, "array_remove_all", args, to)),
    ),
    (
        "array_replace(anycompatiblearray,anycompatible,anycompatible)",
        Make::Own(|of, args, to| of_items(of, "array_replace_all", args, to)),
    ),
    (
        "array_position(anycompatiblearray,anycompatible) array_position(anycompatiblearray,anycompatible,int4)",
        Make::Own(|of, args, to| of_items(of, "array_position", args, to)),
    ),
    (
        "array_positions(anycompatiblearray,anycompatible)",
        Make::Own(|of, args, to| of_items(of, "array_places", args, to)),
    ),
    ("width_bucket(anycompatible,anycompatiblearray)", Make::Own(bucket)),
    ("@>(anyarray,anyarray)", Make::Own(contains)),
    ("<@(anyarray,anyarray)", Make::Own(contained)),
    ("&&(anyarray,anyarray)", Make::Own(overlaps)),
    ("array_length(anyarray,int4)", Make::Own(length)),
    ("array_lower(anyarray,int4)", Make::Own(lower_bound)),
    ("array_upper(anyarray,int4)", Make::Own(upper_bound)),
    ("array_fill(anyelement,_int4)", Make::Own(filled)),
    ("array_to_string(anyarray,text) array_to_string(anyarray,text,text)", Make::Own(joined)),
];

/// An array and one more item. NULL counts as an array without items: the engine would take those that a CASE has left
/// behind a NULL.
fn extended(
    lowering: &Lowering<'_>,
    name: &str,
    place: usize,
    arguments: Vec<Typed>,
    sql_type: SqlType,
) -> Result<Typed> {
    let mut arguments = with_own_scales(arguments);
    if arguments.get(place).is_some_and(is_deep) {
        let message = "argument must be empty or one-dimensional array";
        return Err(Error::new(SqlState::DataException, message).into());
    }
    if let Some(array) = arguments.get_mut(place)
        && let DataType::List(field) = &array.data_type
        && array.value().is_none()
    {
        let items = new_empty_array(field.data_type());
        let empty = ListArray::new(Arc::clone(field), OffsetBuffer::new_zeroed(1), items, None);
        let empty = lit(ScalarValue::List(Arc::new(empty)));
        let given = array.expr.clone();
        array.expr = when(given.clone().is_not_null(), given).otherwise(empty)?;
    }
    lowering.registered(name, arguments, sql_type)
}

/// A function of an array and of values like its items.
fn of_items(
    lowering: &Lowering<'_>,
    name: &str,
    arguments: Vec<Typed>,
    sql_type: SqlType,
) -> Result<Typed> {
    if arguments.first().is_some_and(is_deep) {
        return missing(match name {
            "array_remove_all" => "removing elements from multidimensional arrays".to_owned(),
            "array_position" | "array_places" => {
                "searching for elements in multidimensional arrays".to_owned()
            }
            _ => format!("{name} of an array of several dimensions"),
        });
    }
    lowering.registered(name, with_own_scales(arguments), sql_type)
}

/// The bucket of a value among those that begin at the items of an array.
fn bucket(lowering: &Lowering<'_>, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let of = arguments[0].sql_type;
    if of.oid.is_row() || matches!(of.oid, Oid::JSONB | Oid::BPCHAR) {
        return missing(format!("width_bucket of {of}"));
    }
    if arguments.get(1).is_some_and(is_deep) {
        let message = "thresholds must be one-dimensional array";
        return Err(Error::new(SqlState::ArraySubscriptError, message).into());
    }
    of_items(lowering, "array_bucket", arguments, sql_type)
}

/// An array of some dimensions with one value.
fn filled(lowering: &Lowering<'_>, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    if arguments.get(1).is_some_and(is_deep) {
        let error = Error::new(SqlState::ArraySubscriptError, "wrong number of array subscripts");
        return Err(error.with_detail("Dimension array must be one dimensional.").into());
    }
    let Some(sizes) = arguments.get(1).and_then(sizes) else {
        return lowering.registered("array_filled", arguments, sql_type);
    };
    let mut arguments: Vec<Typed> = arguments.into_iter().take(1).collect();
    for size in sizes {
        arguments.push(Typed::of(size, DataType::Int32, SqlType::plain(Oid::INT4))?);
    }
    lowering.registered("array_filled", arguments, sql_type)
}

/// The sizes in an array of them that has several. `None` where they are not known one by one.
fn sizes(array: &Typed) -> Option<Vec<Expr>> {
    let sizes = match &array.expr {
        Expr::ScalarFunction(made) if made.name() == "make_array" => made.args.clone(),
        Expr::Literal(ScalarValue::List(sizes), _) if sizes.len() == 1 && sizes.is_valid(0) => {
            let sizes = sizes.value(0);
            let size = |at| ScalarValue::try_from_array(&sizes, at).ok().map(lit);
            (0..sizes.len()).map(size).collect::<Option<_>>()?
        }
        _ => return None,
    };
    (sizes.len() > 1).then_some(sizes)
}

/// Whether an array has more than one dimension.
fn is_deep(array: &Typed) -> bool {
    dimensions(&array.data_type) > 1
}

/// Numerics, and arrays of them, with a scale each.
fn with_own_scales(values: Vec<Typed>) -> Vec<Typed> {
    let is_number =
        |value: &Typed| value.sql_type.oid.element().unwrap_or(value.sql_type.oid) == Oid::NUMERIC;
    let values = values.into_iter();
    values.map(|value| if is_number(&value) { value.opened() } else { value }).collect()
}

/// Two arrays one behind the other. An array with one dimension less than the other is an item of it.
fn concatenated(
    lowering: &Lowering<'_>,
    mut arguments: Vec<Typed>,
    sql_type: SqlType,
) -> Result<Typed> {
    if let [left, right] = &arguments[..] {
        let (left, right) = (dimensions(&left.data_type), dimensions(&right.data_type));
        if left.abs_diff(right) > 1 {
            let message = "cannot concatenate incompatible arrays";
            return Err(Error::new(SqlState::ArraySubscriptError, message).into());
        }
        if left > 1 || right > 1 {
            return lowering.registered("array_joined", with_own_scales(arguments), sql_type);
        }
    }
    unify(&mut arguments);
    lowering.registered("array_concat", arguments, sql_type)
}

/// The number of dimensions of an array of a type.
fn dimensions(data_type: &DataType) -> usize {
    match data_type {
        DataType::List(item) => 1 + dimensions(item.data_type()),
        _ => 0,
    }
}

/// An array with its items in one dimension.
fn flat(lowering: &Lowering<'_>, array: Typed) -> Result<Typed> {
    let sql_type = array.sql_type;
    match dimensions(&array.data_type) {
        0 | 1 => Ok(array),
        _ => lowering.registered("array_flat", vec![array], sql_type),
    }
}

fn contains(lowering: &Lowering<'_>, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let [array, items] = take(arguments)?;
    let mut sides = [flat(lowering, array)?, flat(lowering, items)?];
    unify(&mut sides);
    let sides = comparable(sides);
    let (expr, data_type) = called(&array_has_all_udf(), sides.into())?;
    Typed::of(expr, data_type, sql_type)
}

/// Arrays of numbers with a scale each as arrays of their keys.
fn comparable(sides: [Typed; 2]) -> [Typed; 2] {
    match sides.iter().any(|side| holds_open(&side.data_type)) {
        true => sides.map(Typed::number_key),
        false => sides,
    }
}

fn contained(
    lowering: &Lowering<'_>,
    mut arguments: Vec<Typed>,
    sql_type: SqlType,
) -> Result<Typed> {
    arguments.reverse();
    contains(lowering, arguments, sql_type)
}

fn overlaps(lowering: &Lowering<'_>, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let [array, other] = take(arguments)?;
    let mut sides = [flat(lowering, array)?, flat(lowering, other)?];
    unify(&mut sides);
    let sides = comparable(sides);
    let (expr, data_type) = called(&array_has_any_udf(), sides.into())?;
    Typed::of(expr, data_type, sql_type)
}

/// The number of items of an array, NULL if there are none.
fn length(lowering: &Lowering<'_>, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let [array, dimension] = take(arguments)?;
    let dimension = dimension.converted(&DataType::Int64);
    let count = lowering.registered("array_length", vec![array, dimension], sql_type)?;
    let none = lowering.literal(&Literal::Integer(0), sql_type)?;
    lowering.registered("nullif", vec![count, none], sql_type)
}

pub(crate) fn lower_bound(
    lowering: &Lowering<'_>,
    bounds: Vec<Typed>,
    sql_type: SqlType,
) -> Result<Typed> {
    if is_of_first_dimension(&bounds) {
        return lowering.registered("array_lower", bounds, sql_type);
    }
    let length = length(lowering, bounds, sql_type)?;
    let one = lowering.literal(&Literal::Integer(1), sql_type)?;
    let expr = when(length.expr.is_not_null(), one.expr).end()?;
    Ok(Typed { expr, sql_type, data_type: one.data_type })
}

pub(crate) fn upper_bound(
    lowering: &Lowering<'_>,
    bounds: Vec<Typed>,
    sql_type: SqlType,
) -> Result<Typed> {
    match is_of_first_dimension(&bounds) {
        true => lowering.registered("array_upper", bounds, sql_type),
        false => length(lowering, bounds, sql_type),
    }
}

/// Whether bounds are of the only dimension of a vector, or of the first one of an array.
fn is_of_first_dimension(bounds: &[Typed]) -> bool {
    let is_vector = |array: &Typed| matches!(array.sql_type.oid, Oid::INT2VECTOR | Oid::OIDVECTOR);
    let is_first = |dimension: &Typed| dimension.value() == Some(&ScalarValue::Int32(Some(1)));
    bounds.first().is_some_and(is_vector) || bounds.get(1).is_some_and(is_first)
}

/// The items of an array, as their output is, with a text between them.
fn joined(lowering: &Lowering<'_>, mut arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    if let Some(array) = arguments.first_mut() {
        *array = lowering.as_output_items(array.clone())?;
    }
    lowering.registered("array_to_string", arguments, sql_type)
}

impl Lowering<'_> {
    /// An array whose items are texts as their output is, if `array_to_string` would write them otherwise.
    fn as_output_items(&self, array: Typed) -> Result<Typed> {
        let Some(item) = array.sql_type.oid.element() else {
            return missing("array_to_string of this value");
        };
        if types::is_text(item) || types::is_integer(item) {
            return Ok(array);
        }
        if let Some(names) = self.by_names(&array, Oid::TEXT_ARRAY.into())? {
            return Ok(names);
        }
        if item == Oid::BPCHAR {
            return missing(format!("array_to_string of {}", array.sql_type));
        }
        if types::is_id(item) {
            return Ok(array);
        }
        let function = Arc::new(::functions::casts::output::items(self.style()));
        let (expr, data_type) = called(&function, vec![array])?;
        Ok(Typed { expr, sql_type: Oid::TEXT_ARRAY.into(), data_type })
    }
}
