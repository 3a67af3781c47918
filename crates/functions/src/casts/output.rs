//! Values as their output is: what clients get, and what `concat` and `format` write.
//!
//! It is not a cast to text: the output of `true` is `t`.

use columnar::Types;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, ListArray, StringViewBuilder};
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;
use values::error::{Error, Result};
use values::style::Style;
use values::text::TextColumn;
use values::translate::external;

/// The output of a value in a style.
pub fn of_value(style: Style) -> ScalarUDF {
    made("output", style, false)
}

/// The outputs of the items of an array, as an array.
pub fn items(style: Style) -> ScalarUDF {
    made("output_items", style, true)
}

fn made(name: &'static str, style: Style, of_items: bool) -> ScalarUDF {
    let signature = Signature::any(1, Volatility::Immutable);
    ScalarUDF::new_from_impl(Output { name, style, of_items, signature })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Output {
    name: &'static str,
    style: Style,
    of_items: bool,
    signature: Signature,
}

const TYPES: Types = |types| match types {
    [list @ DataType::List(_)] => Ok((vec![list.clone()], texts_type())),
    _ => Err(Error::unsupported("the items of this value are not supported")),
};

fn texts_type() -> DataType {
    DataType::List(Arc::new(Field::new_list_field(DataType::Utf8View, true)))
}

impl ScalarUDFImpl for Output {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> datafusion::common::Result<DataType> {
        match self.of_items {
            true => Ok(TYPES(types).map_err(external)?.1),
            false => Ok(DataType::Utf8View),
        }
    }

    fn invoke_with_args(
        &self,
        args: ScalarFunctionArgs,
    ) -> datafusion::common::Result<ColumnarValue> {
        let is_constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let written = match arrays.first() {
            Some(values) if self.of_items => of_items(values, self.style),
            Some(values) => texts(values, self.style),
            None => Err(Error::unsupported("the output of nothing is not supported")),
        };
        let written = written.map_err(external)?;
        if is_constant {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&written, 0)?));
        }
        Ok(ColumnarValue::Array(written))
    }
}

fn of_items(lists: &ArrayRef, style: Style) -> Result<ArrayRef> {
    let lists = lists.as_list::<i32>();
    let items = texts(lists.values(), style)?;
    let field = Arc::new(Field::new_list_field(DataType::Utf8View, true));
    let nulls = lists.nulls().cloned();
    Ok(Arc::new(ListArray::try_new(field, lists.offsets().clone(), items, nulls)?))
}

/// The outputs of values.
pub(crate) fn texts(values: &ArrayRef, style: Style) -> Result<ArrayRef> {
    written(values, style, |_| ())
}

/// Timestamps with time zone as JSON has them, of a style with dates in ISO format: `2024-02-29T10:00:00+02:00`.
pub(crate) fn moments(values: &ArrayRef, style: Style) -> Result<ArrayRef> {
    written(values, style, as_json)
}

/// The outputs of values, which a function changes.
fn written(values: &ArrayRef, style: Style, change: fn(&mut String)) -> Result<ArrayRef> {
    let column = TextColumn::styled(values, style)?;
    let mut texts = StringViewBuilder::with_capacity(values.len());
    let mut text = String::new();
    for row in 0..values.len() {
        text.clear();
        if column.write(row, &mut text) {
            change(&mut text);
            texts.append_value(&text);
        } else {
            texts.append_null();
        }
    }
    Ok(Arc::new(texts.finish()))
}

/// Makes ISO 8601 of the output of a timestamp: a `T` before the time, and minutes in the offset.
fn as_json(text: &mut String) {
    if let Some(blank) = text.find(' ') {
        text.replace_range(blank..=blank, "T");
    }
    let end = text.find(' ').unwrap_or(text.len());
    let has_hours_alone = text[..end].rfind(['+', '-']).is_some_and(|sign| end - sign == 3);
    if has_hours_alone {
        text.insert_str(end, ":00");
    }
}
