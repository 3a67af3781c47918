//! The function that a call means, among those of the system and those of users.

use crate::bind::from::attributes_of;
use crate::bind::function::no_function;
use crate::bind::names;
use crate::bind::operator::polymorphic;
use crate::bind::scope::{Clause, Scope};
use crate::bind::{Binder, Catalog};
use crate::error::{Error, Result};
use crate::resolve::{Arguments, Chosen, Signature, among};
use crate::routine::Routine;
use crate::system::casts::CastContext;
use crate::system::functions::{Function, FunctionKind};
use crate::system::{Oid, SqlType};
use crate::tree::{Column, Expr, Kind, SortKey};
use grammar::tree::FuncCall;
use std::sync::Arc;

/// A function of a user with its arguments.
#[derive(Debug, Clone)]
pub(super) struct Called {
    pub(super) routine: Arc<Routine>,
    /// The arguments, with the types of the parameters.
    pub(super) arguments: Vec<Expr>,
    /// The type of the result.
    pub(super) result: Oid,
    /// The columns of the result.
    pub(super) columns: Vec<Column>,
    /// WITHIN GROUP, whose values are the last arguments.
    pub(super) order_by: Vec<SortKey>,
}

/// What a call means.
pub(super) enum Meant {
    /// A function of the system, for these arguments, the last of which have names.
    BuiltIn(Vec<Expr>, Vec<String>),
    /// A function of a user.
    Routine(Called),
}

/// A function of either kind.
#[derive(Clone, Copy)]
enum Candidate<'a> {
    BuiltIn(&'static Function),
    Routine(&'a Arc<Routine>),
}

impl Signature for Candidate<'_> {
    fn arguments(&self) -> &[Oid] {
        match self {
            Self::BuiltIn(function) => function.arguments(),
            Self::Routine(routine) => &routine.arguments,
        }
    }

    fn variadic(&self) -> Option<Oid> {
        match self {
            Self::BuiltIn(function) => function.variadic(),
            Self::Routine(routine) => routine.variadic,
        }
    }

    fn defaults(&self) -> usize {
        match self {
            Self::BuiltIn(function) => function.defaults(),
            Self::Routine(routine) => routine.defaults.len(),
        }
    }

    fn named(&self, name: &str) -> Option<usize> {
        match self {
            Self::BuiltIn(function) => function.named(name),
            Self::Routine(routine) => (&***routine).named(name),
        }
    }

    fn schema(&self) -> &str {
        match self {
            Self::BuiltIn(function) => function.schema(),
            Self::Routine(routine) => &routine.schema,
        }
    }
}

