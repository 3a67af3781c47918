//! IS DISTINCT FROM and NULLIF, which are made of an operator `=`.

use super::described;
use crate::functions::{self, Make, comparisons};
use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::system::SqlType;
use analyzer::tree::Call;
use datafusion::logical_expr::expr::Case;
use datafusion::logical_expr::{Expr as Engine, Operator, binary_expr};

impl Lowering<'_> {
    pub(super) fn distinct(&mut self, call: &Call) -> Result<Typed> {
        let [left, right] = self.sides(call)?;
        let (left, right) = comparisons::sides(self, left, right)?;
        Ok(Typed::boolean(binary_expr(left.expr, Operator::IsDistinctFrom, right.expr)))
    }

    pub(super) fn null_if(&mut self, call: &Call, sql_type: SqlType) -> Result<Typed> {
        let [value, other] = self.sides(call)?;
        let (left, right) = comparisons::sides(self, value.clone(), other)?;
        // The engine's function takes -0 for another number than 0.
        let is_exact = !value.data_type.is_floating();
        if is_exact && left.data_type == value.data_type && left.expr == value.expr {
            let chosen = self.engine_function("nullif", vec![left, right])?;
            return Typed::of(chosen.0, value.data_type, sql_type);
        }
        let is_equal = binary_expr(left.expr, Operator::Eq, right.expr);
        let null = Typed::null(sql_type)?.converted(&value.data_type).expr;
        let branch = (Box::new(is_equal), Box::new(null));
        let case = Case::new(None, vec![branch], Some(Box::new(value.expr)));
        Typed::of(Engine::Case(case), value.data_type, sql_type)
    }

    /// The operands of an operator that compares.
    fn sides(&mut self, call: &Call) -> Result<[Typed; 2]> {
        let is_comparison =
            matches!(functions::of(call.function), Some(Make::Compare(Operator::Eq)));
        match &call.arguments[..] {
            [left, right] if is_comparison => Ok([self.expr(left)?, self.expr(right)?]),
            _ => missing(described(call)),
        }
    }
}
