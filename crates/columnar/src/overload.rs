//! Functions of the engine with more argument types, or with other results for some.

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::type_coercion::functions::fields_with_udf;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use std::sync::Arc;
use values::translate::external;

/// The types that arguments are cast to, and the result type.
pub type Accepted = (Vec<DataType>, DataType);

/// What is computed here and not by the engine.
pub struct Overload {
    /// For argument types that belong to it: the types that they are cast to, and the result type. It must
    /// accept the former, too.
    pub types: fn(&[DataType]) -> Option<Accepted>,
    /// The body, which handles NULL.
    pub body: fn(&[ArrayRef]) -> values::error::Result<ArrayRef>,
}

/// The engine's function with overloads; the first that accepts the types is called.
pub fn overloaded(engine: Arc<ScalarUDF>, overloads: &'static [Overload]) -> ScalarUDF {
    let signature = Signature::user_defined(Volatility::Immutable);
    ScalarUDF::new_from_impl(Overloaded { engine, overloads, signature })
}

struct Overloaded {
    engine: Arc<ScalarUDF>,
    overloads: &'static [Overload],
    signature: Signature,
}

impl std::fmt::Debug for Overloaded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.engine.name())
    }
}

impl PartialEq for Overloaded {
    fn eq(&self, other: &Self) -> bool {
        self.engine == other.engine
    }
}

impl Eq for Overloaded {}

impl std::hash::Hash for Overloaded {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.engine.hash(state);
    }
}

impl Overloaded {
    fn find(&self, types: &[DataType]) -> Option<(&Overload, Vec<DataType>, DataType)> {
        self.overloads.iter().find_map(|overload| {
            (overload.types)(types).map(|(arguments, returns)| (overload, arguments, returns))
        })
    }
}

impl ScalarUDFImpl for Overloaded {
    fn name(&self) -> &str {
        self.engine.name()
    }

    fn aliases(&self) -> &[String] {
        self.engine.aliases()
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        self.engine.schema_name(args)
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        if let Some((_, arguments, _)) = self.find(types) {
            return Ok(arguments);
        }
        let field = |of: &DataType| Arc::new(Field::new("", of.clone(), true));
        let fields: Vec<FieldRef> = types.iter().map(field).collect();
        let fields = fields_with_udf(&fields, self.engine.as_ref())?;
        Ok(fields.iter().map(|field| field.data_type().clone()).collect())
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match self.find(types) {
            Some((_, _, returns)) => Ok(returns),
            None => self.engine.return_type(types),
        }
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let types: Vec<DataType> =
            args.arg_fields.iter().map(|field| field.data_type().clone()).collect();
        match self.find(&types) {
            Some((_, _, returns)) => Ok(Arc::new(Field::new(self.name(), returns, true))),
            None => self.engine.return_field_from_args(args),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let types: Vec<DataType> =
            args.arg_fields.iter().map(|field| field.data_type().clone()).collect();
        let Some((overload, ..)) = self.find(&types) else {
            return self.engine.invoke_with_args(args);
        };
        let constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let result = (overload.body)(&arrays).map_err(external)?;
        if constant {
            Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?))
        } else {
            Ok(ColumnarValue::Array(result))
        }
    }
}
