//! Long chains of arithmetic and of `||`, computed from left to right by one function.
//!
//! Each step has the operator that the types of the result so far and of the next operand select, as if it stood alone.
//! Steps of the same types share a [`Shape`]. A very long chain becomes nested calls, so that not all operands are in
//! memory at once.

use super::name_of_call;
use super::shapes::{Shape, of_symbol, pair};
use crate::operators::{constant, typed};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{DFSchema, DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature, Volatility, cast,
};
use datafusion::sql::sqlparser::ast::BinaryOperator;
use parser::nesting;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use store::catalog::SqlType;
use values::translate::external;
use values::types;

/// The operands of a call. More operands of one row are in memory at once, fewer make the calls deeper.
const SEGMENT: usize = 512;

/// How many steps may pass before the type of the result is known.
const UNTYPED_MAX: usize = 256;

/// Plans a chain.
pub(super) fn planned(symbols: &[String], operands: Vec<Expr>, schema: &DFSchema) -> Result<Expr> {
    let segment = operands.len().isqrt().max(SEGMENT);
    let mut operands = operands.into_iter();
    let first = operands.next().ok_or_else(empty)?;
    let mut chain = Open { schema, result: first, types: None, fold: None, shapes: HashMap::new() };
    for (step, (symbol, operand)) in symbols.iter().zip(operands).enumerate() {
        let op = of_symbol(symbol)?;
        // The first step decides whether `||` joins texts, arrays or documents.
        if step == 0 || chain.types.is_none() {
            if step > UNTYPED_MAX {
                return Err(external(nesting::exceeded("Cast the first operand to its type.")));
            }
            chain.join(&op, operand)?;
        } else {
            chain.append(&op, operand)?;
        }
        if chain.fold.as_ref().is_some_and(|fold| fold.1.len() >= segment) {
            chain.close();
        }
    }
    chain.close();
    Ok(chain.result)
}

fn empty() -> DataFusionError {
    DataFusionError::Internal("a chain has operands".to_owned())
}

/// A chain of which some steps are planned.
struct Open<'a> {
    schema: &'a DFSchema,
    /// What precedes the open fold.
    result: Expr,
    /// The type of the result so far, if it is known.
    types: Option<FieldRef>,
    /// The steps after `result` and their operands.
    fold: Option<(Fold, Vec<Expr>)>,
    shapes: HashMap<(String, Arc<Field>, Arc<Field>), Arc<Shape>>,
}

impl Open<'_> {
    /// Adds a step that is planned by itself.
    fn join(&mut self, op: &BinaryOperator, operand: Expr) -> Result<()> {
        self.close();
        let left = std::mem::take(&mut self.result);
        self.result = pair(op, left, operand, self.schema)?;
        self.types = type_of(&self.result, self.schema);
        Ok(())
    }

    /// Adds a step to the fold.
    fn append(&mut self, op: &BinaryOperator, operand: Expr) -> Result<()> {
        let Some(left) = self.types.clone() else { return self.join(op, operand) };
        let left_type = types::of_field(&left);
        let mut operand = constant(operand)?;
        if is_untyped(&operand) {
            operand = typed(operand, op, &left_type, false)?;
        }
        let Some(mut right) = type_of(&operand, self.schema) else { return self.join(op, operand) };
        // The style of the session decides how a value is written as text.
        if *op == BinaryOperator::StringConcat
            && is_text(&left_type)
            && !is_text(&types::of_field(&right))
        {
            if matches!(types::of_field(&right), SqlType::Array(_)) {
                return self.join(op, operand);
            }
            operand = cast(operand, DataType::Utf8View);
            right = unnamed(&Field::new("", DataType::Utf8View, true));
        }
        let key = (op.to_string(), Arc::clone(&left), Arc::clone(&right));
        let shape = match self.shapes.get(&key) {
            Some(shape) => Arc::clone(shape),
            None => {
                let shape = Arc::new(Shape::new(op, &left, &right)?);
                self.shapes.insert(key.clone(), Arc::clone(&shape));
                shape
            }
        };
        self.types = Some(unnamed(&shape.result));
        let (fold, operands) = match &mut self.fold {
            Some(open) => open,
            none => {
                let first = std::mem::take(&mut self.result);
                none.insert((Fold::new(left), vec![first]))
            }
        };
        fold.steps.push((key.0, shape));
        operands.push(operand);
        Ok(())
    }

    /// Makes a call of the open fold.
    fn close(&mut self) {
        if let Some((fold, operands)) = self.fold.take() {
            self.result = ScalarUDF::new_from_impl(fold).call(operands);
        }
    }
}

fn is_untyped(expr: &Expr) -> bool {
    match expr {
        Expr::Placeholder(placeholder) => placeholder.field.is_none(),
        Expr::Literal(value, None) => value.is_null() || value.try_as_str().is_some(),
        _ => false,
    }
}

fn is_text(sql_type: &SqlType) -> bool {
    matches!(sql_type, SqlType::Text | SqlType::Varchar(_) | SqlType::Char(_))
}

/// The type of an expression, without a name; `None` if it is unknown.
fn type_of(expr: &Expr, schema: &DFSchema) -> Option<FieldRef> {
    let (_, field) = expr.to_field(schema).ok()?;
    (!field.data_type().is_null()).then(|| unnamed(&field))
}

fn unnamed(field: &Field) -> FieldRef {
    Arc::new(field.clone().with_name("").with_nullable(true))
}

/// The function that computes a chain.
#[derive(Debug)]
struct Fold {
    first: FieldRef,
    /// Each operator with its plan.
    steps: Vec<(String, Arc<Shape>)>,
    signature: Signature,
}

impl Fold {
    fn new(first: FieldRef) -> Self {
        let signature = Signature::user_defined(Volatility::Immutable);
        Self { first, steps: Vec::new(), signature }
    }

    /// What distinguishes the function from others: its operators and the types of its operands.
    fn key(&self) -> impl Iterator<Item = (&str, &Field)> {
        let steps = self.steps.iter().map(|(op, shape)| (op.as_str(), shape.right()));
        std::iter::once(("", &*self.first)).chain(steps)
    }

    fn result(&self) -> &FieldRef {
        self.steps.last().map_or(&self.first, |(_, shape)| &shape.result)
    }
}

impl PartialEq for Fold {
    fn eq(&self, other: &Self) -> bool {
        self.key().eq(other.key())
    }
}

impl Eq for Fold {}

impl Hash for Fold {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().for_each(|part| part.hash(state));
    }
}

impl ScalarUDFImpl for Fold {
    fn name(&self) -> &str {
        "fold"
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        Ok(name_of_call(self.name(), args))
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, _: &[DataType]) -> Result<Vec<DataType>> {
        Ok(self.key().map(|(_, field)| field.data_type().clone()).collect())
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.result().data_type().clone())
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(unnamed(self.result()))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let mut operands = args.args.into_iter();
        let mut result = operands.next().ok_or_else(empty)?.into_array(args.number_rows)?;
        for ((_, shape), operand) in self.steps.iter().zip(operands) {
            result = shape.apply(result, operand.into_array(args.number_rows)?)?;
        }
        Ok(ColumnarValue::Array(result))
    }
}
