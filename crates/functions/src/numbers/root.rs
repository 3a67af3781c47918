//! The square root of a numeric, with as many digits behind the point as it has.

use crate::columnar::{Types, function};
use datafusion::arrow::array::{ArrayRef, AsArray, Decimal128Array};
use datafusion::arrow::datatypes::{DataType, Decimal128Type, i256};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

/// The function.
pub(crate) fn function_of_numerics() -> ScalarUDF {
    let types: Types = |types| match types {
        [of @ DataType::Decimal128(..)] => Ok((vec![of.clone()], of.clone())),
        _ => Err(Error::unsupported("the root of this type is not supported")),
    };
    function("numeric_root", types, roots)
}

fn roots(args: &[ArrayRef]) -> Result<ArrayRef> {
    let values = args[0].as_primitive::<Decimal128Type>();
    let unit = i256::from_i128(10).checked_pow(u32::from(values.scale().max(0).unsigned_abs()));
    let roots = values.iter().map(|value| {
        let Some(value) = value else { return Ok(None) };
        let shifted = unit.and_then(|unit| i256::from_i128(value).checked_mul(unit));
        let root = shifted.and_then(rounded_root);
        let out_of_range =
            || Error::new(SqlState::NumericValueOutOfRange, "numeric field overflow");
        root.map(Some).ok_or_else(out_of_range)
    });
    let roots = roots.collect::<Result<Decimal128Array>>()?;
    Ok(Arc::new(roots.with_data_type(args[0].data_type().clone())))
}

/// The whole number nearest to the root of a number, by Newton's method from above. `None` for negative numbers.
fn rounded_root(number: i256) -> Option<i128> {
    if number < i256::ZERO {
        return None;
    }
    if number == i256::ZERO {
        return Some(0);
    }
    // More than the root, and not much more: a power of two.
    let bits = 256 - number.leading_zeros();
    let mut root = i256::from_i128(2).checked_pow(bits.div_ceil(2))?;
    loop {
        let sum = root.checked_add(number.checked_div(root)?)?;
        let next = sum.checked_div(i256::from_i128(2))?;
        if next >= root {
            break;
        }
        root = next;
    }
    let rest = number.checked_sub(root.checked_mul(root)?)?;
    let root = if rest > root { root.checked_add(i256::ONE)? } else { root };
    root.to_i128()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_rounded_to_the_nearest() {
        let root = |number: i128| rounded_root(i256::from_i128(number));
        assert_eq!(root(0), Some(0));
        assert_eq!(root(1), Some(1));
        assert_eq!(root(6), Some(2));
        assert_eq!(root(7), Some(3));
        assert_eq!(root(1_000_000), Some(1000));
        assert_eq!(root(-1), None);
        // The root of 2 with 16 digits behind the point.
        assert_eq!(root(2 * 10_i128.pow(32)), Some(14_142_135_623_730_950));
    }
}
