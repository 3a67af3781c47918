//! A function that is written over whole columns: the operators of PostgreSQL that the engine lacks.

use crate::values::error::Result;
use crate::values::translate::external;
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::hash::{Hash, Hasher};

/// What a function makes of its arguments, which have the types that [`Types`] gave them.
type Body = fn(&[ArrayRef]) -> Result<ArrayRef>;

/// The types that arguments are cast to, and the type of the result, for the types of the arguments.
pub(super) type Types = fn(&[DataType]) -> Result<(Vec<DataType>, DataType)>;

/// A function over columns. NULLs are its own business.
struct ColumnarFunction {
    name: &'static str,
    types: Types,
    body: Body,
    /// Columns are called as its argument is, without it.
    is_silent: bool,
    signature: Signature,
}

/// A function that gives the same for the same arguments.
pub(super) fn function(name: &'static str, types: Types, body: Body) -> ScalarUDF {
    let signature = Signature::user_defined(Volatility::Immutable);
    ScalarUDF::new_from_impl(ColumnarFunction { name, types, body, is_silent: false, signature })
}

/// A function of one argument that names of columns do not mention.
pub(super) fn silent(name: &'static str, types: Types, body: Body) -> ScalarUDF {
    let signature = Signature::user_defined(Volatility::Immutable);
    ScalarUDF::new_from_impl(ColumnarFunction { name, types, body, is_silent: true, signature })
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
        Ok(match self.is_silent {
            true => args.join(","),
            false => format!("{}({})", self.name, args.join(",")),
        })
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> datafusion::common::Result<Vec<DataType>> {
        (self.types)(types).map(|(arguments, _)| arguments).map_err(external)
    }

    fn return_type(&self, types: &[DataType]) -> datafusion::common::Result<DataType> {
        (self.types)(types).map(|(_, returns)| returns).map_err(external)
    }

    fn invoke_with_args(
        &self,
        args: ScalarFunctionArgs,
    ) -> datafusion::common::Result<ColumnarValue> {
        let constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let result = (self.body)(&arrays).map_err(external)?;
        match constant {
            true => Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?)),
            false => Ok(ColumnarValue::Array(result)),
        }
    }
}
