//! The distinct numbers of an array, in order: what `array_agg(DISTINCT x)` returns.

use columnar::{Types, function};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, LargeBinaryBuilder, ListArray};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::logical_expr::ScalarUDF;
use numerics::Numeric;
use std::collections::BTreeMap;
use std::sync::Arc;
use values::error::{Error, Result};
use values::numbers::OPEN;

/// The name of the function of an array, `ASC` or `DESC`, and `NULLS FIRST` or `NULLS LAST`.
pub const SET: &str = "numeric_set";

/// The function.
pub(crate) fn set() -> ScalarUDF {
    let types: Types = |types| match types {
        [DataType::List(_), _, _] => {
            let list = DataType::List(Arc::new(Field::new_list_field(OPEN, true)));
            Ok((vec![list.clone(), DataType::Utf8, DataType::Utf8], list))
        }
        _ => Err(Error::unsupported("the set of this value is not supported")),
    };
    function(SET, types, sets)
}

fn sets(args: &[ArrayRef]) -> Result<ArrayRef> {
    let lists = args[0].as_list::<i32>();
    let (orders, nulls) = (args[1].as_string::<i32>(), args[2].as_string::<i32>());
    let mut items = LargeBinaryBuilder::new();
    let mut lengths = Vec::with_capacity(lists.len());
    for (row, list) in lists.iter().enumerate() {
        let Some(list) = list else {
            lengths.push(0);
            continue;
        };
        let numbers = list.as_binary::<i64>();
        let mut distinct: BTreeMap<&[u8], &[u8]> = BTreeMap::new();
        for number in numbers.iter().flatten() {
            distinct.entry(Numeric::key_of(number)).or_insert(number);
        }
        let has_null = numbers.null_count() > 0;
        let nulls_first = nulls.value(row) == "NULLS FIRST";
        if has_null && nulls_first {
            items.append_null();
        }
        match orders.value(row) {
            "DESC" => distinct.values().rev().for_each(|number| items.append_value(number)),
            _ => distinct.values().for_each(|number| items.append_value(number)),
        }
        if has_null && !nulls_first {
            items.append_null();
        }
        lengths.push(distinct.len() + usize::from(has_null));
    }
    let field = Arc::new(Field::new_list_field(OPEN, true));
    let items: ArrayRef = Arc::new(items.finish());
    let (offsets, valid) = (OffsetBuffer::from_lengths(lengths), lists.nulls().cloned());
    Ok(Arc::new(ListArray::try_new(field, offsets, items, valid)?))
}
