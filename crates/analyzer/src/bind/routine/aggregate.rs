//! Calls of users' aggregates, and the steps that they consist of.

use super::Expansion;
use super::choice::Called;
use crate::bind::aggregate::{no_star, order_by_arguments};
use crate::bind::operator::polymorphic;
use crate::bind::scope::Clause;
use crate::bind::{Binder, Catalog, contains};
use crate::error::{Error, Result};
use crate::routine::{Routine, RoutineStep};
use crate::system::{Oid, SqlType};
use crate::tree::walk::children_mut;
use crate::tree::{AggregateCall, Expr, Kind, Literal, SortKey, UserAggregate};
use grammar::tree::FuncCall;
use std::sync::Arc;

/// Checks the steps of a new aggregate.
///
/// # Errors
/// What PostgreSQL refuses, and what [`Error::missing`] names.
pub fn check_aggregate(routine: &Arc<Routine>, catalog: &dyn Catalog) -> Result<()> {
    let Some(state) = routine.aggregate.as_ref().map(|aggregate| aggregate.state) else {
        return Err(Error::missing("an aggregate without steps"));
    };
    let types = routine.arguments.clone();
    if types.iter().any(|oid| oid.is_polymorphic()) {
        // The types that it is called with decide what its steps are.
        return Ok(());
    }
    Binder::new(catalog, &[]).steps(routine, &types, SqlType::plain(state)).map(drop)
}

impl Binder<'_> {
    /// The call of an aggregate, which belongs to a query level.
    pub(super) fn user_aggregate(&mut self, called: Called, call: &FuncCall) -> Result<Expr> {
        let location = call.location;
        let routine = &called.routine;
        refuse_group(routine, call).map_err(|error| error.at(location))?;
        if let Some(definition) = call.over.as_deref() {
            let user = self.steps_of(&called)?;
            let sql_type = SqlType::plain(called.result);
            return self.user_window((called.arguments, sql_type, user), call, definition);
        }
        let user = self.steps_of(&called)?;
        let (mut arguments, mut direct_arguments) = (called.arguments, 0);
        let mut order_by: Vec<SortKey> = match &routine.aggregate {
            Some(aggregate) if aggregate.is_ordered_set => {
                direct_arguments = aggregate.direct_arguments.min(arguments.len());
                let keys = arguments.split_off(direct_arguments).into_iter();
                let pairs = keys.zip(called.order_by);
                pairs.map(|(expr, key)| SortKey { expr, ..key }).collect()
            }
            _ => self.in_clause(Clause::AggregateArgument, |binder| {
                binder.sort_keys_of_expressions(&call.agg_order)
            })?,
        };
        let filter = self.condition(call.agg_filter.as_deref(), Clause::Filter, "FILTER")?;
        if call.agg_distinct {
            order_by_arguments(call, &mut order_by, &arguments)?;
        }
        let aggregate = AggregateCall {
            function: Oid(0),
            arguments,
            distinct: call.agg_distinct,
            order_by,
            filter,
            direct_arguments,
            sql_type: SqlType::plain(called.result),
            user: Some(Box::new(user)),
        };
        self.place_aggregate(aggregate, location)
    }

    /// What an aggregate does with the arguments of a call.
    fn steps_of(&mut self, called: &Called) -> Result<UserAggregate> {
        let routine = &called.routine;
        let types: Vec<Oid> = called.arguments.iter().map(|value| value.sql_type.oid).collect();
        let state = routine.aggregate.as_ref().map(|aggregate| aggregate.state);
        let actual = polymorphic(&routine.arguments, &types, -1)?;
        let Some(state) = state.and_then(|state| actual.actual(state)) else {
            return Err(Error::missing("an aggregate without a type of its state"));
        };
        let steps = self.steps(routine, &types, SqlType::plain(state));
        steps.map_err(|error| Error { position: None, ..error })
    }

    /// What an aggregate does with arguments of these types.
    fn steps(&mut self, routine: &Routine, types: &[Oid], state: SqlType) -> Result<UserAggregate> {
        let Some(aggregate) = &routine.aggregate else {
            return Err(Error::missing("an aggregate without steps"));
        };
        let (direct, of_rows) = types.split_at(aggregate.direct_arguments.min(types.len()));
        let arguments: Vec<Oid> = [state.oid].iter().chain(of_rows).copied().collect();
        let transition = self.step(routine, &aggregate.transition, &arguments, "transition")?;
        require(&transition, state, &aggregate.transition, "transition")?;
        let is_strict = aggregate.transition.is_strict;
        if is_strict && aggregate.initial.is_none() && of_rows.first() != Some(&state.oid) {
            let message = "must not omit initial value when transition function is strict and \
                           transition type is not compatible with input type";
            return Err(Error::new("42P13", message));
        }
        let combine = aggregate.combine.as_ref();
        let both = [state.oid, state.oid];
        let combined =
            combine.map(|step| self.step(routine, step, &both, "combine")).transpose()?;
        if let (Some(value), Some(step)) = (&combined, combine) {
            require(value, state, step, "combine")?;
        }
        let extra: &[Oid] = if aggregate.finish_takes_all { of_rows } else { &[] };
        let given: Vec<Oid> = [state.oid].iter().chain(direct).copied().collect();
        let finish = aggregate.finish.as_ref();
        let finish = finish.map(|step| self.final_step(routine, step, &given, extra));
        let initial = aggregate.initial.clone();
        let initial = initial.map(|text| Expr::new(Kind::Literal(Literal::Text(text)), state, -1));
        Ok(UserAggregate {
            name: format!("{}.{}", routine.schema, routine.name),
            state,
            initial,
            transition,
            is_strict,
            combine: combined,
            is_combined_strictly: combine.is_some_and(|step| step.is_strict),
            finish: finish.transpose()?,
            is_ordered_set: aggregate.is_ordered_set,
        })
    }

    /// The final function over places of these types, with NULL for further arguments.
    fn final_step(
        &mut self,
        routine: &Routine,
        step: &RoutineStep,
        given: &[Oid],
        extra: &[Oid],
    ) -> Result<Expr> {
        let types: Vec<Oid> = given.iter().chain(extra).copied().collect();
        let mut value = self.step(routine, step, &types, "final")?;
        put_nulls(&mut value, given.len());
        Ok(value)
    }

    /// The value of a function over places of these types.
    fn step(
        &mut self,
        routine: &Routine,
        step: &RoutineStep,
        types: &[Oid],
        what: &str,
    ) -> Result<Expr> {
        let place = |(at, oid): (usize, &Oid)| {
            (String::new(), Expr::new(Kind::Output(at), SqlType::plain(*oid), -1))
        };
        let number = |number: usize| match step.is_variadic && number == types.len() {
            true => format!("VARIADIC ${number}"),
            false => format!("${number}"),
        };
        let numbers: Vec<String> = (1..=types.len()).map(number).collect();
        let text = format!("{}({})", step.name, numbers.join(", "));
        if self.expansions.iter().any(|outer| outer.id == routine.id) {
            return Err(Error::missing(format!("the recursive aggregate {}", routine.signature())));
        }
        self.expansions.push(Expansion {
            id: routine.id,
            name: routine.name.clone(),
            parameters: types.iter().enumerate().map(place).collect(),
            floor: self.scopes.len(),
        });
        let calls = self.calls.len();
        let is_other = |part: &Expr| {
            matches!(
                part.kind,
                Kind::Subquery(_) | Kind::Aggregate(..) | Kind::Window(..) | Kind::Set(..)
            )
        };
        let before = self.before();
        let mut value = grammar::growing(|| self.default_argument(&text));
        // A query is executed for each row, as a step has none around it.
        if value.as_ref().is_ok_and(|value| contains(value, &mut { is_other })) {
            self.go_back(&before);
            self.executes_all = true;
            value = grammar::growing(|| self.default_argument(&text));
            self.executes_all = false;
        }
        self.expansions.pop();
        let value = value?;
        if self.calls.len() > calls || contains(&value, &mut { is_other }) {
            return Err(Error::missing(format!(
                "the {what} function {} of an aggregate",
                step.name
            )));
        }
        Ok(value)
    }
}

