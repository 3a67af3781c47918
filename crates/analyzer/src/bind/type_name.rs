//! Types as statements write them.

use super::names::{self, qualified};
use crate::error::{Error, Result};
use crate::system::types::numeric_modifier;
use crate::system::{Oid, SqlType};
use grammar::tree::{NodeEnum, TypeName, a_const::Val};

/// The type of a name in a statement, which is none of users.
///
/// # Errors
/// 42704 for names of no type; what PostgreSQL refuses of its modifier.
pub fn sql_type(name: &TypeName) -> Result<SqlType> {
    sql_type_in(name, &|_, _| None)
}

/// The type of a name in a statement, of which a function knows those of users.
pub(super) fn sql_type_in(
    name: &TypeName,
    of_users: &dyn Fn(Option<&str>, &str) -> Option<Oid>,
) -> Result<SqlType> {
    let (schema, bare) = qualified(&name.names);
    let unknown = || {
        let shown = names::parts(&name.names).join(".");
        Error::new("42704", format!("type \"{shown}\" does not exist")).at(name.location)
    };
    if name.pct_type {
        return Err(unknown());
    }
    let is_builtin = schema.is_none()
        && (Oid::of_type_name(bare).is_some()
            || bare.starts_with('_') && Oid::of_type_name(&bare[1..]).is_some());
    if let (false, Some(oid)) = (is_builtin, of_users(schema, bare)) {
        if !name.typmods.is_empty() {
            return Err(invalid(oid, name));
        }
        let array = if name.array_bounds.is_empty() { None } else { oid.array() };
        if array.is_some() && oid.definition().is_some_and(|known| known.base.is_some()) {
            return Err(Error::missing("an array of a domain").at(name.location));
        }
        return Ok(SqlType::plain(array.unwrap_or(oid)));
    }
    if schema.is_some() {
        return Err(unknown());
    }
    let (item, dimensions) =
        match bare.strip_prefix('_').filter(|_| Oid::of_type_name(bare).is_none()) {
            Some(item) => (item, 1),
            None => (bare, 0),
        };
    let oid = Oid::of_type_name(item).ok_or_else(unknown)?;
    let modifier = modifier(oid, name)?;
    match name.array_bounds.is_empty() && dimensions == 0 {
        true => Ok(SqlType { oid, modifier }),
        false => {
            let array = oid.array().ok_or_else(|| {
                let message = format!("could not find array type for data type {oid}");
                Error::new("42704", message).at(name.location)
            })?;
            Ok(SqlType { oid: array, modifier })
        }
    }
}

/// The largest length of `varchar` and `char`.
const LENGTH_MAX: i32 = 10_485_760;

fn modifier(oid: Oid, name: &TypeName) -> Result<i32> {
    let mut numbers = Vec::new();
    for node in &name.typmods {
        match names::node(Some(node))? {
            NodeEnum::AConst(constant) => match &constant.val {
                Some(Val::Ival(number)) => numbers.push(number.ival),
                _ => return Err(invalid(oid, name)),
            },
            _ => return Err(invalid(oid, name)),
        }
    }
    let bounded = |number: i32, least: i32, most: i32, what: &str| match number {
        n if n < least => {
            Err(Error::new("22023", format!("length for type {what} must be at least {least}"))
                .at(name.location))
        }
        n if n > most => {
            Err(Error::new("22023", format!("length for type {what} cannot exceed {most}"))
                .at(name.location))
        }
        n => Ok(n),
    };
    match (oid, numbers.as_slice()) {
        // The grammar gives the fields of an interval as a mask. All fields without a precision are no modifier.
        (Oid::INTERVAL, [INTERVAL_FULL_RANGE]) => Ok(-1),
        (Oid::INTERVAL, [fields]) => Ok((fields << 16) | INTERVAL_FULL_PRECISION),
        (Oid::INTERVAL, [fields, precision]) if *precision >= 0 => {
            Ok((fields << 16) | (*precision).min(6))
        }
        (_, []) => Ok(-1),
        (Oid::VARCHAR, [length]) => Ok(bounded(*length, 1, LENGTH_MAX, "varchar")? + 4),
        (Oid::BPCHAR, [length]) => Ok(bounded(*length, 1, LENGTH_MAX, "char")? + 4),
        (Oid::BIT | Oid::VARBIT, [length]) => bounded(*length, 1, i32::MAX, oid.catalog_name()),
        (Oid::NUMERIC, [precision]) => numeric(*precision, 0, name),
        (Oid::NUMERIC, [precision, scale]) => numeric(*precision, *scale, name),
        (Oid::TIME | Oid::TIMETZ | Oid::TIMESTAMP | Oid::TIMESTAMPTZ, [precision]) => {
            match precision {
                0..=6 => Ok(*precision),
                // PostgreSQL warns and takes the largest precision.
                7.. => Ok(6),
                _ => Err(invalid(oid, name)),
            }
        }
        _ => Err(invalid(oid, name)),
    }
}

/// The mask of all fields of an interval (`INTERVAL_FULL_RANGE`).
const INTERVAL_FULL_RANGE: i32 = 0x7fff;
/// The precision in the modifier of an interval without one (`INTERVAL_FULL_PRECISION`).
const INTERVAL_FULL_PRECISION: i32 = 0xffff;

fn numeric(precision: i32, scale: i32, name: &TypeName) -> Result<i32> {
    if !(1..=1000).contains(&precision) {
        let message = format!("NUMERIC precision {precision} must be between 1 and 1000");
        return Err(Error::new("22023", message).at(name.location));
    }
    if !(-1000..=1000).contains(&scale) {
        let message = format!("NUMERIC scale {scale} must be between -1000 and 1000");
        return Err(Error::new("22023", message).at(name.location));
    }
    Ok(numeric_modifier(precision, scale))
}

fn invalid(oid: Oid, name: &TypeName) -> Error {
    let message = format!("type modifier is not allowed for type \"{}\"", oid.catalog_name());
    Error::new("42601", message).at(name.location)
}
