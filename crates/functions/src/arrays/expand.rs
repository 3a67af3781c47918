//! `_pg_expandarray`: each element of an array (`x`) with its number (`n`). pgjdbc reads keys with it.

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int32Array, ListArray, StructArray};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Fields};
use datafusion::common::{Result, exec_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;

/// The function.
pub(super) fn function() -> ScalarUDF {
    ScalarUDF::new_from_impl(ExpandArray { signature: Signature::any(1, Volatility::Immutable) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct ExpandArray {
    signature: Signature,
}

fn pair_fields(element: &FieldRef) -> Fields {
    let x = Field::new("x", element.data_type().clone(), true);
    Fields::from(vec![x, Field::new("n", DataType::Int32, true)])
}

fn pairs_field(element: &FieldRef) -> FieldRef {
    Arc::new(Field::new_list_field(DataType::Struct(pair_fields(element)), true))
}

impl ScalarUDFImpl for ExpandArray {
    fn name(&self) -> &str {
        "_pg_expandarray"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match types {
            [DataType::List(element)] => Ok(DataType::List(pairs_field(element))),
            _ => exec_err!("_pg_expandarray takes one array"),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let Some(argument) = args.args.first() else {
            return exec_err!("_pg_expandarray takes one array");
        };
        let array = argument.to_array(args.number_rows)?;
        let lists = array.as_list::<i32>();
        let DataType::List(element) = lists.data_type() else {
            return exec_err!("_pg_expandarray takes one array");
        };
        let mut numbers = vec![0; lists.values().len()];
        for window in lists.value_offsets().windows(2) {
            let (start, end) = (window[0] as usize, window[1] as usize);
            (1..).zip(&mut numbers[start..end]).for_each(|(number, place)| *place = number);
        }
        let columns: Vec<ArrayRef> =
            vec![Arc::clone(lists.values()), Arc::new(Int32Array::from(numbers))];
        let pairs = StructArray::try_new(pair_fields(element), columns, None)?;
        let offsets = lists.offsets().clone();
        let nulls = lists.nulls().cloned();
        let list = ListArray::try_new(pairs_field(element), offsets, Arc::new(pairs), nulls)?;
        Ok(ColumnarValue::Array(Arc::new(list)))
    }
}
