//! ARRAY[...], subscripts, fields and rows.

use super::Binder;
use super::expression::too_deep;
use super::names;
use crate::error::{Error, Result};
use crate::resolve::can_coerce;
use crate::system::casts::CastContext;
use crate::system::{Oid, SqlType};
use crate::tree::{Call, Cast, Conversion, Expr, Kind, Literal, Subscripts};
use grammar::tree::{AArrayExpr, AIndirection, Node, NodeEnum};

/// The dimensions that an array can have.
const DIMENSIONS_MAX: usize = 6;

/// How many subscripts may follow a document.
const ACCESSES_MAX: usize = 128;

/// Refuses an array of values that have items, and are no arrays of several dimensions in it: vectors, and domains over
/// arrays.
///
/// # Errors
/// 0A000.
pub(super) fn refuse_vectors(item: Oid, location: i32) -> Result<()> {
    let is_vector = matches!(item, Oid::INT2VECTOR | Oid::OIDVECTOR);
    if is_vector || (item.base() != item && item.base().element().is_some()) {
        return Err(Error::missing(format!("an array of {item}")).at(location));
    }
    Ok(())
}

/// The letters that a `name` holds.
const NAME_LENGTH: i64 = 64;

/// `substr(text, integer, integer)`
const SUBSTRING: Oid = Oid(877);

/// The SQLSTATE of columns that do not exist.
const UNDEFINED_COLUMN: &str = "42703";

