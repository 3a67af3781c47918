//! Values that are computed once and copied for each row of a batch.
//!
//! Operators and functions make a column of a constant. An array of ten megabytes in a batch of 8,192 rows would be 80 GB
//! at once: no allocator has them, and a failed allocation ends the process.

use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use executor::Held;
use std::sync::{Arc, LazyLock};
use values::error::{Error, SqlState};
use values::translate::external;

/// Bytes, and elements of arrays, of the copies of a value at most. The engine counts them in 32 bits.
const COPIES_MAX: u64 = i32::MAX as u64;

static COPIED: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| {
    // A constant argument must not make it a constant.
    let signature = Signature::any(1, Volatility::Volatile);
    Arc::new(ScalarUDF::new_from_impl(Copied { signature }))
});

/// The same value, which is refused where there is no memory for its copies.
pub(super) fn copied(value: Expr) -> Expr {
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::clone(&COPIED), vec![value]))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Copied {
    signature: Signature,
}

impl ScalarUDFImpl for Copied {
    fn name(&self) -> &'static str {
        "copied"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        Ok(types[0].clone())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        Ok(Arc::clone(&args.arg_fields[0]))
    }

    fn invoke_with_args(&self, mut args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let value = args.args.swap_remove(0);
        if let ColumnarValue::Scalar(value) = &value {
            check_copies(value, args.number_rows).map_err(external)?;
        }
        Ok(value)
    }
}

/// Refuses copies for which there is no memory now.
fn check_copies(value: &ScalarValue, rows: usize) -> values::error::Result<()> {
    let [bytes, elements] = [value.size(), elements(value)].map(|count| count as u64);
    let copies = bytes.max(elements).saturating_mul(rows as u64);
    if rows > 1 && copies > COPIES_MAX {
        let message =
            format!("out of memory: a value of {bytes} bytes would be copied for {rows} rows");
        return Err(Error::new(SqlState::OutOfMemory, message)
            .with_hint("Compute large values from the result, not for each row."));
    }
    Held::nothing().grow_to(bytes.saturating_mul(rows as u64))
}

/// The elements of an array.
fn elements(value: &ScalarValue) -> usize {
    match value {
        ScalarValue::List(list) => list.values().len(),
        ScalarValue::LargeList(list) => list.values().len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_not_copied_for_many_rows() {
        let text = ScalarValue::Utf8(Some("x".repeat(1 << 20)));
        assert!(check_copies(&text, 1).is_ok());
        assert!(check_copies(&text, 1000).is_ok());
        let refused = check_copies(&text, 8192).expect_err("8 GB");
        assert_eq!(refused.state(), SqlState::OutOfMemory);
    }
}
