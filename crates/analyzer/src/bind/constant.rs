//! Constants and parameters.

use super::Binder;
use crate::error::{Error, Result};
use crate::system::{Oid, SqlType};
use crate::tree::{Expr, Kind, Literal};
use grammar::numbers::without_negative_zero;
use grammar::tree::{AConst, ParamRef, a_const::Val};

/// A constant. A string is of unknown type.
pub(super) fn constant(constant: &AConst) -> Result<Expr> {
    let location = constant.location;
    let literal = |literal, oid: Oid| Ok(Expr::new(Kind::Literal(literal), oid, location));
    match &constant.val {
        None if constant.isnull => literal(Literal::Null, Oid::UNKNOWN),
        // An integer of value 0 has no field.
        None => literal(Literal::Integer(0), Oid::INT4),
        Some(Val::Ival(number)) => literal(Literal::Integer(number.ival.into()), Oid::INT4),
        Some(Val::Fval(number)) => number_literal(&number.fval, location),
        Some(Val::Boolval(value)) => literal(Literal::Boolean(value.boolval), Oid::BOOL),
        Some(Val::Sval(text)) => literal(Literal::Text(text.sval.clone()), Oid::UNKNOWN),
        Some(Val::Bsval(_)) => {
            Err(Error::new("0A000", "bit strings are not supported").at(location))
        }
    }
}

/// A number that is no `int4`: `int8` if it fits, else `numeric`.
fn number_literal(text: &str, location: i32) -> Result<Expr> {
    let digits = text.replace('_', "");
    let integer = match digits.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => i64::from_str_radix(&digits[2..], 16).ok(),
        Some("0o") => i64::from_str_radix(&digits[2..], 8).ok(),
        Some("0b") => i64::from_str_radix(&digits[2..], 2).ok(),
        _ => digits.parse::<i64>().ok(),
    };
    Ok(match integer {
        Some(number) => {
            let oid = if i32::try_from(number).is_ok() { Oid::INT4 } else { Oid::INT8 };
            Expr::new(Kind::Literal(Literal::Integer(number)), oid, location)
        }
        None => {
            let digits = without_negative_zero(&digits).to_owned();
            Expr::new(Kind::Literal(Literal::Text(digits)), Oid::NUMERIC, location)
        }
    })
}

/// The largest number of a parameter. A client can give values to 65,535.
const PARAMETERS_MAX: i32 = 1_000_000;

impl Binder<'_> {
    /// `$n`. Its type is unknown until a context decides it.
    pub(super) fn parameter(&mut self, parameter: &ParamRef) -> Result<Expr> {
        let location = parameter.location;
        let number = parameter.number;
        if let Some(found) = self.numbered_parameter(number, location) {
            return found;
        }
        if let Some(named) = self.variable(None, &format!("${number}"), location) {
            return Ok(named);
        }
        if !(1..=PARAMETERS_MAX).contains(&number) {
            let message = format!("there is no parameter ${number}");
            return Err(Error::new("42P02", message).at(location));
        }
        let place = (number - 1) as usize;
        if self.parameters.len() <= place {
            self.parameters.resize(place + 1, None);
        }
        let sql_type = self.parameters[place].unwrap_or(SqlType::plain(Oid::UNKNOWN));
        match sql_type.oid {
            Oid::UNKNOWN => self.open.insert((location, number as u32)),
            _ => self.open.remove(&(location, number as u32)),
        };
        Ok(Expr::new(Kind::Parameter(number as u32), sql_type, location))
    }

    /// The error for a parameter that got its type from other places than its first one.
    pub(super) fn undecided(&self) -> Option<Error> {
        let (location, number) = self.open.iter().find(|(location, number)| {
            matches!(self.parameters.get(*number as usize - 1), Some(Some(_)))
                && !self.decided.contains(&(*number, *location))
        })?;
        let message = format!("could not determine data type of parameter ${number}");
        Some(Error::new("42P08", message).at(*location))
    }
}
