//! Casts as functions. `planner::casts` replaces the engine's casts by them.

use columnar::{Types, hidden};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, ListArray, StringViewBuilder};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{ScalarValue, exec_err};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use std::sync::Arc;
use store::catalog::SqlType;
use values::assign::{Excess, fit, input};
use values::error::{Error, Result};
use values::style::{FloatDigits, Style};
use values::text::TextColumn;
use values::translate::external;
use values::types;

#[derive(Debug, PartialEq, Eq, Hash)]
struct Conversion {
    to: SqlType,
    /// The Arrow type of the result.
    held: DataType,
    /// The output style of casts to text.
    style: Style,
    signature: Signature,
}

/// The name of the function that returns its argument without the declared length, precision and scale of its type.
pub const UNDECLARED: &str = "undeclared";

/// The function [`UNDECLARED`].
pub(super) fn undeclared() -> ScalarUDF {
    let types: Types = |types| match types {
        [of] => Ok((vec![of.clone()], of.clone())),
        _ => Err(Error::unsupported("undeclared takes one argument")),
    };
    hidden(UNDECLARED, types, |args| Ok(Arc::clone(&args[0])))
}

/// The cast to a type. `held` is the Arrow type of the result; casts to text use the style.
pub fn to(sql_type: &SqlType, held: &DataType, style: Style) -> ScalarUDF {
    let signature = Signature::any(1, Volatility::Immutable);
    let (to, held) = (sql_type.clone(), held.clone());
    ScalarUDF::new_from_impl(Conversion { to, held, style, signature })
}

/// The type and the style of a cast, from which [`to`] makes it again; `None` for other functions.
pub fn of_function(function: &ScalarUDF) -> Option<(&SqlType, Style)> {
    let cast = function.inner().downcast_ref::<Conversion>()?;
    (cast.held == cast.to.arrow()).then_some((&cast.to, cast.style))
}

/// Casts values to a type; texts are read and written in a style. A text that is too long is truncated, as in every
/// explicit cast.
///
/// # Errors
/// 42846: there is no cast. 22003, 22007, 22P02: a value is not of the type.
pub fn convert(array: &ArrayRef, to: &SqlType, style: Style) -> Result<ArrayRef> {
    if let (Some(lists), SqlType::Array(item)) = (array.as_list_opt::<i32>(), to) {
        let items = convert(lists.values(), item, style)?;
        let field = Arc::new(Field::new_list_field(items.data_type().clone(), true));
        let nulls = lists.nulls().cloned();
        return Ok(Arc::new(ListArray::try_new(field, lists.offsets().clone(), items, nulls)?));
    }
    let array = match to {
        SqlType::Text | SqlType::Varchar(_) => texts(array, style)?,
        SqlType::Char(_) => input(&texts(array, style)?, to, style)?,
        SqlType::Numeric { .. } if array.data_type().is_floating() => {
            // A numeric has the digits that every number of the type keeps.
            let digits = Style { float: FloatDigits::Extra(0), ..style };
            input(&texts(array, digits)?, to, style)?
        }
        _ => input(array, to, style)?,
    };
    fit(array, to, Excess::Cut)
}

/// The text format of values.
fn texts(array: &ArrayRef, style: Style) -> Result<ArrayRef> {
    match array.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => {
            return Ok(cast(array, &DataType::Utf8View)?);
        }
        // A cast gives `true`; the text format is `t`.
        DataType::Boolean => return Ok(cast(array, &DataType::Utf8View)?),
        _ => {}
    }
    let column = TextColumn::styled(array, style)?;
    let mut builder = StringViewBuilder::with_capacity(array.len());
    let mut text = String::new();
    for row in 0..array.len() {
        text.clear();
        if column.write(row, &mut text) {
            builder.append_value(&text)
        } else {
            builder.append_null()
        }
    }
    Ok(Arc::new(builder.finish()))
}

impl ScalarUDFImpl for Conversion {
    fn name(&self) -> &str {
        "cast"
    }

    fn display_name(&self, args: &[Expr]) -> datafusion::common::Result<String> {
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        Ok(format!("CAST({} AS {})", args.join(", "), self.to))
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> datafusion::common::Result<DataType> {
        Ok(self.held.clone())
    }

    fn return_field_from_args(
        &self,
        _: ReturnFieldArgs<'_>,
    ) -> datafusion::common::Result<FieldRef> {
        let field = types::plan_field(self.name(), &self.to, true);
        Ok(Arc::new(field.with_data_type(self.held.clone())))
    }

    fn invoke_with_args(
        &self,
        args: ScalarFunctionArgs,
    ) -> datafusion::common::Result<ColumnarValue> {
        let constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let [array] = &arrays[..] else { return exec_err!("a cast takes one argument") };
        let result = convert(array, &self.to, self.style).map_err(external)?;
        let result =
            if *result.data_type() == self.held { result } else { cast(&result, &self.held)? };
        if constant {
            Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?))
        } else {
            Ok(ColumnarValue::Array(result))
        }
    }
}
