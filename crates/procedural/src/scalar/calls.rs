//! Calls of functions of users in expressions of plain values.
//!
//! A call stands for a variable behind those of the statement. It is made when the expression asks for the value of that
//! variable: what CASE, AND, OR and COALESCE leave out is not called. An expression that calls must not give up in the middle,
//! or its functions would be called again: it has only values that are known whenever its variables have their types.

use super::{Node, Root, Scalar, Stop};
use crate::results::fitting;
use crate::value::Value;
use datafusion::common::ScalarValue;
use lowering::Shape;
use planner::NamedParameter;
use std::cell::{Cell, OnceCell, RefCell};
use std::sync::Arc;
use store::catalog::{RelationId, SqlType};
use typed_tree::Executed;
use values::error::{Error, Result};
use values::types::plan_field;

/// Somebody who calls functions of users.
pub trait Caller: Send + Sync {
    /// The value of a function for arguments.
    ///
    /// # Errors
    /// Those of the function.
    fn call(&self, callee: &Arc<Callee>, arguments: Vec<ScalarValue>) -> Result<ScalarValue>;
}

/// A function of a user, as an expression calls it.
#[derive(Debug)]
pub struct Callee {
    /// The function.
    pub id: RelationId,
    /// What it takes and returns.
    pub shape: Shape,
}

/// A call.
#[derive(Debug)]
struct Call {
    callee: Arc<Callee>,
    of: SqlType,
    arguments: Vec<Node>,
}

/// The calls of an expression.
#[derive(Debug)]
pub(super) struct Calls {
    /// The number of variables of the statement.
    variables: usize,
    all: Vec<Call>,
    /// The variables that the expression reads, with the types that their values must have.
    read: Vec<(usize, SqlType)>,
}

impl Calls {
    /// Whether nothing is called.
    pub(super) fn are_none(&self) -> bool {
        self.all.is_empty()
    }

    /// Adds the places of the variables in the arguments, and removes those of the calls.
    pub(super) fn note(&self, places: &mut Vec<usize>) {
        let arguments = self.all.iter().flat_map(|call| &call.arguments);
        arguments.for_each(|argument| argument.note(places));
        places.retain(|place| *place < self.variables);
    }
}

/// The calls that are found while an expression is compiled.
pub(super) struct Found<'a> {
    /// Whether a function may be called so.
    may_call: &'a dyn Fn(&Executed) -> bool,
    calls: RefCell<Vec<Call>>,
    /// Whether a part may turn out not to be known.
    is_uncertain: Cell<bool>,
}

impl<'a> Found<'a> {
    pub(super) fn new(may_call: &'a dyn Fn(&Executed) -> bool) -> Self {
        Self { may_call, calls: RefCell::default(), is_uncertain: Cell::new(false) }
    }

    /// Whether a function may be called so.
    pub(super) fn allows(&self, executed: &Executed) -> bool {
        !executed.is_foreign && executed.columns.is_empty() && (self.may_call)(executed)
    }

    /// Notes a part of a type. Those of other types than these may turn out not to be known.
    pub(super) fn note_type(&self, of: &SqlType) {
        use SqlType as T;
        let is_certain =
            matches!(of, T::SmallInt | T::Integer | T::BigInt | T::Boolean | T::Double | T::Text)
                || matches!(of, T::Varchar(None) | T::Date | T::Timestamp | T::TimestampTz);
        if !is_certain {
            self.note_uncertain();
        }
    }

    /// Notes a part that may turn out not to be known.
    pub(super) fn note_uncertain(&self) {
        self.is_uncertain.set(true);
    }

    /// Adds a call with arguments of types. Returns its number.
    pub(super) fn add(
        &self,
        executed: &Executed,
        (arguments, types): (Vec<Node>, Vec<SqlType>),
        of: &SqlType,
    ) -> usize {
        let shape = Shape {
            arguments: types,
            columns: vec![of.clone()],
            is_row: false,
            is_list: false,
            is_set: false,
            field: Arc::new(plan_field("value", of, true)),
        };
        let callee = Arc::new(Callee { id: RelationId(executed.id), shape });
        let mut calls = self.calls.borrow_mut();
        calls.push(Call { callee, of: of.clone(), arguments });
        calls.len() - 1
    }

