//! Long chains of AND and OR.
//!
//! Comparisons of one column with constants become a list: `a = 1 OR a = 2 ...` becomes `a IN (1, 2, ...)`. If many
//! operands are left, an OR becomes one call, and so does an AND but for its first operands: the engine pushes each of
//! these down and finds the conditions of joins among them.

use super::name_of_call;
use crate::operators::of_type;
use datafusion::arrow::array::{AsArray, BooleanArray};
use datafusion::arrow::compute::{and_kleene, or_kleene};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Column, DFSchema, ExprSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{
    BinaryExpr, ColumnarValue, Expr, ExprSchemable, Operator, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature, Volatility,
};
use parser::chains::SHORT;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use store::catalog::SqlType;
use values::types;

/// AND or OR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Logic {
    And,
    Or,
}

impl Logic {
    fn operator(self) -> Operator {
        match self {
            Self::And => Operator::And,
            Self::Or => Operator::Or,
        }
    }

    /// The comparison of which several with one column are a list.
    fn listed(self) -> Operator {
        match self {
            Self::And => Operator::NotEq,
            Self::Or => Operator::Eq,
        }
    }
}

/// Plans a chain.
pub(super) fn planned(logic: Logic, operands: Vec<Expr>, schema: &DFSchema) -> Result<Expr> {
    let operands = operands.into_iter().map(|operand| of_type(operand, &SqlType::Boolean));
    let operands = operands.collect::<Result<Vec<_>>>()?;
    for operand in &operands {
        if operand.get_type(schema)? != DataType::Boolean {
            return Ok(joined(logic, operands));
        }
    }
    let mut operands = listed(logic, operands, schema)?;
    if operands.len() <= SHORT {
        return Ok(joined(logic, operands));
    }
    if logic == Logic::Or {
        return Ok(function(logic).call(operands));
    }
    operands.sort_by_key(|operand| !joins(operand));
    let rest = operands.split_off(SHORT - 1);
    operands.push(function(logic).call(rest));
    Ok(joined(logic, operands))
}

/// The operands with the engine's operators between neighbours, so that the tree is not deep.
fn joined(logic: Logic, mut operands: Vec<Expr>) -> Expr {
    if operands.len() <= SHORT {
        let all = operands.into_iter().reduce(|left, right| binary(logic, left, right));
        return all.unwrap_or_else(|| Expr::Literal(ScalarValue::Boolean(None), None));
    }
    let right = operands.split_off(operands.len() / 2);
    binary(logic, joined(logic, operands), joined(logic, right))
}

fn binary(logic: Logic, left: Expr, right: Expr) -> Expr {
    Expr::BinaryExpr(BinaryExpr::new(Box::new(left), logic.operator(), Box::new(right)))
}

/// Whether an operand may be the condition of a join.
fn joins(operand: &Expr) -> bool {
    let relations: HashSet<_> =
        operand.column_refs().into_iter().map(|column| &column.relation).collect();
    relations.len() > 1
}

/// Replaces comparisons of one column with constants by a list at the place of the first.
fn listed(logic: Logic, operands: Vec<Expr>, schema: &DFSchema) -> Result<Vec<Expr>> {
    let mut places: HashMap<Column, usize> = HashMap::new();
    let mut kept: Vec<Expr> = Vec::new();
    for operand in operands {
        let Some((column, constant)) = comparison(logic, &operand, schema) else {
            kept.push(operand);
            continue;
        };
        let place = *places.entry(column.clone()).or_insert(kept.len());
        match kept.get_mut(place) {
            Some(Expr::InList(found)) => found.list.push(constant),
            _ => {
                let (expr, list) = (Box::new(Expr::Column(column)), vec![constant]);
                kept.push(Expr::InList(InList { expr, list, negated: logic == Logic::And }));
            }
        }
    }
    Ok(kept)
}

/// The column and the constant of a comparison that a list can express.
fn comparison(logic: Logic, operand: &Expr, schema: &DFSchema) -> Option<(Column, Expr)> {
    use SqlType as T;
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = operand else { return None };
    if *op != logic.listed() {
        return None;
    }
    let (column, value) = match (&**left, &**right) {
        (Expr::Column(column), Expr::Literal(value, None))
        | (Expr::Literal(value, None), Expr::Column(column)) => (column, value),
        _ => return None,
    };
    let field = schema.field_from_column(column).ok()?;
    let is_listed = matches!(
        types::of_field(field),
        T::SmallInt | T::Integer | T::BigInt | T::Text | T::Varchar(_) | T::Date | T::Timestamp
    );
    let is_text = |data_type: &DataType| data_type.is_string();
    let same = value.data_type() == *field.data_type()
        || is_text(&value.data_type()) && is_text(field.data_type());
    let value = value.cast_to(field.data_type()).ok().filter(|_| is_listed && same)?;
    Some((column.clone(), Expr::Literal(value, None)))
}

fn function(logic: Logic) -> ScalarUDF {
    let signature = Signature::user_defined(Volatility::Immutable);
    ScalarUDF::new_from_impl(Call { logic, signature })
}

/// The function that computes a chain.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Call {
    logic: Logic,
    signature: Signature,
}

impl ScalarUDFImpl for Call {
    fn name(&self) -> &str {
        match self.logic {
            Logic::And => "all_of",
            Logic::Or => "any_of",
        }
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        Ok(name_of_call(self.name(), args))
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        Ok(vec![DataType::Boolean; types.len()])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let identity = self.logic == Logic::And;
        let mut all = BooleanArray::from(vec![identity; args.number_rows]);
        for value in args.args {
            let value = value.into_array(args.number_rows)?;
            all = match self.logic {
                Logic::And => and_kleene(&all, value.as_boolean())?,
                Logic::Or => or_kleene(&all, value.as_boolean())?,
            };
        }
        Ok(ColumnarValue::Array(Arc::new(all)))
    }
}
