//! Arrays of several dimensions, which are lists of lists: their bounds, their items, and two of them as one.

use columnar::{Types, function};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, ListArray, StringViewArray};
use datafusion::arrow::buffer::{NullBuffer, OffsetBuffer};
use datafusion::arrow::compute::{cast, concat};
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

/// The functions of this file.
pub(super) fn all() -> [ScalarUDF; 3] {
    let dims: Types = |types| Ok((types.get(..1).unwrap_or_default().to_vec(), DataType::Utf8View));
    let flat: Types = |types| match types {
        [list] => Ok((vec![list.clone()], flat_type(list))),
        _ => Err(Error::new(SqlState::UndefinedFunction, "array_flat takes an array")),
    };
    let joined: Types = |types| match types {
        [left, right] => Ok((types.to_vec(), deeper(left, right).clone())),
        _ => Err(Error::new(SqlState::UndefinedFunction, "array_joined takes two arrays")),
    };
    [
        function("array_dims", dims, |args| {
            let shown = (0..args[0].len()).map(|row| {
                let bounds = bounds(&args[0], row);
                let shown: Vec<String> =
                    bounds.iter().map(|length| format!("[1:{length}]")).collect();
                (!shown.is_empty()).then(|| shown.concat())
            });
            Ok(Arc::new(shown.collect::<StringViewArray>()))
        }),
        function("array_flat", flat, |args| Ok(flattened(&args[0]))),
        function("array_joined", joined, join),
    ]
}

/// The number of dimensions of arrays of a type.
pub(super) fn levels(data_type: &DataType) -> i32 {
    match data_type {
        DataType::List(item) => 1 + levels(item.data_type()),
        _ => 0,
    }
}

fn flat_type(data_type: &DataType) -> DataType {
    match data_type {
        DataType::List(item) if item.data_type().is_nested() => flat_type(item.data_type()),
        other => other.clone(),
    }
}

/// The number of items in each dimension of an array; none of one that is NULL or empty.
fn bounds(lists: &ArrayRef, row: usize) -> Vec<usize> {
    let Some(lists) = lists.as_list_opt::<i32>().filter(|lists| lists.is_valid(row)) else {
        return Vec::new();
    };
    let items = lists.value(row);
    let inner = if items.is_empty() { Vec::new() } else { bounds(&items, 0) };
    let is_empty = items.is_empty() || items.data_type().is_nested() && inner.is_empty();
    if is_empty { Vec::new() } else { [vec![items.len()], inner].concat() }
}

/// Arrays with their items in one dimension.
fn flattened(lists: &ArrayRef) -> ArrayRef {
    let outer = lists.as_list_opt::<i32>();
    let Some((outer, inner)) = outer.and_then(|of| Some((of, of.values().as_list_opt::<i32>()?)))
    else {
        return Arc::clone(lists);
    };
    // The places of the items in the inner lists, which follow each other.
    let ends = outer.value_offsets().iter().map(|at| inner.value_offsets()[*at as usize]);
    let offsets = OffsetBuffer::new(ends.collect());
    let DataType::List(field) = inner.data_type() else { return Arc::clone(lists) };
    let field = Arc::clone(field);
    let flat = ListArray::new(field, offsets, Arc::clone(inner.values()), outer.nulls().cloned());
    flattened(&(Arc::new(flat) as ArrayRef))
}

/// Arrays, or items of them as arrays of their own, as arrays of a type.
fn as_deep(of: &ArrayRef, returns: &DataType) -> Result<ArrayRef> {
    if levels(of.data_type()) == levels(returns) {
        return Ok(cast(of, returns)?);
    }
    let field = Arc::new(Field::new_list_field(of.data_type().clone(), true));
    let offsets = OffsetBuffer::from_lengths(vec![1; of.len()]);
    let deep = ListArray::try_new(field, offsets, Arc::clone(of), of.nulls().cloned())?;
    Ok(cast(&deep, returns)?)
}

fn deeper<'t>(left: &'t DataType, right: &'t DataType) -> &'t DataType {
    if levels(left) < levels(right) { right } else { left }
}

/// One array behind the other, or an array with another as its first or last item.
fn join(args: &[ArrayRef]) -> Result<ArrayRef> {
    let returns = deeper(args[0].data_type(), args[1].data_type());
    let DataType::List(field) = returns else {
        return Err(Error::unsupported("a list was expected"));
    };
    let (left, right) = (as_deep(&args[0], returns)?, as_deep(&args[1], returns)?);
    let (of_left, of_right) = (left.as_list::<i32>(), right.as_list::<i32>());
    let mut parts = vec![of_left.values().slice(0, 0)];
    let (mut lengths, mut valid) = (Vec::<usize>::new(), Vec::<bool>::new());
    for row in 0..left.len() {
        let sides = [(&left, of_left), (&right, of_right)].map(|(of, lists)| {
            let bounds = bounds(of, row);
            (!bounds.is_empty()).then(|| (bounds, lists.value(row)))
        });
        if let [Some((ours, _)), Some((theirs, _))] = &sides
            && ours.get(1..) != theirs.get(1..)
        {
            let message = "cannot concatenate incompatible arrays";
            return Err(Error::new(SqlState::ArraySubscriptError, message));
        }
        let items: Vec<ArrayRef> = sides.into_iter().flatten().map(|(_, items)| items).collect();
        lengths.push(items.iter().map(Array::len).sum());
        valid.push(left.is_valid(row) || right.is_valid(row));
        parts.extend(items);
    }
    let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
    let nulls = Some(NullBuffer::from(valid));
    let offsets = OffsetBuffer::from_lengths(lengths);
    Ok(Arc::new(ListArray::try_new(Arc::clone(field), offsets, concat(&parts)?, nulls)?))
}
