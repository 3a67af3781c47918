//! Functions of users: the choice among them and those of the system, and the expansion of bodies in place.
//!
//! A body is bound with a place for each argument ([`Kind::Parameter`] from [`FIRST_PLACE`]), whose type is that of the
//! parameter. Then the arguments take the places. So what is in a body never sees the names around the call.

mod aggregate;
mod body;
mod calls;
mod choice;
mod executed;
mod value;

use super::Binder;
use super::scope::Scope;
use crate::error::{Error, Result};
use crate::system::{Oid, SqlType};
use crate::tree::{Expr, Kind};

pub use aggregate::check_aggregate;
pub use body::check_routine;
pub(super) use calls::is_call_before;
pub use choice::check_defaults;
pub use executed::is_executed;

/// The number of the first place for an argument. Parameters of clients have lower ones.
const FIRST_PLACE: u32 = 1 << 24;

/// The most functions within each other.
const EXPANSIONS_MAX: usize = 64;

/// A function whose body is being bound.
#[derive(Debug)]
pub(super) struct Expansion {
    id: u32,
    name: String,
    /// The names of the parameters, with their places.
    parameters: Vec<(String, Expr)>,
    /// The number of levels around the call, whose names the body does not see.
    floor: usize,
}

impl Binder<'_> {
    /// The number of levels that names do not find.
    pub(super) fn floor(&self) -> usize {
        self.expansions.last().map_or(0, |expansion| expansion.floor)
    }

    /// The levels in which names are looked up, the innermost first.
    pub(super) fn named_scopes(&self) -> std::iter::Rev<std::slice::Iter<'_, Scope>> {
        self.scopes.get(self.floor()..).unwrap_or_default().iter().rev()
    }

    /// The parameter of a name, in the body of a function.
    pub(super) fn routine_parameter(&self, name: &str, location: i32) -> Option<Expr> {
        let mut parameters = self.expansions.last()?.parameters.iter();
        let (_, place) = parameters.find(|(known, _)| known == name && !name.is_empty())?;
        Some(Expr::new(place.kind.clone(), place.sql_type, location))
    }

    /// `f.a` in the body of `f`.
    pub(super) fn parameter_of_routine(
        &self,
        routine: &str,
        name: &str,
        location: i32,
    ) -> Option<Expr> {
        self.expansions.last().filter(|expansion| expansion.name == routine)?;
        self.routine_parameter(name, location)
    }

    /// The variable of a procedural language that a name means outside the bodies of functions.
    pub(super) fn variable(
        &self,
        qualifier: Option<&str>,
        name: &str,
        location: i32,
    ) -> Option<Expr> {
        let outside = self.expansions.is_empty();
        let (number, sql_type) = self.catalog.variable(qualifier, name).filter(|_| outside)?;
        Some(Expr::new(Kind::Parameter(number), sql_type, location))
    }

    /// As [`Self::variable`], where variables hide columns.
    pub(super) fn hiding_variable(
        &self,
        qualifier: Option<&str>,
        name: &str,
        location: i32,
    ) -> Option<Expr> {
        let hides = self.catalog.variables_hide();
        hides.then(|| self.variable(qualifier, name, location)).flatten()
    }

    /// The record of a procedural language that a name means outside the bodies of functions, as a row.
    pub(super) fn record(&self, name: &str, location: i32) -> Option<Expr> {
        let fields = self.catalog.record(name);
        if fields.is_empty() || !self.expansions.is_empty() {
            return None;
        }
        let field = |(name, number, sql_type)| {
            (name, Expr::new(Kind::Parameter(number), sql_type, location))
        };
        let (names, values) = fields.into_iter().map(field).unzip();
        Some(Expr::new(Kind::NamedRow(names, values), Oid::RECORD, location))
    }

    /// `$n` in the body of a function. `None` outside.
    pub(super) fn numbered_parameter(&self, number: i32, location: i32) -> Option<Result<Expr>> {
        let expansion = self.expansions.last()?;
        let place = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        let found = place.and_then(|place| expansion.parameters.get(place));
        Some(match found {
            Some((_, place)) => Ok(Expr::new(place.kind.clone(), place.sql_type, location)),
            None => {
                Err(Error::new("42P02", format!("there is no parameter ${number}")).at(location))
            }
        })
    }

    /// New places for arguments of these types.
    fn new_places(&mut self, types: &[Oid]) -> Vec<Expr> {
        let mut place = |oid: &Oid| {
            self.places += 1;
            let kind = Kind::Parameter(FIRST_PLACE + self.places);
            Expr::new(kind, SqlType::plain(*oid), -1)
        };
        types.iter().map(&mut place).collect()
    }
}
