//! A comparison of a value with the items of an array: `= ANY (array)`, `< ALL (array)` and the like.

use crate::numbers::open::comparable;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray, make_comparator};
use datafusion::arrow::compute::{SortOptions, cast};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, Operator, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::cmp::Ordering;
use std::sync::Arc;
use values::error::Error;
use values::translate::external;

/// The comparison of a value with an array of its type: with each item, or with any.
pub fn compared(operator: Operator, is_all: bool) -> ScalarUDF {
    let signature = Signature::any(2, Volatility::Immutable);
    ScalarUDF::new_from_impl(Quantified { operator, is_all, signature })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Quantified {
    operator: Operator,
    is_all: bool,
    signature: Signature,
}

impl ScalarUDFImpl for Quantified {
    fn name(&self) -> &str {
        if self.is_all { "compared_with_all" } else { "compared_with_any" }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let is_constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let [values, lists] = &arrays[..] else {
            return Err(external(Error::unsupported("a comparison takes a value and an array")));
        };
        let found = self.compare(values, lists)?;
        if is_constant {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&found, 0)?));
        }
        Ok(ColumnarValue::Array(Arc::new(found)))
    }
}

impl Quantified {
    fn is_true(&self, ordering: Ordering) -> bool {
        match self.operator {
            Operator::Eq => ordering.is_eq(),
            Operator::NotEq => ordering.is_ne(),
            Operator::Lt => ordering.is_lt(),
            Operator::LtEq => ordering.is_le(),
            Operator::Gt => ordering.is_gt(),
            _ => ordering.is_ge(),
        }
    }

    fn compare(&self, values: &ArrayRef, lists: &ArrayRef) -> Result<BooleanArray> {
        // The engine asks what conditions are for NULLs without a type.
        let Some(lists) = lists.as_list_opt::<i32>() else {
            return Ok(BooleanArray::new_null(values.len()));
        };
        let items = lists.values();
        let values = &cast(values, items.data_type())?;
        let known = |array| comparable(array).map_err(external);
        let (values, items) = (&known(values)?, &known(items)?);
        let compare = make_comparator(values, items, SortOptions::default())?;
        let offsets = lists.value_offsets();
        let rows = (0..values.len()).map(|row| {
            if lists.is_null(row) {
                return None;
            }
            let range = offsets[row] as usize..offsets[row + 1] as usize;
            if values.is_null(row) {
                // An empty array has no item that could make it unknown.
                return range.is_empty().then_some(self.is_all);
            }
            let mut has_null = false;
            for at in range {
                if items.is_null(at) {
                    has_null = true;
                } else if self.is_true(compare(row, at)) != self.is_all {
                    return Some(!self.is_all);
                }
            }
            (!has_null).then_some(self.is_all)
        });
        Ok(rows.collect())
    }
}
