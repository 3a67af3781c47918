//! Values of lists, structs and other types without a slot of their own, as bytes.
//!
//! The form is stable: rows are in logs and checkpoints on disk.
//!
//! | type | bytes |
//! |---|---|
//! | boolean | 1: 0 or 1 |
//! | fixed width | the little-endian value |
//! | text, bytes | the bytes |
//! | list | number of items as `u32`, items |
//! | struct | the fields |
//! | any other | an Arrow IPC stream of one column and one row |
//!
//! An item or a field is its length as `u32` and its bytes; the length of NULL is `u32::MAX`. NULL is
//! nothing else.

use crate::Error;
use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BooleanArray, LargeListArray, LargeStringArray,
    ListArray, MutableArrayData, RecordBatch, StringArray, StructArray, make_array,
};
use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::compute::{cast, concat};
use arrow::datatypes::{DataType, Field, FieldRef, Schema};
use arrow::error::ArrowError;
use catalog::ipc::{self, malformed};
use std::sync::Arc;

/// The length of NULL.
const NULL: u32 = u32::MAX;

/// Appends the value at a position, which is not NULL.
///
/// # Errors
/// [`Error::Arrow`] for types that Arrow IPC does not support.
pub(crate) fn encode(array: &dyn Array, at: usize, out: &mut Vec<u8>) -> Result<(), Error> {
    match array.data_type() {
        DataType::Boolean => out.push(u8::from(array.as_boolean().value(at))),
        DataType::Utf8 => out.extend_from_slice(array.as_string::<i32>().value(at).as_bytes()),
        DataType::LargeUtf8 => out.extend_from_slice(array.as_string::<i64>().value(at).as_bytes()),
        DataType::Utf8View => out.extend_from_slice(array.as_string_view().value(at).as_bytes()),
        DataType::Binary => out.extend_from_slice(array.as_binary::<i32>().value(at)),
        DataType::LargeBinary => out.extend_from_slice(array.as_binary::<i64>().value(at)),
        DataType::BinaryView => out.extend_from_slice(array.as_binary_view().value(at)),
        DataType::List(_) => encode_items(&array.as_list::<i32>().value(at), out)?,
        DataType::LargeList(_) => encode_items(&array.as_list::<i64>().value(at), out)?,
        DataType::Struct(_) => {
            for column in array.as_struct().columns() {
                encode_item(column, at, out)?;
            }
        }
        other => match other.primitive_width() {
            Some(width) => {
                let data = array.to_data();
                let from = (data.offset() + at) * width;
                out.extend_from_slice(&data.buffers()[0].as_slice()[from..from + width]);
            }
            None => encode_other(array, at, out)?,
        },
    }
    Ok(())
}

fn encode_items(items: &ArrayRef, out: &mut Vec<u8>) -> Result<(), Error> {
    let count = items.len() as u32; // At most VALUE_BYTES_MAX items of four bytes are stored.
    out.extend_from_slice(&count.to_le_bytes());
    (0..items.len()).try_for_each(|at| encode_item(items, at, out))
}

fn encode_item(array: &ArrayRef, at: usize, out: &mut Vec<u8>) -> Result<(), Error> {
    let place = out.len();
    out.extend_from_slice(&NULL.to_le_bytes());
    if array.is_null(at) {
        return Ok(());
    }
    encode(array, at, out)?;
    let length = u32::try_from(out.len() - place - 4).unwrap_or(NULL);
    if length == NULL {
        return Err(malformed("an item has 4 GiB").into());
    }
    out[place..place + 4].copy_from_slice(&length.to_le_bytes());
    Ok(())
}

fn encode_other(array: &dyn Array, at: usize, out: &mut Vec<u8>) -> Result<(), Error> {
    let schema = Schema::new(vec![Field::new("", array.data_type().clone(), true)]);
    let batch = RecordBatch::try_new(Arc::new(schema.clone()), vec![array.slice(at, 1)])?;
    out.extend(ipc::write(&schema, &[batch])?);
    Ok(())
}

