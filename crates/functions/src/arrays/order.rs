//! The order of arrays: by their items, NULL last, then by their length.

use crate::columnar::{Types, function};
use datafusion::arrow::array::{Array, ArrayRef, BinaryArray};
use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::row::{RowConverter, SortField};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use values::error::{Error, Result};

/// The function that returns the key by which arrays are ordered.
pub(crate) fn key() -> ScalarUDF {
    let types: Types = |types| match types {
        [list @ DataType::List(_)] => Ok((vec![list.clone()], DataType::Binary)),
        _ => Err(Error::unsupported("the order of this type is not supported")),
    };
    function("array_order", types, |args| keys(&args[0]))
}

fn keys(lists: &ArrayRef) -> Result<ArrayRef> {
    let options = SortOptions { descending: false, nulls_first: false };
    let field = SortField::new_with_options(lists.data_type().clone(), options);
    let converter = RowConverter::new(vec![field])?;
    let rows = converter.convert_columns(&[Arc::clone(lists)])?;
    let keys = rows.iter().enumerate();
    let keys = keys.map(|(row, key)| lists.is_valid(row).then(|| key.as_ref().to_vec()));
    Ok(Arc::new(keys.collect::<BinaryArray>()))
}