impl Binder<'_> {
    /// What a call means. `None` if no user has a function of the name, or the name is an aggregate's.
    pub(super) fn meant(&mut self, call: &FuncCall) -> Result<Option<Meant>> {
        let parts = names::parts(&call.funcname);
        let (schema, name) = match parts.as_slice() {
            ["pg_catalog", _] | [] => return Ok(None),
            [name] => (None, *name),
            [.., schema, name] => (Some(*schema), *name),
        };
        let routines = self.catalog.routines(schema, name)?;
        if routines.is_empty() {
            return Ok(None);
        }
        let built_in = || crate::system::functions::named(name).filter(|_| schema.is_none());
        let is_scalar = |function: &Function| {
            matches!(function.kind, FunctionKind::Scalar | FunctionKind::Procedure)
        };
        if !built_in().all(is_scalar) {
            return Ok(None);
        }
        let (mut values, names) = self.call_arguments(&call.args)?;
        let order_by = match call.agg_within_group {
            true => self.in_clause(Clause::AggregateArgument, |binder| {
                binder.within_group(&call.agg_order)
            })?,
            false => Vec::new(),
        };
        values.extend(order_by.iter().map(|key| key.expr.clone()));
        let types: Vec<Oid> = values.iter().map(|value| value.sql_type.oid).collect();
        let shown: Vec<&str> = names.iter().map(String::as_str).collect();
        let is_variadic_array = call.func_variadic;
        let arguments = Arguments { types: &types, names: &shown, is_variadic_array };
        let candidates =
            built_in().map(Candidate::BuiltIn).chain(routines.iter().map(Candidate::Routine));
        let chosen = among(candidates, &arguments).map_err(|failure| {
            no_function(&parts.join("."), &types, &shown, failure).at(call.location)
        })?;
        match chosen.function {
            Candidate::BuiltIn(_) => Ok(Some(Meant::BuiltIn(values, names))),
            Candidate::Routine(routine) => {
                self.catalog.may_call(routine).map_err(|error| error.at(call.location))?;
                let called = self.called(&chosen, routine, values, call.location)?;
                Ok(Some(Meant::Routine(Called { order_by, ..called })))
            }
        }
    }

    fn called(
        &mut self,
        chosen: &Chosen<Candidate<'_>>,
        routine: &Arc<Routine>,
        values: Vec<Expr>,
        location: i32,
    ) -> Result<Called> {
        let ordered = self.with_defaults(routine, &chosen.places, values)?;
        let types: Vec<Oid> = ordered.iter().map(|value| value.sql_type.oid).collect();
        let actual = polymorphic(&chosen.arguments, &types, location)?;
        let undetermined = || {
            let message = "could not determine polymorphic type because input has type unknown";
            Error::new("42804", message).at(location)
        };
        let mut arguments = Vec::with_capacity(ordered.len());
        for (value, declared) in ordered.into_iter().zip(&chosen.arguments) {
            let to = actual.actual(*declared).ok_or_else(undetermined)?;
            arguments.push(self.coerce_implicitly(value, to)?);
        }
        if chosen.variadic > 0 {
            let items = arguments.split_off(arguments.len() - chosen.variadic);
            let array = routine.arguments.last().and_then(|array| actual.actual(*array));
            let array = array.ok_or_else(undetermined)?;
            arguments.push(Expr::new(Kind::Array(items), array, location));
        }
        let result = actual.actual(routine.result).ok_or_else(undetermined)?;
        let mut columns = routine.columns.clone();
        if result.is_composite() {
            columns = attributes_of(result);
        }
        for column in &mut columns {
            let oid = actual.actual(column.sql_type.oid).ok_or_else(undetermined)?;
            column.sql_type = SqlType { oid, ..column.sql_type };
        }
        let (routine, order_by) = (Arc::clone(routine), Vec::new());
        Ok(Called { routine, arguments, result, columns, order_by })
    }

    /// The arguments in the order of the parameters, with defaults.
    fn with_defaults(
        &mut self,
        routine: &Routine,
        places: &[Option<usize>],
        values: Vec<Expr>,
    ) -> Result<Vec<Expr>> {
        let mut values: Vec<Option<Expr>> = values.into_iter().map(Some).collect();
        let first_default = places.len().saturating_sub(routine.defaults.len());
        let mut ordered = Vec::with_capacity(places.len());
        for (argument, place) in places.iter().enumerate() {
            let given = place.and_then(|place| values.get_mut(place)?.take());
            ordered.push(match given {
                Some(value) => value,
                None => {
                    let default = routine.defaults.get(argument.saturating_sub(first_default));
                    let default = default.map_or("NULL", String::as_str);
                    self.default_of(default, routine.arguments.get(argument))?
                }
            });
        }
        Ok(ordered)
    }

    /// The default of a parameter, converted to its type as in an assignment.
    fn default_of(&mut self, text: &str, to: Option<&Oid>) -> Result<Expr> {
        let value = self.default_argument(text)?;
        let Some(to) = to else { return Ok(value) };
        let (from, location) = (value.sql_type.oid, value.location.0);
        self.coerce(value, SqlType::plain(*to), CastContext::Assignment)?.ok_or_else(|| {
            let message = format!("argument of DEFAULT must be type {to}, not type {from}");
            Error::new("42804", message).at(location)
        })
    }
}

/// Checks the defaults of the parameters of a new function.
///
/// # Errors
/// What is wrong with one of them.
pub fn check_defaults(routine: &Routine, catalog: &dyn Catalog) -> Result<()> {
    let mut binder = Binder::new(catalog, &[]);
    let select = binder.next_select();
    binder.scopes.push(Scope::new(select));
    let first = routine.arguments.len().saturating_sub(routine.defaults.len());
    let mut all = routine.defaults.iter().zip(routine.arguments.iter().skip(first));
    all.try_for_each(|(default, to)| {
        let bind = |binder: &mut Binder<'_>| binder.default_of(default, Some(to));
        binder.in_clause(Clause::ParameterDefault, bind).map(drop)
    })
}
