//! Assignments to parts of columns: `SET a[2] = x`, `SET j['k'] = x`. The column gets its old value with the part in it.

use super::Target;
use crate::bind::{Binder, names};
use crate::error::{Error, Result};
use crate::resolve::can_coerce;
use crate::system::casts::CastContext;
use crate::system::{Oid, SqlType, functions};
use crate::tree::{Call, Cast, Conversion, Expr, FieldValue, Kind, Literal, Subscripts};
use grammar::tree::{Node, NodeEnum, ResTarget};

impl Binder<'_> {
    /// The value of a column with a part assigned to.
    ///
    /// # Errors
    /// 42804 for a value of another type, and for columns without parts; 42703 for a field that is not there. 0A000 for slices,
    /// and items of arrays of arrays.
    pub(super) fn with_part(
        &mut self,
        whole: Expr,
        target: &Target,
        column: usize,
        assignment: &ResTarget,
        value: Expr,
    ) -> Result<Expr> {
        let of = target.table.columns[column].sql_type;
        self.with_steps((whole, of), &assignment.indirection, assignment, value)
    }

    /// A value in which another one is where some subscripts and fields lead.
    fn with_steps(
        &mut self,
        (whole, of): (Expr, SqlType),
        steps: &[Node],
        assignment: &ResTarget,
        value: Expr,
    ) -> Result<Expr> {
        let location = assignment.location;
        // A value of a domain has the parts of the base type.
        let of = of.base();
        let whole = relabelled(whole, of);
        if let Some(Node { node: Some(NodeEnum::String(name)) }) = steps.first() {
            return self.with_field((whole, of), (&name.sval, &steps[1..]), assignment, value);
        }
        let (subscripts, is_slice, rest) = self.leading_subscripts(steps)?;
        let value = match (rest.is_empty(), of.oid.element()) {
            (false, Some(item)) => {
                let item_value = self.subscripted(whole.clone(), subscripts.clone(), is_slice)?;
                self.with_steps((item_value, item.into()), rest, assignment, value)?
            }
            _ => value,
        };
        match of.oid.element() {
            _ if of.oid == Oid::JSONB => {
                let is_number = |of: Oid| {
                    of != Oid::UNKNOWN && can_coerce(of, Oid::INT4, CastContext::Implicit)
                };
                let is_array = matches!(&subscripts[..], [(_, Some(first)), ..]
                    if is_number(first.sql_type.oid));
                let path = self.json_path(subscripts, is_slice, location)?;
                let literal = |text: &str| {
                    let literal = Literal::Text(text.to_owned());
                    Expr::new(Kind::Literal(literal), Oid::UNKNOWN, location)
                };
                let empty = self.json(literal(if is_array { "[]" } else { "{}" }))?;
                let null = self.json(literal("null"))?;
                let value = self.part(value, Oid::JSONB, assignment)?;
                let either = |first, second| {
                    Expr::new(Kind::Coalesce(vec![first, second]), Oid::JSONB, location)
                };
                let arguments = vec![either(whole, empty), path, either(value, null)];
                call("pando_jsonb_assign", arguments, of, location)
            }
            Some(_) if is_slice => {
                Err(Error::missing("an assignment to a slice of an array").at(location))
            }
            Some(item) => {
                let mut indexes = subscripts.into_iter().filter_map(|(_, upper)| upper);
                let (Some(index), None) = (indexes.next(), indexes.next()) else {
                    let what = "an assignment to an item of an array of arrays";
                    return Err(Error::missing(what).at(location));
                };
                let index = self.bound(index)?;
                let value = self.part(value, item, assignment)?;
                call("pando_array_assign", vec![whole, index, value], of, location)
            }
            None => {
                let message = format!(
                    "cannot subscript type {} because it does not support subscripting",
                    of.oid
                );
                Err(Error::new("42804", message).at(location))
            }
        }
    }

    /// The subscripts with which steps begin, whether they are a slice, and the other steps.
    fn leading_subscripts<'n>(
        &mut self,
        steps: &'n [Node],
    ) -> Result<(Subscripts, bool, &'n [Node])> {
        let (mut subscripts, mut is_slice) = (Vec::new(), false);
        for (at, node) in steps.iter().enumerate() {
            let NodeEnum::AIndices(indices) = names::node(Some(node))? else {
                return Ok((subscripts, is_slice, &steps[at..]));
            };
            is_slice |= indices.is_slice;
            let lower = self.subscript(indices.lidx.as_deref())?;
            subscripts.push((lower, self.subscript(indices.uidx.as_deref())?));
        }
        Ok((subscripts, is_slice, &[]))
    }

    /// A row in which a field has another value, or a part of the field.
    fn with_field(
        &mut self,
        (whole, of): (Expr, SqlType),
        (name, rest): (&str, &[Node]),
        assignment: &ResTarget,
        value: Expr,
    ) -> Result<Expr> {
        let location = assignment.location;
        let what = format!("cannot assign to field \"{name}\" of column \"{}\"", assignment.name);
        let Some(attributes) = of.oid.attributes() else {
            let message = format!("{what} because its type {} is not a composite type", of.oid);
            return Err(Error::new("42804", message).at(location));
        };
        let Some(place) = attributes.iter().position(|(known, _)| known == name) else {
            let message = format!("{what} because there is no such column in data type {}", of.oid);
            return Err(Error::new("42703", message).at(location));
        };
        let mut fields = Vec::with_capacity(attributes.len());
        let mut value = Some(value);
        for (field, (name, sql_type)) in attributes.iter().enumerate() {
            let old = FieldValue { row: whole.clone(), field, name: name.clone() };
            let old = Expr::new(Kind::Field(Box::new(old)), *sql_type, location);
            fields.push(match value.take_if(|_| field == place) {
                None => old,
                Some(value) if !rest.is_empty() => {
                    self.with_steps((old, *sql_type), rest, assignment, value)?
                }
                Some(value) => {
                    let (from, at) = (value.sql_type.oid, value.location.0);
                    let new = self.field_of_type(value, *sql_type, CastContext::Assignment)?;
                    new.ok_or_else(|| {
                        let to = sql_type.oid;
                        let message = format!(
                            "subfield \"{name}\" is of type {to} but expression is of type {from}"
                        );
                        Error::new("42804", message)
                            .hint("You will need to rewrite or cast the expression.")
                            .at(at)
                    })?
                }
            });
        }
        let row = Expr::new(Kind::Row(fields), Oid::RECORD, location);
        let (value, conversion) = (Box::new(row), Conversion::Row);
        let cast = Cast { value, conversion, is_explicit: false };
        Ok(Expr::new(Kind::Cast(cast), SqlType::plain(of.oid), location))
    }

    /// The new value of a part.
    fn part(&mut self, value: Expr, to: Oid, assignment: &ResTarget) -> Result<Expr> {
        let (from, location) = (value.sql_type.oid, value.location.0);
        let value = self.coerce(value, SqlType::plain(to), CastContext::Assignment)?;
        value.ok_or_else(|| {
            let message = format!(
                "subscripted assignment to \"{}\" requires type {to} but expression is of type {from}",
                assignment.name
            );
            Error::new("42804", message)
                .hint("You will need to rewrite or cast the expression.")
                .at(location)
        })
    }

    fn json(&mut self, literal: Expr) -> Result<Expr> {
        self.coerce_implicitly(literal, Oid::JSONB)
    }
}

/// A value as one of a type that represents it.
fn relabelled(value: Expr, to: SqlType) -> Expr {
    if value.sql_type.oid == to.oid {
        return value;
    }
    let (location, conversion) = (value.location.0, Conversion::Relabel);
    let cast = Cast { value: Box::new(value), conversion, is_explicit: false };
    Expr::new(Kind::Cast(cast), to, location)
}

fn call(name: &str, arguments: Vec<Expr>, of: SqlType, location: i32) -> Result<Expr> {
    let function =
        functions::named(name).next().ok_or_else(|| Error::missing("this assignment"))?;
    Ok(Expr::new(Kind::Call(Call::of_system(function.oid, arguments)), of, location))
}
