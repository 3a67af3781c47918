//! Definitions as functions of the engine.

use crate::definition::Definition;
use crate::known::remember;
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use store::catalog::Volatility as Held;
use values::translate::external;

/// A function in another language. Two are equal if their ids and versions are.
#[derive(Debug)]
pub struct ForeignFunction {
    definition: Arc<Definition>,
    signature: Signature,
}

/// The function of the engine for a definition.
pub fn function(definition: &Arc<Definition>) -> ScalarUDF {
    remember(definition);
    let volatility = match definition.signature.volatility {
        Held::Immutable => Volatility::Immutable,
        Held::Stable => Volatility::Stable,
        Held::Volatile => Volatility::Volatile,
    };
    let signature = match definition.signature.parameters.len() {
        0 => Signature::nullary(volatility),
        count => Signature::any(count, volatility),
    };
    let definition = Arc::clone(definition);
    ScalarUDF::new_from_impl(ForeignFunction { definition, signature })
}

/// The definition that a function of the engine calls. `None` for other functions.
pub fn of_function(function: &ScalarUDF) -> Option<&Arc<Definition>> {
    let function = function.inner().downcast_ref::<ForeignFunction>();
    function.map(|function| &function.definition)
}

impl PartialEq for ForeignFunction {
    fn eq(&self, other: &Self) -> bool {
        let (this, other) = (&self.definition, &other.definition);
        this.id == other.id && this.version() == other.version()
    }
}

impl Eq for ForeignFunction {}

impl Hash for ForeignFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.definition.version().hash(state);
    }
}

impl ScalarUDFImpl for ForeignFunction {
    fn name(&self) -> &str {
        &self.definition.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.definition.signature.returns.data_type())
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(Arc::new(self.definition.signature.returns.field(self.name())))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let is_constant = self.signature.volatility != Volatility::Volatile
            && args.args.iter().all(|value| matches!(value, ColumnarValue::Scalar(_)));
        let rows = if is_constant { 1 } else { args.number_rows };
        let arguments = args.args.iter().map(|value| value.to_array(rows));
        let arguments = arguments.collect::<Result<Vec<_>>>()?;
        let values = self.definition.call(&arguments, rows).map_err(external)?;
        if values.len() != rows
            || *values.data_type() != self.definition.signature.returns.data_type()
        {
            return internal_err!("function {} returned another column", self.name());
        }
        Ok(match is_constant {
            true => ColumnarValue::Scalar(ScalarValue::try_from_array(&values, 0)?),
            false => ColumnarValue::Array(values),
        })
    }
}