/// Puts NULL in the places from one on.
fn put_nulls(expr: &mut Expr, first: usize) {
    match expr.kind {
        Kind::Output(place) if place >= first => *expr = Expr::null(expr.sql_type),
        Kind::Output(_) => {}
        _ => grammar::growing(|| children_mut(expr, &mut |part| put_nulls(part, first))),
    }
}

/// Refuses WITHIN GROUP where an aggregate has none, requires it where it has, and refuses OVER there. Requires `*` of an
/// aggregate without arguments.
fn refuse_group(routine: &Routine, call: &FuncCall) -> Result<()> {
    let name = &routine.name;
    let is_ordered_set = routine.aggregate.as_ref().is_some_and(|of| of.is_ordered_set);
    match (is_ordered_set, call.agg_within_group) {
        (false, true) => {
            let message =
                format!("{name} is not an ordered-set aggregate, so it cannot have WITHIN GROUP");
            Err(Error::new("42809", message))
        }
        (true, false) => {
            let message = format!("WITHIN GROUP is required for ordered-set aggregate {name}");
            Err(Error::new("42809", message))
        }
        (true, true) if call.over.is_some() => {
            let message = format!("OVER is not supported for ordered-set aggregate {name}");
            Err(Error::new("0A000", message))
        }
        (false, false) if call.args.is_empty() && !call.agg_star => Err(no_star(name)),
        _ => Ok(()),
    }
}

/// Requires that a step returns the state.
fn require(value: &Expr, state: SqlType, step: &RoutineStep, what: &str) -> Result<()> {
    if value.sql_type.oid == state.oid {
        return Ok(());
    }
    let message = format!("return type of {what} function {} is not {}", step.name, state.oid);
    Err(Error::new("42804", message))
}
