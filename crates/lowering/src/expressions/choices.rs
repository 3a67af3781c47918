//! CASE, COALESCE, GREATEST and LEAST: one of several values.

use super::waiting::where_needed;
use crate::folding::truth;
use crate::long::{LONG, is_plain};
use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::system::SqlType;
use analyzer::tree::Expr;
use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::expr::Case;
use datafusion::logical_expr::{Expr as Engine, lit};

impl Lowering<'_> {
    pub(super) fn case(
        &mut self,
        branches: &[(Expr, Expr)],
        otherwise: &Expr,
        sql_type: SqlType,
    ) -> Result<Typed> {
        let mut whens = Vec::with_capacity(branches.len());
        let mut values = Vec::with_capacity(branches.len() + 1);
        let mut is_decided = false;
        for (when, then) in branches {
            let when = self.skipping(is_decided, |lowering| lowering.condition(when))?;
            let truth = truth(&when).filter(|_| self.around.folds);
            let is_skipped = is_decided || truth == Some(false);
            let value = self.skipping(is_skipped, |lowering| lowering.expr(then))?;
            if is_skipped {
                continue;
            }
            values.push(value);
            match truth {
                Some(_) => is_decided = true,
                None => whens.push(when),
            }
        }
        let otherwise = self.skipping(is_decided, |lowering| lowering.expr(otherwise))?;
        if !is_decided {
            values.push(otherwise);
        }
        let mut values = self.together(values, sql_type)?;
        if !whens.is_empty() {
            values.iter_mut().try_for_each(|value| where_needed(&mut value.expr))?;
        }
        whens.iter_mut().skip(1).try_for_each(where_needed)?;
        let Some(otherwise) = values.pop() else { return missing("CASE") };
        if whens.is_empty() {
            return Ok(otherwise.named(sql_type));
        }
        // Without an operand the engine computes conditions when it plans, and may write them several times.
        let is_varying = whens.iter().any(Engine::is_volatile);
        let operand = is_varying.then(|| Box::new(lit(true)));
        let branches = whens.into_iter().zip(values);
        let branches = branches.map(|(when, then)| (Box::new(when), Box::new(then.expr)));
        let branches: Vec<_> = branches.collect();
        // Without ELSE the value is NULL in any case.
        let last = (!otherwise.is_null()).then(|| Box::new(otherwise.expr));
        let count = branches.len();
        let case = Engine::Case(Case::new(operand, branches, last));
        let case = Typed::of(case, otherwise.data_type, sql_type)?;
        if count > LONG && !is_varying && is_plain(&case.expr) {
            self.compiled(case)
        } else {
            Ok(case)
        }
    }

    /// A function of the engine that returns one of its arguments.
    pub(super) fn chosen(
        &mut self,
        name: &str,
        values: &[Expr],
        sql_type: SqlType,
    ) -> Result<Typed> {
        let (exprs, mut is_decided) = (values, false);
        let mut values = Vec::with_capacity(exprs.len());
        for expr in exprs {
            let value = self.skipping(is_decided, |lowering| lowering.expr(expr))?;
            is_decided |= name == "coalesce" && value.value().is_some_and(|value| !value.is_null());
            values.push(value);
        }
        let mut values = self.together(values, sql_type)?;
        if name == "coalesce" {
            values.iter_mut().skip(1).try_for_each(|value| where_needed(&mut value.expr))?;
        }
        let first = values.iter().find(|value| !value.is_null());
        if let Some(first) = first.filter(|first| name == "coalesce" && first.value().is_some()) {
            return Ok(first.clone().named(sql_type));
        }
        let held = values.first().map_or(&DataType::Null, |value| &value.data_type);
        if name != "coalesce" && Self::has_order_key(sql_type, held) {
            return self.extreme_of(values, name == "greatest", sql_type);
        }
        let Some(data_type) = values.first().map(|value| value.data_type.clone()) else {
            return missing(name);
        };
        if name == "coalesce" && values.iter().any(|value| value.expr.is_volatile()) {
            return self.first_not_null(values, sql_type);
        }
        let (expr, _) = self.engine_function(name, values)?;
        Typed::of(expr, data_type, sql_type)
    }

    /// COALESCE of values of one type, some of them volatile: the engine would compute those before the last twice.
    fn first_not_null(&mut self, mut values: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
        let Some(mut first) = values.pop() else { return missing("coalesce") };
        while let Some(value) = values.pop() {
            first = self.once(value, |_, value| {
                let test = value.expr.clone().is_not_null();
                let branches = vec![(Box::new(test), Box::new(value.expr))];
                let case = Case::new(None, branches, Some(Box::new(first.expr)));
                Ok(Typed { expr: Engine::Case(case), sql_type, data_type: first.data_type })
            })?;
        }
        Ok(first.named(sql_type))
    }
}
