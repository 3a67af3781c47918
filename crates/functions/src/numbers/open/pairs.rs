//! Operators and functions of two numbers.

use columnar::{Types, function};
use datafusion::arrow::array::ArrayRef;
use datafusion::logical_expr::ScalarUDF;
use executor::check;
use numerics::{Error, Numeric};
use values::error::Result;
use values::numbers::{Numbers, OPEN, of_rows};

const TYPES: Types = |types| Ok((types.to_vec(), OPEN));

/// The functions of this file.
pub(super) fn all() -> Vec<ScalarUDF> {
    vec![
        function("numeric_add", TYPES, |args| pairs(args, Numeric::add)),
        function("numeric_sub", TYPES, |args| pairs(args, Numeric::sub)),
        function("numeric_mul", TYPES, |args| pairs(args, Numeric::mul)),
        function("numeric_div", TYPES, |args| pairs(args, Numeric::div)),
        function("numeric_mod", TYPES, |args| pairs(args, Numeric::rem)),
        function("numeric_div_trunc", TYPES, |args| pairs(args, Numeric::div_trunc)),
        function("numeric_power", TYPES, |args| pairs(args, Numeric::power)),
        function("numeric_log", TYPES, |args| pairs(args, |base, of| of.log(base))),
        function("numeric_gcd", TYPES, |args| pairs(args, Numeric::gcd)),
        function("numeric_lcm", TYPES, |args| pairs(args, Numeric::lcm)),
    ]
}

type Operation = fn(&Numeric, &Numeric) -> std::result::Result<Numeric, Error>;

fn pairs(args: &[ArrayRef], operation: Operation) -> Result<ArrayRef> {
    let (left, right) = (Numbers::new(&args[0])?, Numbers::new(&args[1])?);
    of_rows(args, |row| {
        check()?;
        Ok(Some(operation(&left.number(row)?, &right.number(row)?)?))
    })
}
