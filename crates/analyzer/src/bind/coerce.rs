//! Conversions of expressions.

use super::Binder;
use crate::error::{Error, Result};
use crate::resolve::{Path, common_type, pathway};
use crate::system::casts::CastContext;
use crate::system::{Oid, SqlType};
use crate::tree::{Cast, Conversion, Expr, Kind, Literal};

impl Binder<'_> {
    /// Converts an expression to a type, with the type's modifier.
    ///
    /// # Errors
    /// 42846: the context allows no conversion.
    pub(super) fn coerce(
        &mut self,
        expr: Expr,
        to: SqlType,
        context: CastContext,
    ) -> Result<Option<Expr>> {
        let plain = SqlType::plain(to.oid);
        let Some(converted) = self.coerce_plain(expr, plain, context)? else { return Ok(None) };
        if to.modifier < 0 || converted.sql_type == to {
            return Ok(Some(converted));
        }
        let location = converted.location.0;
        let is_explicit = context == CastContext::Explicit;
        let cast = Cast { value: Box::new(converted), conversion: Conversion::Length, is_explicit };
        Ok(Some(Expr::new(Kind::Cast(cast), to, location)))
    }

    fn coerce_plain(
        &mut self,
        mut expr: Expr,
        to: SqlType,
        context: CastContext,
    ) -> Result<Option<Expr>> {
        expr = self.decided(expr);
        let from = expr.sql_type.oid;
        if from.is_of_users() && from.base() != from && from != to.oid {
            // Outside of its domain a value is one of the base type.
            let (base, location) = (expr.sql_type.base(), expr.location.0);
            let conversion = Conversion::Relabel;
            let cast = Cast { value: Box::new(expr), conversion, is_explicit: false };
            return self.coerce_plain(Expr::new(Kind::Cast(cast), base, location), to, context);
        }
        if to.oid.is_of_users() && to.oid.base() != to.oid && from != to.oid {
            return self.in_domain(expr, to.oid, context);
        }
        if from == to.oid || to.oid == Oid::ANY || to.oid.is_polymorphic() {
            return Ok(Some(expr));
        }
        if from == Oid::UNKNOWN {
            return self.decide(expr, to.oid).map(Some);
        }
        // Clients are told that a parameter of this type is a whole number.
        if let (Kind::Parameter(_), Oid::INT8, "xid8") = (&expr.kind, from, to.oid.catalog_name()) {
            expr.sql_type = to;
            return Ok(Some(expr));
        }
        let Some(path) = pathway(from, to.oid, context) else { return Ok(None) };
        if path == Path::Row {
            return self.row_of_type(expr, to.oid, context);
        }
        let are_rows = (from.element().unwrap_or(from), to.oid.element().unwrap_or(to.oid));
        match are_rows {
            // The rows of any type are records as they are.
            (from, Oid::RECORD) if from.is_composite() && context != CastContext::Explicit => {
                return Ok(Some(expr));
            }
            (from, Oid::RECORD) if from.is_composite() => {}
            _ if path == Path::Text && to.oid != Oid::RECORD => {}
            _ if matches!(expr.kind, Kind::Row(_)) || to.oid == Oid::RECORD => {
                return Err(Error::missing("a conversion of rows").at(expr.location.0));
            }
            _ => {}
        }
        let conversion = match path {
            Path::Function(function) => Conversion::Function(function),
            Path::Relabel => Conversion::Relabel,
            Path::Text => Conversion::Text,
            Path::Items => Conversion::Items,
            Path::Row => Conversion::Row,
        };
        let location = expr.location.0;
        // A conversion of NULL is NULL.
        if let Kind::Literal(Literal::Null) = expr.kind {
            expr.sql_type = to;
            return Ok(Some(expr));
        }
        // A number keeps all its digits on its way to a floating-point number.
        if let (Kind::Literal(Literal::Text(_)), Oid::NUMERIC, Oid::FLOAT8 | Oid::FLOAT4) =
            (&expr.kind, from, to.oid)
        {
            expr.sql_type = to;
            return Ok(Some(expr));
        }
        let is_explicit = context == CastContext::Explicit;
        let cast = Cast { value: Box::new(expr), conversion, is_explicit };
        Ok(Some(Expr::new(Kind::Cast(cast), to, location)))
    }

    /// A parameter that is written once and stands twice in the tree, as that of BETWEEN does, has the type that its
    /// first place has given it. One that is written twice must get the same type from both places.
    pub(super) fn decided(&self, mut expr: Expr) -> Expr {
        let location = expr.location.0;
        if let (Kind::Parameter(number), Oid::UNKNOWN) = (&expr.kind, expr.sql_type.oid)
            && (location < 0 || self.decided.contains(&(*number, location)))
        {
            let known = self.parameters.get((*number as usize).wrapping_sub(1)).copied().flatten();
            expr.sql_type = known.unwrap_or(expr.sql_type);
        }
        expr
    }

    /// Gives a literal or parameter of unknown type its type.
    fn decide(&mut self, mut expr: Expr, to: Oid) -> Result<Expr> {
        match &expr.kind {
            Kind::Parameter(number) => {
                let (number, location) = (*number, expr.location.0);
                match self.parameters.get_mut(number as usize - 1) {
                    Some(Some(known)) if known.oid != to => {
                        return Err(inconsistent(number as usize, known.oid, to).at(location));
                    }
                    Some(known) => *known = Some(SqlType::plain(to)),
                    None => {}
                }
                self.decided.insert((number, location));
            }
            Kind::Literal(Literal::Text(_)) if to == Oid::RECORD => {
                let message = "input of anonymous composite types is not implemented";
                return Err(Error::new("0A000", message).at(expr.location.0));
            }
            Kind::Literal(_) => {}
            // A column of unknown type: of a subquery with a literal that nothing has decided.
            _ if to.category() == 'S' => {}
            _ => return Err(Error::missing("a value of unknown type").at(expr.location.0)),
        }
        expr.sql_type = SqlType::plain(to);
        Ok(expr)
    }

    /// Converts an argument or operand to the type that is declared for it. The caller has found that it can be.
    pub(super) fn coerce_implicitly(&mut self, expr: Expr, to: Oid) -> Result<Expr> {
        let (from, location) = (expr.sql_type.oid, expr.location.0);
        let parameter = match expr.kind {
            Kind::Parameter(number) if from == Oid::UNKNOWN => Some(number as usize),
            _ => None,
        };
        let converted = self.coerce(expr, SqlType::plain(to), CastContext::Implicit)?;
        converted.ok_or_else(|| {
            let known =
                parameter.and_then(|number| *self.parameters.get(number.wrapping_sub(1))?);
            let error = match parameter.zip(known) {
                Some((number, known)) => inconsistent(number, known.oid, to),
                None => cannot_cast(from, to),
            };
            error.at(location)
        })
    }

    /// A condition.
    pub(super) fn coerce_to_bool(&mut self, expr: Expr, place: &str) -> Result<Expr> {
        let (from, location) = (expr.sql_type.oid, expr.location.0);
        let target = SqlType::plain(Oid::BOOL);
        self.coerce(expr, target, CastContext::Assignment)?.ok_or_else(|| {
            let message = format!("argument of {place} must be type boolean, not type {from}");
            Error::new("42804", message).at(location)
        })
    }

    /// A count, as in LIMIT.
    pub(super) fn coerce_to_int8(&mut self, expr: Expr, place: &str) -> Result<Expr> {
        let (from, location) = (expr.sql_type.oid, expr.location.0);
        let target = SqlType::plain(Oid::INT8);
        self.coerce(expr, target, CastContext::Assignment)?.ok_or_else(|| {
            let message = format!("argument of {place} must be type bigint, not type {from}");
            Error::new("42804", message).at(location)
        })
    }

    /// Converts expressions that meet in one place to their common type.
    ///
    /// # Errors
    /// 42804: they have none. `place` names the place, such as `CASE`.
    pub(super) fn at_common_type(
        &mut self,
        all: Vec<Expr>,
        place: &str,
    ) -> Result<(Vec<Expr>, SqlType)> {
        let oid = self.common(all.iter(), place)?;
        let sql_type = SqlType { oid, modifier: common_modifier(all.iter(), oid) };
        let mut converted = Vec::with_capacity(all.len());
        for expr in all {
            converted.push(self.convert_to_common(expr, oid, place)?);
        }
        Ok((converted, sql_type))
    }

    pub(super) fn convert_to_common(&mut self, expr: Expr, oid: Oid, place: &str) -> Result<Expr> {
        let (from, location) = (expr.sql_type.oid, expr.location.0);
        let converted = self.coerce(expr, SqlType::plain(oid), CastContext::Implicit)?;
        converted.ok_or_else(|| {
            let message = format!("{place} could not convert type {from} to {oid}");
            Error::new("42846", message).at(location)
        })
    }

    pub(super) fn common<'b>(
        &self,
        all: impl Iterator<Item = &'b Expr> + Clone,
        place: &str,
    ) -> Result<Oid> {
        let types: Vec<Oid> = all.clone().map(|expr| expr.sql_type.oid).collect();
        common_type(&types).map_err(|mixed| {
            let culprit = all.into_iter().find(|expr| expr.sql_type.oid == mixed.1);
            let message = format!("{place} types {} and {} cannot be matched", mixed.0, mixed.1);
            Error::new("42804", message).at(culprit.map_or(-1, |expr| expr.location.0))
        })
    }
}

/// The modifier that all expressions share.
pub(super) fn common_modifier<'b>(all: impl Iterator<Item = &'b Expr>, oid: Oid) -> i32 {
    let mut shared = None;
    for expr in all {
        if expr.sql_type.oid != oid || shared.is_some_and(|shared| shared != expr.sql_type.modifier)
        {
            return -1;
        }
        shared = Some(expr.sql_type.modifier);
    }
    shared.unwrap_or(-1)
}

/// The error for a parameter that has a type, and needs another one elsewhere.
fn inconsistent(number: usize, known: Oid, to: Oid) -> Error {
    let message = format!("inconsistent types deduced for parameter ${number}");
    Error::new("42P08", message).detail(format!("{known} versus {to}"))
}

pub(super) fn cannot_cast(from: Oid, to: Oid) -> Error {
    Error::new("42846", format!("cannot cast type {from} to {to}"))
}
