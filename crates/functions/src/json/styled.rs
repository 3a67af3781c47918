//! The session's `intervalstyle`, `bytea_output` and `timezone` in values that are converted to JSON.
//!
//! Functions do not know the session. What depends on its style is written as text first, also within arrays and rows.

use super::build::ROW;
use super::gather::{ITEM, MEMBER, ROW_ITEM, SETS};
use crate::casts::output;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, ListArray, StructArray, new_empty_array};
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result as EngineResult, ScalarValue, exec_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use std::sync::Arc;
use store::catalog::SqlType;
use values::error::Result;
use values::style::{DateFormat, Style};
use values::translate::external;
use values::types::{of_expression, of_field};

/// The functions that convert any value to JSON.
const WRITERS: [&str; 14] = [
    "to_json",
    "to_jsonb",
    "array_to_json",
    "row_to_json",
    "json_build_array",
    "jsonb_build_array",
    "json_build_object",
    "jsonb_build_object",
    ROW,
    ITEM,
    ROW_ITEM,
    MEMBER,
    SETS[0],
    SETS[1],
];

/// Whether a function converts any value to JSON.
pub(super) fn writes(call: &ScalarFunction) -> bool {
    WRITERS.contains(&call.name())
}

/// The call with its arguments in the style.
pub(super) fn of_call(
    mut call: ScalarFunction,
    schema: &DFSchema,
    style: Style,
) -> EngineResult<Transformed<Expr>> {
    // JSON has dates in ISO format.
    let style = Style { date_format: DateFormat::Iso, ..style };
    if style == Style::default() {
        return Ok(Transformed::no(Expr::ScalarFunction(call)));
    }
    let changed = style_all(&mut call.args, schema, style)?;
    Ok(Transformed::new_transformed(Expr::ScalarFunction(call), changed))
}

/// Converts values in the style, also those of rows; returns whether there was any.
fn style_all(values: &mut [Expr], schema: &DFSchema, style: Style) -> EngineResult<bool> {
    let mut changed = false;
    for arg in values {
        let of = of_expression(arg, schema);
        // The fields of a composite type keep their types; those of other rows become texts one by one.
        if let Expr::ScalarFunction(row) = arg
            && row.name() == "record"
            && !matches!(of, Some(SqlType::User(_)))
        {
            changed |= style_all(&mut row.args, schema, style)?;
            continue;
        }
        let Some(of) = of else { continue };
        let Ok(data_type) = arg.get_type(schema) else { continue };
        if styled(&of, &new_empty_array(&data_type), style).map_err(external)?.is_some() {
            let signature = Signature::any(1, Volatility::Immutable);
            let function = ScalarUDF::new_from_impl(Styled { of, style, signature });
            *arg = function.call(vec![std::mem::take(arg)]);
            changed = true;
        }
    }
    Ok(changed)
}

/// The function that replaces those parts of a value by texts which depend on the style.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Styled {
    of: SqlType,
    style: Style,
    signature: Signature,
}

impl Styled {
    fn of_values(&self, values: ArrayRef) -> EngineResult<ArrayRef> {
        Ok(styled(&self.of, &values, self.style).map_err(external)?.unwrap_or(values))
    }
}

impl ScalarUDFImpl for Styled {
    fn name(&self) -> &str {
        "json_styled"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> EngineResult<DataType> {
        let [data_type] = types else { return exec_err!("json_styled takes one argument") };
        Ok(self.of_values(new_empty_array(data_type))?.data_type().clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> EngineResult<ColumnarValue> {
        match args.args.as_slice() {
            [ColumnarValue::Scalar(value)] => {
                let values = self.of_values(value.to_array()?)?;
                Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&values, 0)?))
            }
            [ColumnarValue::Array(values)] => {
                Ok(ColumnarValue::Array(self.of_values(Arc::clone(values))?))
            }
            _ => exec_err!("json_styled takes one argument"),
        }
    }
}

/// Values with texts for what depends on the style; `None` if nothing does.
fn styled(of: &SqlType, values: &ArrayRef, style: Style) -> Result<Option<ArrayRef>> {
    let plain = Style::default();
    match (of.representation().imprecise(), values.data_type()) {
        (SqlType::Array(item), DataType::List(_)) => list(item, values.as_list(), style),
        (_, DataType::Struct(_)) => row(values.as_struct(), style),
        (SqlType::TimestampTz, DataType::Timestamp(..)) if !style.zone.is_utc() => {
            output::moments(values, style).map(Some)
        }
        (SqlType::Interval, DataType::Interval(_)) if style.interval != plain.interval => {
            output::texts(values, style).map(Some)
        }
        (SqlType::Bytea, DataType::Binary | DataType::BinaryView) if style.bytes != plain.bytes => {
            output::texts(values, style).map(Some)
        }
        _ => Ok(None),
    }
}

fn list(item: &SqlType, lists: &ListArray, style: Style) -> Result<Option<ArrayRef>> {
    let Some(items) = styled(item, lists.values(), style)? else { return Ok(None) };
    let field = Arc::new(Field::new_list_field(items.data_type().clone(), true));
    let (offsets, nulls) = (lists.offsets().clone(), lists.nulls().cloned());
    Ok(Some(Arc::new(ListArray::try_new(field, offsets, items, nulls)?)))
}

fn row(rows: &StructArray, style: Style) -> Result<Option<ArrayRef>> {
    let (mut fields, mut columns, mut changed) = (Vec::new(), Vec::new(), false);
    for (field, values) in rows.fields().iter().zip(rows.columns()) {
        let replaced = styled(&of_field(field), values, style)?;
        changed |= replaced.is_some();
        fields.push(match &replaced {
            Some(texts) => Arc::new(Field::new(field.name(), texts.data_type().clone(), true)),
            None => Arc::clone(field),
        });
        columns.push(replaced.unwrap_or_else(|| Arc::clone(values)));
    }
    let rows = StructArray::try_new(fields.into(), columns, rows.nulls().cloned())?;
    Ok(changed.then(|| Arc::new(rows) as ArrayRef))
}
