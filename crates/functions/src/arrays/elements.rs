//! Functions of arrays that the engine computes otherwise: subscripts, slices, containment, positions, bounds.
//!
//! An array begins at 1. NULL is equal to no element, and to all NULLs only where PostgreSQL says so.

use super::dimensions::levels;
use crate::numbers::open::comparable;
use crate::overload::{Overload, overloaded};
use columnar::function;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Int32Array, Int32Builder, ListArray, ListBuilder,
    UInt64Array, make_comparator,
};
use datafusion::arrow::buffer::{NullBuffer, OffsetBuffer};
use datafusion::arrow::compute::{SortOptions, take};
use datafusion::arrow::datatypes::{DataType, Field, Int64Type};
use datafusion::functions_nested::{array_has, extract, position, remove};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

/// The functions of this file that statements can call.
pub(super) fn all() -> Vec<ScalarUDF> {
    vec![
        function(
            "trim_array",
            |types| match types {
                [list @ DataType::List(_), _] => {
                    Ok((vec![list.clone(), DataType::Int64], list.clone()))
                }
                _ => Err(Error::new(SqlState::UndefinedFunction, "trim_array takes an array")),
            },
            trim,
        ),
        function(
            "array_places",
            |types| match types {
                [list @ DataType::List(item), _] => {
                    let arguments = vec![list.clone(), item.data_type().clone()];
                    Ok((arguments, list_of(DataType::Int32)))
                }
                _ => Err(Error::new(SqlState::UndefinedFunction, "array_positions takes an array")),
            },
            places,
        ),
        function(
            "array_ndims",
            |types| Ok((types.get(..1).unwrap_or_default().to_vec(), DataType::Int32)),
            |args| {
                let levels = levels(args[0].data_type());
                let lengths = lengths(&args[0]).map(|length| length.map(|_| levels));
                Ok(Arc::new(lengths.collect::<Int32Array>()))
            },
        ),
    ]
}

/// The type of lists of items.
pub(super) fn list_of(item: DataType) -> DataType {
    DataType::List(Arc::new(Field::new_list_field(item, true)))
}

/// The functions that replace the engine's of the same name.
pub(crate) fn replacements() -> Vec<ScalarUDF> {
    vec![
        overloaded(
            array_has::array_has_all_udf(),
            &[Overload {
                types: |types| two_lists(types, DataType::Boolean),
                body: |args| compare_sets(args, |all| all.iter().all(|found| *found)),
            }],
        ),
        overloaded(
            array_has::array_has_any_udf(),
            &[Overload {
                types: |types| two_lists(types, DataType::Boolean),
                body: |args| compare_sets(args, |all| all.iter().any(|found| *found)),
            }],
        ),
        overloaded(
            extract::array_element_udf(),
            &[Overload {
                types: |types| match types {
                    [DataType::List(item), at] if at.is_integer() => {
                        let arguments = vec![types[0].clone(), DataType::Int64];
                        Some((arguments, item.data_type().clone()))
                    }
                    _ => None,
                },
                body: element,
            }],
        ),
        overloaded(
            extract::array_slice_udf(),
            &[Overload {
                types: |types| match types {
                    // The engine adds a step of 1.
                    [list @ DataType::List(_), bounds @ ..]
                        if (2..=3).contains(&bounds.len())
                            && bounds.iter().all(DataType::is_integer) =>
                    {
                        let bounds = vec![DataType::Int64; bounds.len()];
                        Some(([vec![list.clone()], bounds].concat(), list.clone()))
                    }
                    _ => None,
                },
                body: slice,
            }],
        ),
        overloaded(remove::array_remove_udf(), WITHOUT),
        overloaded(remove::array_remove_all_udf(), WITHOUT),
        overloaded(
            position::array_position_udf(),
            &[Overload {
                types: |types| match types {
                    [list @ DataType::List(item), value, rest @ ..]
                        if is_item(item.data_type(), value) && rest.len() < 2 =>
                    {
                        let value = item.data_type().clone();
                        let start = vec![DataType::Int64; rest.len()];
                        Some(([vec![list.clone(), value], start].concat(), DataType::Int32))
                    }
                    _ => None,
                },
                body: place,
            }],
        ),
    ]
}

