//! Comparisons that SQL writes as operators: of rows, with lists and arrays, IS DISTINCT FROM, NULLIF.

use super::Binder;
use super::expression::all_of;
use super::operator::find;
use crate::error::{Error, Result};
use crate::resolve::{Operands, common_type};
use crate::system::{Oid, SqlType};
use crate::tree::{Call, Expr, Kind, Quantified};
use grammar::tree::AExpr;

impl Binder<'_> {
    /// `(a, b) < (c, d)`.
    pub(super) fn compare_rows(
        &mut self,
        name: &str,
        left: Expr,
        right: Expr,
        location: i32,
    ) -> Result<Expr> {
        let (Kind::Row(left), Kind::Row(right)) = (left.kind, right.kind) else {
            return Err(Error::missing("this comparison of rows").at(location));
        };
        if left.len() != right.len() {
            return Err(
                Error::new("42601", "unequal number of entries in row expressions").at(location)
            );
        }
        if left.is_empty() {
            return Err(Error::new("0A000", "cannot compare rows of zero length").at(location));
        }
        let pairs: Vec<(Expr, Expr)> = left.into_iter().zip(right).collect();
        match name {
            "=" | "<>" => {
                let mut all = Vec::new();
                for (left, right) in pairs {
                    all.push(self.apply(name, Some(left), right, location)?);
                }
                match name {
                    "=" => Ok(all_of(all, location)),
                    _ if all.len() == 1 => Ok(all.remove(0)),
                    _ => Ok(Expr::new(Kind::Or(all), Oid::BOOL, location)),
                }
            }
            "<" | "<=" | ">" | ">=" => self.order_rows(name, pairs, location),
            _ => {
                let message = format!("operator {name} is not a valid row comparison operator");
                Err(Error::new("0A000", message).at(location))
            }
        }
    }

    /// The first pair that differs decides. NULL in it makes the result NULL: `CASE WHEN a <> c THEN a < c WHEN a = c THEN
    /// (the rest) END`, where neither branch applies to NULL.
    fn order_rows(
        &mut self,
        name: &str,
        mut pairs: Vec<(Expr, Expr)>,
        location: i32,
    ) -> Result<Expr> {
        let Some((left, right)) = pairs.pop() else { return Err(Error::missing("this form")) };
        let mut result = self.apply(name, Some(left), right, location)?;
        let strict = name.trim_end_matches('=');
        for (left, right) in pairs.into_iter().rev() {
            let differ = self.apply("<>", Some(left.clone()), right.clone(), location)?;
            let decide = self.apply(strict, Some(left.clone()), right.clone(), location)?;
            let same = self.apply("=", Some(left), right, location)?;
            let kind = Kind::Case {
                branches: vec![(differ, decide), (same, result)],
                otherwise: Box::new(Expr::null(Oid::BOOL)),
            };
            result = Expr::new(kind, Oid::BOOL, location);
        }
        Ok(result)
    }

    /// `value IN (list)`.
    pub(super) fn in_list(&mut self, expr: &AExpr, negated: bool) -> Result<Expr> {
        let location = expr.location;
        let value = self.required(expr.lexpr.as_deref())?;
        let items = self.list_items(expr.rexpr.as_deref())?;
        let items = self.expressions(items)?;
        let name = if negated { "<>" } else { "=" };
        // Items without columns are compared at once, if they have one type. The others are compared one by one.
        let is_row = matches!(value.kind, Kind::Row(_));
        let own = |item: &Expr| {
            super::contains(item, &mut |part| {
                matches!(part.kind, Kind::Column(..) | Kind::WholeRow(_) | Kind::GroupKey(..))
            })
        };
        let (single, together): (Vec<Expr>, Vec<Expr>) =
            items.into_iter().partition(|item| is_row || own(item));
        let mut tests = Vec::new();
        let types: Vec<Oid> =
            std::iter::once(&value).chain(&together).map(|expr| expr.sql_type.oid).collect();
        let common = common_type(&types).ok();
        let item_type = common.filter(|oid| !oid.is_row() && oid.array().is_some());
        let row_type = common.filter(|oid| oid.is_composite() && together.len() > 1);
        match item_type {
            Some(item_type) if together.len() > 1 => {
                let test =
                    self.one_of(name, value.clone(), together, item_type, negated, location)?;
                tests.push(test);
            }
            _ => {
                for item in together {
                    let item = match row_type {
                        Some(row_type) => self.convert_to_common(item, row_type, "IN")?,
                        None => item,
                    };
                    tests.push(self.apply(name, Some(value.clone()), item, location)?);
                }
            }
        }
        for item in single {
            let test = match (&value.kind, &item.kind) {
                (Kind::Row(_), Kind::Row(_)) => {
                    self.compare_rows(name, value.clone(), item, location)?
                }
                _ => self.apply(name, Some(value.clone()), item, location)?,
            };
            tests.push(test);
        }
        match (tests.len(), negated) {
            (1, _) => Ok(tests.remove(0)),
            (_, true) => Ok(Expr::new(Kind::And(tests), Oid::BOOL, location)),
            (_, false) => Ok(Expr::new(Kind::Or(tests), Oid::BOOL, location)),
        }
    }

    fn one_of(
        &mut self,
        name: &str,
        value: Expr,
        items: Vec<Expr>,
        item_type: Oid,
        is_all: bool,
        location: i32,
    ) -> Result<Expr> {
        let mut converted = Vec::with_capacity(items.len());
        for item in items {
            converted.push(self.convert_to_common(item, item_type, "IN")?);
        }
        let array_type = item_type.array().unwrap_or(Oid::TEXT_ARRAY);
        let array = Expr::new(Kind::Array(converted), array_type, location);
        self.with_each(name, value, array, is_all, location)
    }

    /// `value operator ANY (array)`.
    pub(super) fn quantified(&mut self, expr: &AExpr, name: &str, is_all: bool) -> Result<Expr> {
        let location = expr.location;
        let value = self.required(expr.lexpr.as_deref())?;
        let array = self.required(expr.rexpr.as_deref())?;
        self.with_each(name, value, array, is_all, location)
    }

    /// A comparison of a value with each item of an array.
    pub(super) fn with_each(
        &mut self,
        name: &str,
        value: Expr,
        array: Expr,
        is_all: bool,
        location: i32,
    ) -> Result<Expr> {
        let item_type = match array.sql_type.oid {
            Oid::UNKNOWN => Oid::UNKNOWN,
            other => other.element().ok_or_else(|| {
                let message = "op ANY/ALL (array) requires array on right side";
                Error::new("42809", message).at(location)
            })?,
        };
        let operator = find(name, Operands::Both(value.sql_type.oid, item_type), location)?;
        if operator.result != Oid::BOOL {
            let message = "op ANY/ALL (array) requires operator to yield boolean";
            return Err(Error::new("42809", message).at(location));
        }
        let (Some(mut left), mut right) = (operator.left, operator.right) else {
            return Err(Error::missing("this operator").at(location));
        };
        let of_enum = [value.sql_type.oid.base(), item_type.base()];
        if let (Oid::ANYENUM, Oid::ANYENUM, Some(oid)) =
            (left, right, of_enum.into_iter().find(|oid| oid.is_enum()))
        {
            (left, right) = (oid, oid);
        }
        if left.is_polymorphic() || right.is_polymorphic() {
            return Err(Error::missing(format!("{name} ANY of such an array")).at(location));
        }
        let value = self.coerce_implicitly(value, left)?;
        let array_type =
            right.array().ok_or_else(|| Error::missing("an array of this type").at(location))?;
        let array = self.coerce_implicitly(array, array_type)?;
        let quantified = Quantified { operator: operator.oid, is_all, value, array };
        Ok(Expr::new(Kind::Quantified(Box::new(quantified)), Oid::BOOL, location))
    }

    /// IS DISTINCT FROM.
    pub(super) fn distinct(&mut self, expr: &AExpr, negated: bool) -> Result<Expr> {
        let location = expr.location;
        let left = self.required(expr.lexpr.as_deref())?;
        let right = self.required(expr.rexpr.as_deref())?;
        let is_null = |expr: &Expr| matches!(expr.kind, Kind::Literal(crate::tree::Literal::Null));
        // IS DISTINCT FROM NULL is IS NOT NULL.
        let test = if is_null(&right) || is_null(&left) {
            let value = if is_null(&right) { left } else { right };
            let is_composite = value.sql_type.oid.is_composite();
            if matches!(value.kind, Kind::WholeRow(_)) && !is_composite {
                return Err(Error::missing("a row IS DISTINCT FROM NULL").at(location));
            }
            // Its text is NULL where it is, whatever its fields are.
            let value = match is_composite {
                true => self.explicit(value, SqlType::plain(Oid::TEXT), location)?,
                false => value,
            };
            // Here it is the row that counts, not its fields.
            if matches!(value.kind, Kind::Row(_)) {
                let is_distinct = Kind::Literal(crate::tree::Literal::Boolean(!negated));
                return Ok(Expr::new(is_distinct, Oid::BOOL, location));
            }
            let value = match value.sql_type.oid {
                Oid::UNKNOWN => self.coerce_implicitly(value, Oid::TEXT)?,
                _ => value,
            };
            Expr::new(Kind::IsNotNull(Box::new(value)), Oid::BOOL, location)
        } else if let (Kind::Row(_), Kind::Row(_)) = (&left.kind, &right.kind) {
            let (Kind::Row(left), Kind::Row(right)) = (left.kind, right.kind) else {
                return Err(Error::missing("this form").at(location));
            };
            if left.len() != right.len() {
                return Err(Error::new("42601", "unequal number of entries in row expressions")
                    .at(location));
            }
            let mut all = Vec::new();
            for (left, right) in left.into_iter().zip(right) {
                let call = self.equality(left, right, location)?;
                all.push(Expr::new(Kind::IsDistinct(call), Oid::BOOL, location));
            }
            match all.len() {
                1 => all.remove(0),
                _ => Expr::new(Kind::Or(all), Oid::BOOL, location),
            }
        } else {
            let call = self.equality(left, right, location)?;
            Expr::new(Kind::IsDistinct(call), Oid::BOOL, location)
        };
        Ok(match negated {
            true => Expr::new(Kind::Not(Box::new(test)), Oid::BOOL, location),
            false => test,
        })
    }

    /// NULLIF. Its type is that of its first argument, as the operator takes it.
    pub(super) fn null_if(&mut self, expr: &AExpr) -> Result<Expr> {
        let location = expr.location;
        let left = self.required(expr.lexpr.as_deref())?;
        let right = self.required(expr.rexpr.as_deref())?;
        let call = self.equality(left, right, location)?;
        let sql_type = call.arguments[0].sql_type;
        Ok(Expr::new(Kind::NullIf(call), sql_type, location))
    }

    fn equality(&mut self, left: Expr, right: Expr, location: i32) -> Result<Call> {
        match self.apply("=", Some(left), right, location)?.kind {
            Kind::Call(call) => Ok(call),
            _ => Err(Error::missing("this comparison").at(location)),
        }
    }
}
