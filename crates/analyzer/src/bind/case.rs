//! CASE, GREATEST and LEAST.

use super::Binder;
use super::coerce::common_modifier;
use super::names;
use crate::error::{Error, Result};
use crate::system::{Oid, SqlType};
use crate::tree::{Expr, Kind};
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
        Ok(Expr::new(Kind::Case { branches, otherwise }, sql_type, location))
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
