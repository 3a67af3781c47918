//! Functions that depend on the time zone of the session. The zone is a part of the function, as in a plan it is fixed.

use crate::Types;
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::hash::{Hash, Hasher};
use values::translate::external;
use values::zone::Zone;

/// The implementation: its arguments, of the types that [`Types`] returned, to its result.
type Body = fn(&[ArrayRef], Zone) -> values::error::Result<ArrayRef>;

struct Zoned {
    name: &'static str,
    zone: Zone,
    types: Types,
    body: Body,
    signature: Signature,
}

/// Defines an immutable function in a zone. Its body handles NULL.
pub fn zoned(name: &'static str, zone: Zone, types: Types, body: Body) -> ScalarUDF {
    let signature = Signature::user_defined(Volatility::Immutable);
    ScalarUDF::new_from_impl(Zoned { name, zone, types, body, signature })
}

/// The name and the zone of a function of this module; `None` for others.
pub fn of_function(function: &ScalarUDF) -> Option<(&'static str, Zone)> {
    function.inner().downcast_ref::<Zoned>().map(|zoned| (zoned.name, zoned.zone))
}

impl std::fmt::Debug for Zoned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Zoned {
    fn eq(&self, other: &Self) -> bool {
        (self.name, self.zone) == (other.name, other.zone)
    }
}

impl Eq for Zoned {}

impl Hash for Zoned {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.name, self.zone).hash(state);
    }
}

impl ScalarUDFImpl for Zoned {
    fn name(&self) -> &str {
        self.name
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        let args: Vec<String> = args.iter().map(|arg| arg.schema_name().to_string()).collect();
        Ok(format!("{}({}, {})", self.name, args.join(","), self.zone))
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        (self.types)(types).map(|(arguments, _)| arguments).map_err(external)
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        (self.types)(types).map(|(_, returns)| returns).map_err(external)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let is_constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let result = (self.body)(&arrays, self.zone).map_err(external)?;
        if is_constant {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?));
        }
        Ok(ColumnarValue::Array(result))
    }
}
