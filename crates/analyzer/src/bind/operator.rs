//! Operators.

use super::Binder;
use super::names::{self, qualified};
use super::written::as_written;
use crate::error::{Error, Result};
use crate::resolve::{Operands, Polymorphic, operator};
use crate::system::operators::Operator;
use crate::system::{Oid, SqlType, functions};
use crate::tree::{Call, Expr, Kind};
use grammar::tree::{AExpr, AExprKind, Node, NodeEnum};

impl Binder<'_> {
    /// An operator, or what the grammar writes like one.
    pub(super) fn operator_expression(&mut self, expr: &AExpr) -> Result<Expr> {
        let location = expr.location;
        let (schema, name) = qualified(&expr.name);
        if let Some(schema) = schema {
            let message = format!("operator does not exist: {schema}.{name}");
            return Err(Error::new("42883", message).at(location));
        }
        match expr.kind() {
            AExprKind::AexprOp => match super::chain::operators(expr) {
                Some(operators) => self.chain(&operators),
                None => self.plain_operator(name, expr),
            },
            AExprKind::AexprOpAny => self.quantified(expr, name, false),
            AExprKind::AexprOpAll => self.quantified(expr, name, true),
            AExprKind::AexprDistinct => self.distinct(expr, false),
            AExprKind::AexprNotDistinct => self.distinct(expr, true),
            AExprKind::AexprNullif => self.null_if(expr),
            AExprKind::AexprIn => self.in_list(expr, name == "<>"),
            AExprKind::AexprLike | AExprKind::AexprIlike | AExprKind::AexprSimilar => {
                let left = self.required(expr.lexpr.as_deref())?;
                let right = self.required(expr.rexpr.as_deref())?;
                self.apply(name, Some(left), right, location)
            }
            AExprKind::AexprBetween => self.between(expr, false, false),
            AExprKind::AexprNotBetween => self.between(expr, true, false),
            AExprKind::AexprBetweenSym => self.between(expr, false, true),
            AExprKind::AexprNotBetweenSym => self.between(expr, true, true),
            AExprKind::Undefined => Err(Error::missing("this operator").at(location)),
        }
    }

    fn plain_operator(&mut self, name: &str, expr: &AExpr) -> Result<Expr> {
        let location = expr.location;
        let Some(left) = expr.lexpr.as_deref() else {
            let right = self.required(expr.rexpr.as_deref())?;
            return self.apply(name, None, right, location);
        };
        if let (NodeEnum::RowExpr(row), NodeEnum::SubLink(link)) =
            (names::node(Some(left))?, names::node(expr.rexpr.as_deref())?)
            && link.sub_link_type() == grammar::tree::SubLinkType::ExprSublink
        {
            return self.compare_with_query(name, row, link, location);
        }
        let left = self.required(Some(left))?;
        let right = self.required(expr.rexpr.as_deref())?;
        if let (Kind::Row(_), Kind::Row(_)) = (&left.kind, &right.kind) {
            return self.compare_rows(name, left, right, location);
        }
        self.apply(name, Some(left), right, location)
    }

    /// An operator of given operands.
    pub(super) fn apply(
        &mut self,
        name: &str,
        left: Option<Expr>,
        right: Expr,
        location: i32,
    ) -> Result<Expr> {
        let left = left.map(|left| self.decided(left));
        let right = self.decided(right);
        let operands = match &left {
            Some(left) => Operands::Both(left.sql_type.oid, right.sql_type.oid),
            None => Operands::Right(right.sql_type.oid),
        };
        let found = find(name, operands, location)?;
        if let Some(left) = &left {
            refuse_open_fields(left, &right)?;
        }
        self.call_operator(found, left, right, location)
    }

    /// A call of an operator that is known.
    pub(super) fn call_operator(
        &mut self,
        operator: &Operator,
        left: Option<Expr>,
        right: Expr,
        location: i32,
    ) -> Result<Expr> {
        let mut given = Vec::new();
        let mut declared = Vec::new();
        if let (Some(left), Some(oid)) = (left, operator.left) {
            given.push(left);
            declared.push(oid);
        }
        given.push(right);
        declared.push(operator.right);
        let types: Vec<Oid> = given.iter().map(|expr| expr.sql_type.oid.base()).collect();
        let polymorphic = polymorphic(&declared, &types, location)?;
        let mut arguments = Vec::with_capacity(given.len());
        for (expr, declared) in given.into_iter().zip(&declared) {
            let to = polymorphic.actual(*declared).unwrap_or(Oid::TEXT);
            let function = functions::of(operator.function);
            let written = function.and_then(|of| as_written(of, *declared, expr.sql_type.oid));
            arguments.push(match written {
                Some(text) => {
                    let location = expr.location.0;
                    self.explicit(expr, SqlType::plain(text), location)?
                }
                None => self.coerce_implicitly(expr, to)?,
            });
        }
        let result = polymorphic.actual(operator.result).unwrap_or(Oid::TEXT);
        let call =
            Call { operator: Some(operator.oid), ..Call::of_system(operator.function, arguments) };
        if functions::of(operator.function).is_some_and(|function| function.returns_set) {
            return Err(Error::missing("an operator that returns a set").at(location));
        }
        Ok(Expr::new(Kind::Call(call), SqlType::plain(result), location))
    }

    fn between(&mut self, expr: &AExpr, negated: bool, symmetric: bool) -> Result<Expr> {
        let location = expr.location;
        let value = self.required(expr.lexpr.as_deref())?;
        let bounds = match names::node(expr.rexpr.as_deref())? {
            NodeEnum::List(list) => self.expressions(&list.items)?,
            _ => return Err(Error::missing("this form").at(location)),
        };
        let [low, high] =
            <[Expr; 2]>::try_from(bounds).map_err(|_| Error::missing("this form").at(location))?;
        let mut within = |low: &Expr, high: &Expr| -> Result<Expr> {
            let (first, second) = if negated { ("<", ">") } else { (">=", "<=") };
            let compare =
                |binder: &mut Self, name: &str, bound: &Expr| match (&value.kind, &bound.kind) {
                    (Kind::Row(_), Kind::Row(_)) => {
                        binder.compare_rows(name, value.clone(), bound.clone(), location)
                    }
                    _ => binder.apply(name, Some(value.clone()), bound.clone(), location),
                };
            let all = vec![compare(self, first, low)?, compare(self, second, high)?];
            let kind = if negated { Kind::Or(all) } else { Kind::And(all) };
            Ok(Expr::new(kind, Oid::BOOL, location))
        };
        if !symmetric {
            return within(&low, &high);
        }
        let all = vec![within(&low, &high)?, within(&high, &low)?];
        let kind = if negated { Kind::And(all) } else { Kind::Or(all) };
        Ok(Expr::new(kind, Oid::BOOL, location))
    }

    pub(super) fn list_items<'b>(&self, node: Option<&'b Node>) -> Result<&'b [Node]> {
        match names::node(node)? {
            NodeEnum::List(list) => Ok(&list.items),
            _ => Err(Error::missing("this form")),
        }
    }
}