/// Decodes values of a type.
///
/// # Errors
/// [`Error::Arrow`] for bytes that do not have the form.
pub(crate) fn decode(values: &[Option<&[u8]>], data_type: &DataType) -> Result<ArrayRef, Error> {
    let nulls = || NullBuffer::from_iter(values.iter().map(Option::is_some));
    let nulls = || Some(nulls()).filter(|nulls| nulls.null_count() > 0);
    Ok(match data_type {
        DataType::Boolean => {
            let truth = |bytes: &[u8]| bytes.first().map(|byte| *byte != 0).ok_or_else(short);
            let values = values.iter().map(|value| value.map(truth).transpose());
            Arc::new(values.collect::<Result<BooleanArray, ArrowError>>()?)
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => texts(values, data_type)?,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
            let bytes: ArrayRef = Arc::new(values.iter().copied().collect::<BinaryArray>());
            cast(&bytes, data_type)?
        }
        DataType::List(field) => {
            let (items, lengths) = items(values, field)?;
            let offsets = OffsetBuffer::<i32>::from_lengths(lengths);
            Arc::new(ListArray::try_new(Arc::clone(field), offsets, items, nulls())?)
        }
        DataType::LargeList(field) => {
            let (items, lengths) = items(values, field)?;
            let offsets = OffsetBuffer::<i64>::from_lengths(lengths);
            Arc::new(LargeListArray::try_new(Arc::clone(field), offsets, items, nulls())?)
        }
        DataType::Struct(fields) => {
            let mut rest: Vec<&[u8]> = values.iter().map(|value| value.unwrap_or(&[])).collect();
            let mut columns = Vec::with_capacity(fields.len());
            for field in fields {
                let mut column = Vec::with_capacity(values.len());
                for (value, rest) in values.iter().zip(&mut rest) {
                    column.push(if value.is_some() { take_item(rest)? } else { None });
                }
                columns.push(decode(&column, field.data_type())?);
            }
            let structs =
                StructArray::try_new_with_length(fields.clone(), columns, nulls(), values.len());
            Arc::new(structs?)
        }
        other => match other.primitive_width() {
            Some(width) => fixed(values, width, other, nulls())?,
            None => others(values, other)?,
        },
    })
}

fn short() -> ArrowError {
    malformed("a nested value ends early")
}

fn texts(values: &[Option<&[u8]>], data_type: &DataType) -> Result<ArrayRef, Error> {
    let text = |bytes| std::str::from_utf8(bytes).map_err(|_| malformed("a text is not UTF-8"));
    let texts: Vec<Option<&str>> =
        values.iter().map(|value| value.map(text).transpose()).collect::<Result<_, _>>()?;
    let texts: ArrayRef = match data_type {
        DataType::LargeUtf8 => Arc::new(LargeStringArray::from(texts)),
        _ => Arc::new(StringArray::from(texts)),
    };
    Ok(cast(&texts, data_type)?)
}

/// Decodes the items of lists; returns the number of items of each.
fn items(values: &[Option<&[u8]>], field: &FieldRef) -> Result<(ArrayRef, Vec<usize>), Error> {
    let (mut all, mut lengths) = (Vec::new(), Vec::with_capacity(values.len()));
    for value in values {
        let before = all.len();
        if let Some(value) = value {
            let mut rest = *value;
            for _ in 0..take_number(&mut rest)? {
                all.push(take_item(&mut rest)?);
            }
        }
        lengths.push(all.len() - before);
    }
    Ok((decode(&all, field.data_type())?, lengths))
}

fn take_number(rest: &mut &[u8]) -> Result<u32, ArrowError> {
    let (number, after) = rest.split_first_chunk::<4>().ok_or_else(short)?;
    *rest = after;
    Ok(u32::from_le_bytes(*number))
}

fn take_item<'a>(rest: &mut &'a [u8]) -> Result<Option<&'a [u8]>, ArrowError> {
    let length = take_number(rest)?;
    if length == NULL {
        return Ok(None);
    }
    let (item, after) = rest.split_at_checked(length as usize).ok_or_else(short)?;
    *rest = after;
    Ok(Some(item))
}

