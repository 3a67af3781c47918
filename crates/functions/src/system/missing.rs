//! Stand-in for functions that do not exist. It reports the error when the types of the arguments
//! are known: `function f(integer) does not exist`.

use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    TypeSignature, Volatility,
};
use values::translate::{external, type_name, undefined_function};

/// The stand-in for a function of a name.
pub fn function(name: &str) -> ScalarUDF {
    let kinds = vec![TypeSignature::Nullary, TypeSignature::VariadicAny];
    let signature = Signature::one_of(kinds, Volatility::Volatile);
    ScalarUDF::new_from_impl(Missing { name: name.to_owned(), signature })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Missing {
    name: String,
    signature: Signature,
}

impl ScalarUDFImpl for Missing {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        let types: Vec<String> = types.iter().map(type_name).collect();
        Err(external(undefined_function(&self.name, &types)))
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let of_argument = |(field, value): (&FieldRef, &Option<&ScalarValue>)| match value {
            Some(ScalarValue::Int64(Some(value))) if i32::try_from(*value).is_ok() => {
                "integer".to_owned()
            }
            _ => type_name(field.data_type()),
        };
        let arguments = args.arg_fields.iter().zip(args.scalar_arguments);
        let types: Vec<String> = arguments.map(of_argument).collect();
        Err(external(undefined_function(&self.name, &types)))
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        internal_err!("function {} does not exist", self.name)
    }
}