/// Removal of a value, which the engine calls otherwise when it removes all of them.
const WITHOUT: &[Overload] = &[Overload {
    types: |types| match types {
        [list @ DataType::List(item), value] if is_item(item.data_type(), value) => {
            Some((vec![list.clone(), item.data_type().clone()], list.clone()))
        }
        _ => None,
    },
    body: without,
}];

/// Whether a value can be an element.
fn is_item(item: &DataType, value: &DataType) -> bool {
    item == value || value.is_null() || item.is_string() && value.is_string()
}

fn two_lists(types: &[DataType], returns: DataType) -> Option<(Vec<DataType>, DataType)> {
    match types {
        [DataType::List(left), DataType::List(right)]
            if left.data_type() == right.data_type() && !left.data_type().is_nested() =>
        {
            Some((vec![types[0].clone(); 2], returns))
        }
        _ => None,
    }
}

/// The lengths of arrays; `None` for NULL and for empty ones, which have no bounds.
fn lengths(lists: &ArrayRef) -> impl Iterator<Item = Option<usize>> + '_ {
    let lists = lists.as_list_opt::<i32>();
    let count = lists.map_or(0, Array::len);
    (0..count).map(move |row| {
        let lists = lists?;
        let length = usize::try_from(lists.value_length(row)).unwrap_or(0);
        (lists.is_valid(row) && length > 0).then_some(length)
    })
}

/// Where the elements of a row are in the values of its column.
fn range(lists: &ListArray, row: usize) -> std::ops::Range<usize> {
    let offsets = lists.value_offsets();
    offsets[row] as usize..offsets[row + 1] as usize
}

/// Whether each element on the right is on the left; `judge` makes an answer of it.
fn compare_sets(args: &[ArrayRef], judge: fn(&[bool]) -> bool) -> Result<ArrayRef> {
    let (left, right) = (args[0].as_list::<i32>(), args[1].as_list::<i32>());
    let (ours, theirs) = (comparable(left.values())?, comparable(right.values())?);
    let compare = make_comparator(&ours, &theirs, SortOptions::default())?;
    let rows = (0..left.len()).map(|row| {
        if left.is_null(row) || right.is_null(row) {
            return None;
        }
        let (all, wanted) = (range(left, row), range(right, row));
        let found: Vec<bool> = wanted
            .map(|wanted| {
                let is_same = |at: usize| left.values().is_valid(at) && compare(at, wanted).is_eq();
                right.values().is_valid(wanted) && all.clone().any(is_same)
            })
            .collect();
        Some(judge(&found))
    });
    Ok(Arc::new(rows.collect::<BooleanArray>()))
}

fn element(args: &[ArrayRef]) -> Result<ArrayRef> {
    let (lists, places) = (args[0].as_list::<i32>(), args[1].as_primitive::<Int64Type>());
    let wanted = (0..lists.len()).map(|row| {
        if lists.is_null(row) || places.is_null(row) {
            return None;
        }
        let elements = range(lists, row);
        let place = u64::try_from(places.value(row)).ok()?.checked_sub(1)?;
        let place = elements.start as u64 + place;
        (place < elements.end as u64).then_some(place)
    });
    Ok(take(lists.values(), &wanted.collect::<UInt64Array>(), None)?)
}

/// Takes elements, by their places in the values of the column; `None` is a NULL array.
fn lists_of(lists: &ListArray, places: Vec<Option<Vec<u64>>>) -> Result<ArrayRef> {
    let nulls = NullBuffer::from_iter(places.iter().map(Option::is_some));
    let offsets =
        OffsetBuffer::from_lengths(places.iter().map(|row| row.as_ref().map_or(0, Vec::len)));
    let all: UInt64Array = places.into_iter().flatten().flatten().map(Some).collect();
    let values = take(lists.values(), &all, None)?;
    let DataType::List(field) = lists.data_type() else {
        return Err(Error::unsupported("a list was expected"));
    };
    Ok(Arc::new(ListArray::try_new(Arc::clone(field), offsets, values, Some(nulls))?))
}

fn slice(args: &[ArrayRef]) -> Result<ArrayRef> {
    let lists = args[0].as_list::<i32>();
    let bound = |index: usize, row: usize| args[index].as_primitive::<Int64Type>().value(row);
    let rows = (0..lists.len()).map(|row| {
        if args.iter().any(|array| array.is_null(row)) {
            return None;
        }
        let elements = range(lists, row);
        let (start, length) = (elements.start as i64, elements.len() as i64);
        let (from, to) = (bound(1, row).max(1), bound(2, row).min(length));
        Some((from..=to).map(|place| (start + place - 1) as u64).collect::<Vec<_>>())
    });
    lists_of(lists, rows.collect())
}

