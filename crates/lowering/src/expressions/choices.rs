//! CASE, COALESCE, GREATEST and LEAST: one of several values.

use crate::long::{LONG, is_plain};
use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::system::SqlType;
use analyzer::tree::Expr;
use datafusion::logical_expr::Expr as Engine;
use datafusion::logical_expr::expr::Case;

impl Lowering<'_> {
    pub(super) fn case(
        &mut self,
        branches: &[(Expr, Expr)],
        otherwise: &Expr,
        sql_type: SqlType,
    ) -> Result<Typed> {
        let mut whens = Vec::with_capacity(branches.len());
        let mut values = Vec::with_capacity(branches.len() + 1);
        for (when, then) in branches {
            whens.push(self.condition(when)?);
            values.push(self.expr(then)?);
        }
        values.push(self.expr(otherwise)?);
        let mut values = self.together(values, sql_type)?;
        let Some(otherwise) = values.pop() else { return missing("CASE") };
        let branches = whens.into_iter().zip(values);
        let branches = branches.map(|(when, then)| (Box::new(when), Box::new(then.expr)));
        let branches: Vec<_> = branches.collect();
        // Without ELSE the value is NULL in any case.
        let last = (!otherwise.is_null()).then(|| Box::new(otherwise.expr));
        let count = branches.len();
        let case = Engine::Case(Case::new(None, branches, last));
        let case = Typed::of(case, otherwise.data_type, sql_type)?;
        if count > LONG && is_plain(&case.expr) { self.compiled(case) } else { Ok(case) }
    }

    /// A function of the engine that returns one of its arguments.
    pub(super) fn chosen(
        &mut self,
        name: &str,
        values: &[Expr],
        sql_type: SqlType,
    ) -> Result<Typed> {
        let values = self.exprs(values)?;
        let values = self.together(values, sql_type)?;
        if name != "coalesce" && Self::has_order_key(sql_type) {
            return self.extreme_of(values, name == "greatest", sql_type);
        }
        let Some(data_type) = values.first().map(|value| value.data_type.clone()) else {
            return missing(name);
        };
        let (expr, _) = self.engine_function(name, values)?;
        Typed::of(expr, data_type, sql_type)
    }
}