    /// The calls of an expression over variables. `None` if it calls, and may turn out not to be known.
    pub(super) fn calls(self, root: &Root, names: &[NamedParameter]) -> Option<Calls> {
        let all = self.calls.into_inner();
        let is_known = all.is_empty() || !self.is_uncertain.get();
        let mut calls = Calls { variables: names.len(), all, read: Vec::new() };
        if !calls.all.is_empty() {
            let mut places = Vec::new();
            root.note(&mut places);
            calls.note(&mut places);
            places.sort_unstable();
            places.dedup();
            let typed = |place: usize| Some((place, names.get(place)?.sql_type.clone()));
            calls.read = places.into_iter().filter_map(typed).collect();
        }
        is_known.then_some(calls)
    }
}

impl Scalar {
    /// Whether it calls functions of users.
    pub(crate) fn has_calls(&self) -> bool {
        !self.calls.are_none()
    }

    /// As [`Self::of_values`], where somebody calls its functions.
    pub(crate) fn of_values_calling(
        &self,
        names: &[NamedParameter],
        values: &[ScalarValue],
        caller: Option<&dyn Caller>,
    ) -> Option<Result<Value>> {
        match caller {
            None => self.of_values(names, values),
            Some(caller) => {
                let values = super::held(names, values);
                self.value_calling(&|place| values.get(place), caller)
            }
        }
    }

    /// The value for variables, where somebody calls its functions. `None` if a variable has another type than before: then
    /// nothing has been called.
    pub(crate) fn value_calling<'v>(
        &self,
        variable: &dyn Fn(usize) -> Option<&'v Value>,
        caller: &dyn Caller,
    ) -> Option<Result<Value>> {
        let is_same = |(place, of): &(usize, SqlType)| {
            variable(*place).is_some_and(|value| value.scalar.data_type() == of.arrow())
        };
        if !self.calls.read.iter().all(is_same) {
            return None;
        }
        let values = self.calls.all.iter().map(|_| OnceCell::new()).collect();
        let (calls, error) = (&self.calls, RefCell::new(None));
        let evaluation = Evaluation { calls, variable, caller, values, error };
        let value = self.value(&|place| evaluation.value(place));
        value.or_else(|| evaluation.error.take().map(Err))
    }
}

/// One evaluation of an expression.
struct Evaluation<'a, 'v> {
    calls: &'a Calls,
    variable: &'a dyn Fn(usize) -> Option<&'v Value>,
    caller: &'a dyn Caller,
    /// The values of the calls that have been made.
    values: Vec<OnceCell<Value>>,
    /// Why a call has no value.
    error: RefCell<Option<Error>>,
}

impl Evaluation<'_, '_> {
    /// The value of a variable, or of a call that stands for one.
    fn value(&self, place: usize) -> Option<&Value> {
        let Some(number) = place.checked_sub(self.calls.variables) else {
            return (self.variable)(place);
        };
        let (call, value) = (self.calls.all.get(number)?, self.values.get(number)?);
        if value.get().is_none() {
            match self.called(call) {
                Ok(called) => drop(value.set(called)),
                Err(Stop::Error(error)) => drop(self.error.replace(Some(error))),
                Err(Stop::Unknown) => {}
            }
        }
        value.get()
    }

    fn called(&self, call: &Call) -> std::result::Result<Value, Stop> {
        let Shape { arguments: types, field, .. } = &call.callee.shape;
        let mut arguments = Vec::with_capacity(types.len());
        for (argument, of) in call.arguments.iter().zip(types) {
            let value = argument.datum(&|place| self.value(place))?.value(of);
            arguments.push(value.scalar);
        }
        // Positions in the source of the function are none in the statement.
        let called = self.caller.call(&call.callee, arguments).map_err(Error::without_position)?;
        let scalar = fitting(called, field.data_type()).map_err(Error::from)?;
        Ok(Value { scalar, of: call.of.clone() })
    }
}