/// Without a value; without NULLs if it is NULL.
fn without(args: &[ArrayRef]) -> Result<ArrayRef> {
    let (lists, value) = (args[0].as_list::<i32>(), &args[1]);
    let (items, wanted) = (comparable(lists.values())?, comparable(value)?);
    let compare = make_comparator(&items, &wanted, SortOptions::default())?;
    let rows = (0..lists.len()).map(|row| {
        if lists.is_null(row) {
            return None;
        }
        let kept = range(lists, row).filter(|at| {
            match (lists.values().is_null(*at), value.is_null(row)) {
                (true, true) => false,
                (false, false) => compare(*at, row).is_ne(),
                _ => true,
            }
        });
        Some(kept.map(|at| at as u64).collect::<Vec<_>>())
    });
    lists_of(lists, rows.collect())
}

/// The place of a value, NULL included, from a place on.
fn place(args: &[ArrayRef]) -> Result<ArrayRef> {
    let (lists, value) = (args[0].as_list::<i32>(), &args[1]);
    let (items, wanted) = (comparable(lists.values())?, comparable(value)?);
    let compare = make_comparator(&items, &wanted, SortOptions::default())?;
    let rows = (0..lists.len()).map(|row| {
        let start = args.get(2).map(|starts| starts.as_primitive::<Int64Type>());
        if start.is_some_and(|starts| starts.is_null(row)) {
            let message = "initial position must not be null";
            return Err(Error::new(SqlState::NullValueNotAllowed, message));
        }
        if lists.is_null(row) {
            return Ok(None);
        }
        let skipped = start.map_or(0, |starts| starts.value(row).saturating_sub(1).max(0));
        let is_wanted = |at: &usize| match (lists.values().is_null(*at), value.is_null(row)) {
            (true, true) => true,
            (false, false) => compare(*at, row).is_eq(),
            _ => false,
        };
        let elements = range(lists, row);
        let first = elements.start;
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
        let found = elements.skip(skipped).find(is_wanted);
        Ok(found.and_then(|at| i32::try_from(at - first + 1).ok()))
    });
    Ok(Arc::new(rows.collect::<Result<Int32Array>>()?))
}

/// All places of a value, NULL included.
fn places(args: &[ArrayRef]) -> Result<ArrayRef> {
    let (lists, value) = (args[0].as_list::<i32>(), &args[1]);
    let (items, wanted) = (comparable(lists.values())?, comparable(value)?);
    let compare = make_comparator(&items, &wanted, SortOptions::default())?;
    let mut found = ListBuilder::new(Int32Builder::new());
    for row in 0..lists.len() {
        if lists.is_null(row) {
            found.append_null();
            continue;
        }
        let elements = range(lists, row);
        for (place, at) in (1_i32..).zip(elements) {
            let is_wanted = match (lists.values().is_null(at), value.is_null(row)) {
                (true, true) => true,
                (false, false) => compare(at, row).is_eq(),
                _ => false,
            };
            if is_wanted {
                found.values().append_value(place);
            }
        }
        found.append(true);
    }
    Ok(Arc::new(found.finish()))
}

/// Without elements at the end.
fn trim(args: &[ArrayRef]) -> Result<ArrayRef> {
    let (lists, counts) = (args[0].as_list::<i32>(), args[1].as_primitive::<Int64Type>());
    let rows = (0..lists.len()).map(|row| {
        if lists.is_null(row) || counts.is_null(row) {
            return Ok(None);
        }
        let elements = range(lists, row);
        let count = usize::try_from(counts.value(row)).ok();
        let kept = count.and_then(|count| elements.len().checked_sub(count)).ok_or_else(|| {
            let most = elements.len();
            let message = format!("number of elements to trim must be between 0 and {most}");
            Error::new(SqlState::ArraySubscriptError, message)
        })?;
        Ok(Some(elements.take(kept).map(|at| at as u64).collect()))
    });
    lists_of(lists, rows.collect::<Result<Vec<_>>>()?)
}
