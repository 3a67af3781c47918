//! How functions are given to the engine.
//!
//! - Most functions compute whole columns at a time ([`function`]); those of [`zoned`] depend on the time zone.
//! - [`row_function`]: functions that compute one row at a time.
//! - [`chance`]: random numbers of a session.
//! - [`text_function`]: functions that return text and receive the engine's arguments unchanged.
//! - [`overload`]: functions of the engine with more argument types, or with other results for some.

pub mod chance;
pub mod overload;
pub mod row_function;
pub mod text_function;
pub mod zoned;

use datafusion::arrow::array::{Array, ArrayRef, new_null_array};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::hash::{Hash, Hasher};
use values::error::Result;
use values::translate::{external, type_name, undefined_function};

/// The implementation of a function: its arguments, of the types that [`Types`] returned, to its result.
type Body = fn(&[ArrayRef]) -> Result<ArrayRef>;

/// For the types of the arguments: the types that they are cast to, and the result type.
pub type Types = fn(&[DataType]) -> Result<(Vec<DataType>, DataType)>;

/// A function over columns. Its body handles NULL.
struct ColumnarFunction {
    name: &'static str,
    types: Types,
    body: Body,
    /// Whether column names omit the function and have only its argument.
    is_hidden: bool,
    /// Whether only arguments are taken that PostgreSQL casts implicitly.
    is_checked: bool,
    signature: Signature,
}

/// Defines an immutable function.
pub fn function(name: &'static str, types: Types, body: Body) -> ScalarUDF {
    defined(name, types, body, false, false)
}

/// Defines an immutable function that takes only arguments which PostgreSQL casts implicitly.
pub fn checked(name: &'static str, types: Types, body: Body) -> ScalarUDF {
    defined(name, types, body, false, true)
}

/// Defines an immutable function of one argument that does not appear in column names.
pub fn hidden(name: &'static str, types: Types, body: Body) -> ScalarUDF {
    defined(name, types, body, true, false)
}

fn defined(
    name: &'static str,
    types: Types,
    body: Body,
    is_hidden: bool,
    is_checked: bool,
) -> ScalarUDF {
    let signature = Signature::user_defined(Volatility::Immutable);
    let function = ColumnarFunction { name, types, body, is_hidden, is_checked, signature };
    ScalarUDF::new_from_impl(function)
}

impl std::fmt::Debug for ColumnarFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for ColumnarFunction {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for ColumnarFunction {}

impl Hash for ColumnarFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for ColumnarFunction {
    fn name(&self) -> &str {
        self.name
    }

    fn schema_name(&self, args: &[Expr]) -> datafusion::common::Result<String> {
        let args: Vec<String> = args.iter().map(|arg| arg.schema_name().to_string()).collect();
        Ok(if self.is_hidden {
            args.join(",")
        } else {
            format!("{}({})", self.name, args.join(","))
        })
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> datafusion::common::Result<Vec<DataType>> {
        let (arguments, _) = (self.types)(types).map_err(external)?;
        let fits = types.len() == arguments.len()
            && types.iter().zip(&arguments).all(|(given, wanted)| is_implicit(given, wanted));
        if self.is_checked && !fits {
            let types: Vec<String> = types.iter().map(type_name).collect();
            return Err(external(undefined_function(self.name, &types)));
        }
        Ok(arguments)
    }

    fn return_type(&self, types: &[DataType]) -> datafusion::common::Result<DataType> {
        (self.types)(types).map(|(_, returns)| returns).map_err(external)
    }

    fn invoke_with_args(
        &self,
        args: ScalarFunctionArgs,
    ) -> datafusion::common::Result<ColumnarValue> {
        let constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let mut arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let is_unknown = |array: &ArrayRef| array.logical_null_count() == array.len();
        if arrays.iter().any(is_unknown) {
            // The optimizer replaces a column of NULLs by NULLs of no type, or of another.
            let given: Vec<_> = arrays.iter().map(|array| array.data_type().clone()).collect();
            let (wanted, _) = (self.types)(&given).map_err(external)?;
            for (array, wanted) in arrays.iter_mut().zip(wanted) {
                if is_unknown(array) && *array.data_type() != wanted {
                    *array = new_null_array(&wanted, array.len());
                }
            }
        }
        let result = (self.body)(&arrays).map_err(external)?;
        if constant {
            Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?))
        } else {
            Ok(ColumnarValue::Array(result))
        }
    }
}

/// Whether PostgreSQL casts arguments of a type to another without being asked. A constant in quotes is of any type.
fn is_implicit(given: &DataType, wanted: &DataType) -> bool {
    let of_kind = |kind: fn(&DataType) -> bool| kind(given) && kind(wanted);
    let is_bytes = |of: &DataType| matches!(of, DataType::Binary | DataType::BinaryView);
    let is_moment = |of: &DataType| matches!(of, DataType::Timestamp(..) | DataType::Date32);
    let is_exact = wanted.is_integer() && given.is_integer();
    let is_wider = wanted.is_numeric() && !wanted.is_integer() && given.is_numeric();
    given == wanted
        || matches!(given, DataType::Utf8 | DataType::Null)
        || of_kind(DataType::is_string)
        || is_bytes(given) && is_bytes(wanted)
        || is_moment(given) && is_moment(wanted)
        || of_kind(DataType::is_nested)
        || is_exact
        || is_wider
}
