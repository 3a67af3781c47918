//! CASE, GREATEST and LEAST.

use super::Binder;
use super::aggregate::is_volatile_expr;
use super::coerce::common_modifier;
use super::names;
use super::routine::is_call_before;
use crate::error::{Error, Result};
use crate::system::{Oid, SqlType};
use crate::tree::{Chain, Expr, Kind};
use grammar::tree::{CaseExpr, MinMaxExpr, MinMaxOp, NodeEnum};

impl Binder<'_> {
    pub(super) fn case(&mut self, case: &CaseExpr) -> Result<Expr> {
        let location = case.location;
        let sets = self.sets_here();
        let mut operand = self.optional(case.arg.as_deref())?;
        if let Some(value) = operand.take() {
            let value = match value.sql_type.oid {
                Oid::UNKNOWN => self.coerce_implicitly(value, Oid::TEXT)?,
                _ => value,
            };
            operand = Some(value);
        }
        let held = operand.take_if(|operand| case.args.len() > 1 && is_held(operand));
        if let Some(Expr { sql_type, location, .. }) = &held {
            operand = Some(Expr::new(Kind::Running, *sql_type, location.0));
        }
        let mut conditions = Vec::new();
        let mut values = Vec::new();
        for node in &case.args {
            let NodeEnum::CaseWhen(when) = names::node(Some(node))? else {
                return Err(Error::missing("this form").at(location));
            };
            let test = self.required(when.expr.as_deref())?;
            let test = match &operand {
                Some(operand) => self.apply("=", Some(operand.clone()), test, when.location)?,
                None => test,
            };
            conditions.push(self.coerce_to_bool(test, "CASE/WHEN")?);
            values.push(self.required(when.result.as_deref())?);
        }
        let otherwise = match self.optional(case.defresult.as_deref())? {
            Some(value) => value,
            None => Expr::null(Oid::UNKNOWN),
        };
        self.refuse_sets("CASE", sets)?;
        // PostgreSQL lets ELSE decide between types of equal rank.
        let all = || std::iter::once(&otherwise).chain(&values);
        let oid = self.common(all(), "CASE")?;
        let sql_type = SqlType { oid, modifier: common_modifier(all(), oid) };
        let mut branches = Vec::with_capacity(values.len());
        for (condition, value) in conditions.into_iter().zip(values) {
            branches.push((condition, self.convert_to_common(value, oid, "CASE/WHEN")?));
        }
        let otherwise = Box::new(self.convert_to_common(otherwise, oid, "CASE/ELSE")?);
        let case = Expr::new(Kind::Case { branches, otherwise }, sql_type, location);
        Ok(match held {
            Some(first) => {
                let chain = Chain { first, steps: vec![case] };
                Expr::new(Kind::Chain(Box::new(chain)), sql_type, location)
            }
            None => case,
        })
    }

    pub(super) fn extreme(&mut self, extreme: &MinMaxExpr) -> Result<Expr> {
        let is_greatest = extreme.op() == MinMaxOp::IsGreatest;
        let all = self.expressions(&extreme.args)?;
        let (all, sql_type) =
            self.at_common_type(all, if is_greatest { "GREATEST" } else { "LEAST" })?;
        let kind = if is_greatest { Kind::Greatest(all) } else { Kind::Least(all) };
        Ok(Expr::new(kind, sql_type, extreme.location))
    }
}

/// Whether the operand of a CASE is computed before its comparisons, since each of them would call its functions again.
fn is_held(operand: &Expr) -> bool {
    let is_row = matches!(operand.kind, Kind::Row(_)) || operand.sql_type.oid.is_row();
    !is_row && (is_volatile_expr(operand) || is_call_before(operand))
}