/// Refuses a comparison of a row of a composite type with one that is written here and has fields of unknown type.
fn refuse_open_fields(left: &Expr, right: &Expr) -> Result<()> {
    let known = |expr: &Expr| expr.sql_type.oid.attributes();
    let refused = |of: String, other: String, number: usize| {
        let what = "cannot compare dissimilar column types";
        let message = format!("{what} {of} and {other} at record column {}", number + 1);
        Err(Error::new("42804", message))
    };
    let open = |fields: &[Expr]| {
        let is_open = |field: &Expr| {
            field.sql_type.oid == Oid::UNKNOWN && matches!(field.kind, Kind::Literal(_))
        };
        fields.iter().position(is_open)
    };
    match (&left.kind, &right.kind) {
        (_, Kind::Row(fields)) if let (Some(known), Some(at)) = (known(left), open(fields)) => {
            let of = known.get(at).map(|(_, of)| of.oid.to_string());
            of.map_or(Ok(()), |of| refused(of, "unknown".to_owned(), at))
        }
        (Kind::Row(fields), _) if let (Some(known), Some(at)) = (known(right), open(fields)) => {
            let of = known.get(at).map(|(_, of)| of.oid.to_string());
            of.map_or(Ok(()), |of| refused("unknown".to_owned(), of, at))
        }
        _ => Ok(()),
    }
}

/// The operator of a name, or PostgreSQL's error.
pub(super) fn find(name: &str, operands: Operands, location: i32) -> Result<&'static Operator> {
    operator(name, operands).map_err(|failure| {
        let shown = match operands {
            Operands::Right(right) => format!("{name} {right}"),
            Operands::Both(left, right) => format!("{left} {name} {right}"),
        };
        use crate::resolve::NoOperator;
        let is_range = match operands {
            Operands::Right(right) => right.is_range(),
            Operands::Both(left, right) => left.is_range() || right.is_range(),
        };
        match failure {
            NoOperator::Ambiguous if is_range => Error::missing("a value of a range type"),
            NoOperator::Unknown => Error::new("42883", format!("operator does not exist: {shown}"))
                .hint("No operator matches the given name and argument types. You might need to add explicit type casts."),
            NoOperator::Ambiguous => Error::new("42725", format!("operator is not unique: {shown}"))
                .hint("Could not choose a best candidate operator. You might need to add explicit type casts."),
        }
        .at(location)
    })
}

pub(super) fn polymorphic(declared: &[Oid], given: &[Oid], location: i32) -> Result<Polymorphic> {
    if declared.iter().any(|oid| oid.is_polymorphic()) && given.iter().any(|oid| oid.is_range()) {
        return Err(Error::missing("a value of a range type").at(location));
    }
    if let Some(open) = declared.iter().find(|oid| oid.is_polymorphic_range()) {
        let why = "because input has type unknown";
        let message = format!("could not determine polymorphic type {open} {why}");
        return Err(Error::new("42804", message).at(location));
    }
    let found = Polymorphic::of(declared, given)
        .map_err(|message| Error::new("42804", message).at(location))?;
    let needs = declared.iter().any(|oid| oid.is_polymorphic_exact());
    if needs && !found.is_decided() {
        let message = "could not determine polymorphic type because input has type unknown";
        return Err(Error::new("42804", message).at(location));
    }
    Ok(found)
}
