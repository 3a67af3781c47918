//! `||` of texts, with limits: the engine's own fails in the middle of a column that is too long.

use crate::limits;
use columnar::Types;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, StringViewBuilder};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{
    BinaryExpr, ColumnarValue, Expr, ExprSchemable, Operator, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature, Volatility,
};
use std::sync::{Arc, LazyLock};
use values::error::Error;

/// The types of the function: texts.
const TYPES: Types = |types| Ok((vec![DataType::Utf8View; types.len()], DataType::Utf8View));

/// The function that concatenates two texts.
pub(crate) fn function() -> Arc<ScalarUDF> {
    static FUNCTION: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| {
        let signature = Signature::user_defined(Volatility::Immutable);
        let function = ScalarUDF::new_from_impl(Concatenation { signature });
        Arc::new(limits::growing::limited(Arc::new(function), |args, row| {
            args[0].bytes(row).saturating_add(args[1].bytes(row))
        }))
    });
    Arc::clone(&FUNCTION)
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Concatenation {
    signature: Signature,
}

impl ScalarUDFImpl for Concatenation {
    fn name(&self) -> &str {
        "text_concat"
    }

    fn display_name(&self, args: &[Expr]) -> Result<String> {
        Ok(shown(args.iter().map(|arg| arg.to_string())))
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        Ok(shown(args.iter().map(|arg| arg.schema_name().to_string())))
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        Ok(TYPES(types).map_err(values::translate::external)?.0)
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8View)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let is_constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let rows = if is_constant { 1 } else { args.number_rows };
        let [left, right] = &args.args[..] else {
            return Err(values::translate::external(Error::unsupported("|| takes two texts")));
        };
        let joined = joined(&Side::new(left)?, &Side::new(right)?, rows);
        Ok(if is_constant {
            ColumnarValue::Scalar(datafusion::common::ScalarValue::try_from_array(&joined, 0)?)
        } else {
            ColumnarValue::Array(joined)
        })
    }
}

fn shown(arguments: impl Iterator<Item = String>) -> String {
    arguments.collect::<Vec<_>>().join(" || ")
}

/// A side: a column, or a value for all rows.
struct Side {
    texts: ArrayRef,
    is_constant: bool,
}

impl Side {
    fn new(value: &ColumnarValue) -> Result<Self> {
        let is_constant = matches!(value, ColumnarValue::Scalar(_));
        Ok(Self { texts: cast(&value.to_array(1)?, &DataType::Utf8View)?, is_constant })
    }

    fn at(&self, row: usize) -> Option<&str> {
        let row = if self.is_constant { 0 } else { row };
        self.texts.is_valid(row).then(|| self.texts.as_string_view().value(row))
    }
}

fn joined(left: &Side, right: &Side, rows: usize) -> ArrayRef {
    let (mut texts, mut text) = (StringViewBuilder::with_capacity(rows), String::new());
    for row in 0..rows {
        let both = left.at(row).zip(right.at(row));
        texts.append_option(both.map(|(left, right)| {
            text.clear();
            text.push_str(left);
            text.push_str(right);
            text.as_str()
        }));
    }
    Arc::new(texts.finish())
}

/// Replaces the engine's `||` of texts.
#[derive(Debug)]
pub(crate) struct Concatenations;

impl FunctionRewrite for Concatenations {
    fn name(&self) -> &str {
        "limited_concatenation"
    }

    fn rewrite(
        &self,
        expr: Expr,
        schema: &DFSchema,
        _: &ConfigOptions,
    ) -> Result<Transformed<Expr>> {
        let is_text = |expr: &Expr| expr.get_type(schema).is_ok_and(|known| known.is_string());
        match expr {
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::StringConcat, right })
                if is_text(&left) && is_text(&right) =>
            {
                let arguments = vec![*left, *right];
                let call = ScalarFunction::new_udf(function(), arguments);
                Ok(Transformed::yes(Expr::ScalarFunction(call)))
            }
            other => Ok(Transformed::no(other)),
        }
    }
}