fn fixed(
    values: &[Option<&[u8]>],
    width: usize,
    data_type: &DataType,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, Error> {
    let mut bytes: Vec<u8> = Vec::with_capacity(values.len() * width);
    for value in values {
        match value {
            Some(value) if value.len() == width => bytes.extend_from_slice(value),
            Some(_) => return Err(short().into()),
            None => bytes.resize(bytes.len() + width, 0),
        }
    }
    let buffer = ScalarBuffer::<u8>::from(bytes).into_inner();
    let data = arrow::array::ArrayData::builder(data_type.clone())
        .len(values.len())
        .add_buffer(buffer)
        .nulls(nulls)
        .align_buffers(true)
        .build()?;
    Ok(make_array(data))
}

fn others(values: &[Option<&[u8]>], data_type: &DataType) -> Result<ArrayRef, Error> {
    let null = arrow::array::new_null_array(data_type, 1);
    let mut arrays = Vec::with_capacity(values.len());
    for value in values {
        let Some(value) = value else {
            arrays.push(Arc::clone(&null));
            continue;
        };
        let check = |schema: &Schema| match schema.fields().first() {
            Some(field) if field.data_type() == data_type => Ok(()),
            _ => Err(malformed("a nested value has another type")),
        };
        let (_, batches) = ipc::read(value.to_vec().into(), check)?;
        let one = batches.first().filter(|batch| batch.num_rows() == 1);
        arrays.push(Arc::clone(one.ok_or_else(short)?.column(0)));
    }
    if arrays.is_empty() {
        let data = null.to_data();
        return Ok(make_array(MutableArrayData::new(vec![&data], false, 0).freeze()));
    }
    Ok(concat(&arrays.iter().map(AsRef::as_ref).collect::<Vec<_>>())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Int32Array, StringViewArray, UInt64Array};
    use arrow::datatypes::Int32Type;

    fn bytes_of(array: &ArrayRef) -> Vec<Option<Vec<u8>>> {
        let value = |at| {
            let mut bytes = Vec::new();
            encode(array, at, &mut bytes).expect("encoded");
            bytes
        };
        (0..array.len()).map(|at| array.is_valid(at).then(|| value(at))).collect()
    }

    fn check(array: ArrayRef) {
        let bytes = bytes_of(&array);
        let values: Vec<Option<&[u8]>> = bytes.iter().map(Option::as_deref).collect();
        let back = decode(&values, array.data_type()).expect("decoded");
        assert_eq!(&back, &array);
        let none = decode(&[], array.data_type()).expect("nothing is decoded");
        assert_eq!((none.len(), none.data_type()), (0, array.data_type()));
        for value in values.iter().flatten() {
            for length in 0..value.len() {
                let _ = decode(&[Some(&value[..length])], array.data_type());
            }
            for bit in 0..value.len() * 8 {
                let mut flipped = value.to_vec();
                flipped[bit / 8] ^= 1 << (bit % 8);
                let _ = decode(&[Some(&flipped)], array.data_type());
            }
        }
    }

    fn lists() -> ArrayRef {
        let items = [Some(vec![Some(1), None, Some(3)]), None, Some(vec![])];
        Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(items))
    }

    #[test]
    fn values_of_nested_types_are_read_back_and_damage_causes_no_panic() {
        check(lists());
        check(Arc::new(UInt64Array::from(vec![Some(7), None])));
        let fields = vec![
            (Arc::new(Field::new("n", DataType::Int32, true)), {
                Arc::new(Int32Array::from(vec![Some(1), None, Some(2)])) as ArrayRef
            }),
            (Arc::new(Field::new("t", DataType::Utf8View, true)), {
                Arc::new(StringViewArray::from(vec![
                    Some("a"),
                    Some("long enough to be outside"),
                    None,
                ])) as ArrayRef
            }),
            (Arc::new(Field::new("l", lists().data_type().clone(), true)), lists()),
        ];
        check(Arc::new(StructArray::from(fields)));
        let words: arrow::array::DictionaryArray<Int32Type> =
            vec![Some("a"), None, Some("b"), Some("a")].into_iter().collect();
        check(Arc::new(words));
    }

    /// The bytes of the form. They must not change.
    #[test]
    fn a_list_has_its_bytes() {
        let bytes = bytes_of(&lists());
        let expected =
            [&[3, 0, 0, 0][..], &[4, 0, 0, 0, 1, 0, 0, 0], &[255; 4], &[4, 0, 0, 0, 3, 0, 0, 0]];
        assert_eq!(bytes, [Some(expected.concat()), None, Some(vec![0; 4])]);
    }
}