impl Binder<'_> {
    /// ARRAY[...], as the given array type if a cast names it.
    pub(super) fn array(&mut self, array: &AArrayExpr, wanted: Option<Oid>) -> Result<Expr> {
        let location = array.location;
        let mut items = Vec::with_capacity(array.elements.len());
        for node in &array.elements {
            let item = match names::node(Some(node))? {
                // Inner brackets are an array of the same type.
                NodeEnum::AArrayExpr(inner) => grammar::growing(|| self.array(inner, wanted))?,
                other => self.expression(other)?,
            };
            items.push(item);
        }
        let nested = items.iter().any(|item| item.sql_type.oid.element().is_some());
        if let Some(wanted) = wanted {
            let to = if nested { wanted } else { wanted.element().unwrap_or(Oid::TEXT) };
            let mut converted = Vec::with_capacity(items.len());
            for item in items {
                let (from, at) = (item.sql_type.oid, item.location.0);
                let item = self.coerce(item, SqlType::plain(to), CastContext::Explicit)?;
                converted.push(item.ok_or_else(|| super::coerce::cannot_cast(from, to).at(at))?);
            }
            return Ok(Expr::new(Kind::Array(converted), wanted, location));
        }
        if items.is_empty() {
            let message = "cannot determine type of empty array";
            return Err(Error::new("42P18", message)
                .hint("Explicitly cast to the desired type, for example ARRAY[]::integer[].")
                .at(location));
        }
        let (items, sql_type) = self.at_common_type(items, "ARRAY")?;
        refuse_vectors(sql_type.oid, location)?;
        let array_type = match nested {
            true => sql_type.oid,
            false => sql_type.oid.array().ok_or_else(|| {
                let message = format!("could not find array type for data type {}", sql_type.oid);
                Error::new("42704", message).at(location)
            })?,
        };
        Ok(Expr::new(Kind::Array(items), array_type, location))
    }

    /// Subscripts and fields behind a value.
    pub(super) fn indirection(&mut self, indirection: &AIndirection) -> Result<Expr> {
        self.indirection_of(indirection, &indirection.indirection)
    }

    /// A value behind some of the subscripts and fields.
    pub(super) fn indirection_of(
        &mut self,
        indirection: &AIndirection,
        steps: &[Node],
    ) -> Result<Expr> {
        let mut value = self.required(indirection.arg.as_deref())?;
        let mut subscripts = Subscripts::new();
        let mut is_slice = false;
        for node in steps {
            match names::node(Some(node))? {
                NodeEnum::AIndices(indices) => {
                    is_slice |= indices.is_slice;
                    let lower = self.subscript(indices.lidx.as_deref())?;
                    let upper = self.subscript(indices.uidx.as_deref())?;
                    subscripts.push((lower, upper));
                }
                NodeEnum::String(name) => {
                    value = self.subscripted(value, std::mem::take(&mut subscripts), is_slice)?;
                    is_slice = false;
                    let location = value.location.0;
                    let is_only = steps.len() == 1 && value.sql_type.oid.is_row();
                    let argument = indirection.arg.as_deref().filter(|_| is_only).cloned();
                    value = match (self.field(value, &name.sval, location), argument) {
                        (Err(error), Some(argument)) if error.state == UNDEFINED_COLUMN => {
                            let call = self.computed_field(argument, &name.sval, location)?;
                            call.ok_or(error)?
                        }
                        (field, _) => field?,
                    };
                }
                _ => return Err(Error::missing("* behind a value").at(value.location.0)),
            }
        }
        self.subscripted(value, subscripts, is_slice)
    }

    pub(super) fn subscript(&mut self, node: Option<&Node>) -> Result<Option<Expr>> {
        self.optional(node)
    }

    pub(super) fn subscripted(
        &mut self,
        array: Expr,
        subscripts: Subscripts,
        is_slice: bool,
    ) -> Result<Expr> {
        if subscripts.is_empty() {
            return Ok(array);
        }
        let (base, location) = (array.sql_type.base(), array.location.0);
        let array = if base.oid == array.sql_type.oid {
            array
        } else {
            let (value, conversion) = (Box::new(array), Conversion::Relabel);
            let cast = Cast { value, conversion, is_explicit: false };
            Expr::new(Kind::Cast(cast), base, location)
        };
        let (oid, count) = (base.oid, subscripts.len());
        if oid == Oid::JSONB {
            if count > ACCESSES_MAX {
                let hint = format!("A value may have {ACCESSES_MAX} subscripts.");
                return Err(too_deep().hint(hint).at(location));
            }
            return self.json_subscripted(array, subscripts, is_slice);
        }
        if let (Oid::NAME, [(_, Some(index))], false) = (oid, subscripts.as_slice(), is_slice)
            && let Kind::Literal(Literal::Integer(index)) = index.kind
        {
            return self.letter(array, index);
        }
        let Some(element) = oid.element() else {
            let message =
                format!("cannot subscript type {oid} because it does not support subscripting");
            return Err(Error::new("42804", message).at(location));
        };
        if count > DIMENSIONS_MAX {
            let message = format!(
                "number of array dimensions ({count}) exceeds the maximum allowed ({DIMENSIONS_MAX})"
            );
            return Err(Error::new("54000", message).at(location));
        }
        let mut converted = Vec::with_capacity(count);
        for (lower, upper) in subscripts {
            // Among slices a single number is a slice from 1.
            let lower = lower.map(|bound| self.bound(bound)).transpose()?;
            let upper = upper.map(|bound| self.bound(bound)).transpose()?;
            converted.push((lower, upper));
        }
        let sql_type = if is_slice { oid } else { element };
        let kind = Kind::Subscript { array: Box::new(array), subscripts: converted, is_slice };
        Ok(Expr::new(kind, sql_type, location))
    }

    /// `j['a'][1]`: the value at a path.
    fn json_subscripted(
        &mut self,
        value: Expr,
        subscripts: Subscripts,
        is_slice: bool,
    ) -> Result<Expr> {
        let location = value.location.0;
        let path = self.json_path(subscripts, is_slice, location)?;
        self.apply("#>", Some(value), path, location)
    }

    /// The subscripts of a `jsonb` value as a path.
    pub(super) fn json_path(
        &mut self,
        subscripts: Subscripts,
        is_slice: bool,
        location: i32,
    ) -> Result<Expr> {
        if is_slice {
            return Err(Error::new("0A000", "jsonb subscript does not support slices").at(location));
        }
        let mut path = Vec::with_capacity(subscripts.len());
        for subscript in subscripts.into_iter().filter_map(|(_, upper)| upper) {
            let (from, at) = (subscript.sql_type.oid, subscript.location.0);
            let is_number = can_coerce(from, Oid::INT4, CastContext::Implicit);
            if from != Oid::UNKNOWN && !is_number && from.category() != 'S' {
                let message = format!("subscript type {from} is not supported");
                let hint = "jsonb subscript must be coercible to either integer or text.";
                return Err(Error::new("42804", message).hint(hint).at(at));
            }
            path.push(self.explicit(subscript, SqlType::plain(Oid::TEXT), at)?);
        }
        Ok(Expr::new(Kind::Array(path), Oid::TEXT_ARRAY, location))
    }

    /// `name[index]`: a letter of a name, from 0.
    fn letter(&mut self, name: Expr, index: i64) -> Result<Expr> {
        let location = name.location.0;
        if !(0..NAME_LENGTH).contains(&index) {
            return Ok(Expr::new(Kind::Literal(Literal::Null), Oid::CHAR, location));
        }
        let text = self.explicit(name, SqlType::plain(Oid::TEXT), location)?;
        let number = |value| Expr::new(Kind::Literal(Literal::Integer(value)), Oid::INT4, location);
        let call = Call::of_system(SUBSTRING, vec![text, number(index + 1), number(1)]);
        let value = Box::new(Expr::new(Kind::Call(call), Oid::TEXT, location));
        let cast = Cast { value, conversion: Conversion::Relabel, is_explicit: true };
        Ok(Expr::new(Kind::Cast(cast), Oid::CHAR, location))
    }

    pub(super) fn bound(&mut self, bound: Expr) -> Result<Expr> {
        let location = bound.location.0;
        let bound = self.coerce(bound, SqlType::plain(Oid::INT4), CastContext::Assignment)?;
        bound.ok_or_else(|| {
            Error::new("42804", "array subscript must have type integer").at(location)
        })
    }

    /// The values of ROW(...) or VALUES, where `t.*` and `(row).*` stand for all columns.
    pub(super) fn row_values(&mut self, nodes: &[Node]) -> Result<Vec<Expr>> {
        let mut values = Vec::new();
        for node in nodes {
            match names::node(Some(node))? {
                NodeEnum::ColumnRef(reference) if super::target::is_star(reference) => {
                    values.extend(self.star(reference)?.into_iter().map(|output| output.expr));
                }
                NodeEnum::AIndirection(indirection) if super::target::has_star(indirection) => {
                    let fields = self.fields(indirection)?.into_iter();
                    values.extend(fields.map(|output| output.expr));
                }
                other => values.push(self.expression(other)?),
            }
        }
        Ok(values)
    }
}
