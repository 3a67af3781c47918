//! Assignments of expressions that are computed at once.
//!
//! The place of the variable is looked up once, as those of the variables that the expression reads. A text or an array that
//! only becomes longer, or gets another item, is changed where it is.

use super::Machine;
use super::host::{Host, Place as ItemPlace};
use super::programs::{Compute, KnownTarget, Place};
use super::register::{Kind as RegisterKind, Register};
use super::scope::Content;
use super::variables::null_refused;
use crate::tree::{Sql, Step, Target};
use std::sync::Arc;
use values::error::Result;

/// The type of a subscript.
const INTEGER: &str = "integer";

impl<H: Host> Machine<'_, H> {
    /// Assigns an expression to a plain variable, or to a field of a row. `false` if nothing was done, because it has no
    /// program.
    pub(super) fn quick_assign(&mut self, target: &Target, sql: &Sql) -> Result<bool> {
        if self.put_again(sql) {
            return Ok(true);
        }
        let Some(at) = self.target_place(target, sql, None) else {
            return self.quick_field(target, sql);
        };
        if self.extended(at, sql)? {
            return Ok(true);
        }
        let Some(value) = self.computed_as_known(sql) else { return Ok(false) };
        self.put_at(at, value?)?;
        Ok(true)
    }

    /// Assigns an expression to a field of a row. `false` if nothing was done.
    fn quick_field(&mut self, target: &Target, sql: &Sql) -> Result<bool> {
        let Some(of) = self.scopes.field_type(target) else { return Ok(false) };
        let known = self.host.programs().get(sql.id);
        if known.is_none_or(|known| known.to.as_deref() != Some(of)) {
            return Ok(false);
        }
        let Some(value) = self.computed_as_known(sql) else { return Ok(false) };
        self.set(target, value?)?;
        Ok(true)
    }

    /// Assigns an expression to an item of a plain variable. `false` if nothing was done.
    pub(super) fn quick_item(
        &mut self,
        target: &Target,
        steps: &[Step],
        sql: &Sql,
    ) -> Result<bool> {
        let [Step::Item(subscript)] = steps else { return Ok(false) };
        let Some(at) = self.target_place(target, sql, Some(H::item_type)) else { return Ok(false) };
        let number = match self.register(subscript) {
            Some(number) if number.kind() == RegisterKind::Integer => number.integer(),
            _ => {
                // It is computed again if the value turns out to have no program.
                let known = self.host.programs().get(subscript.id);
                if known.is_none_or(|known| !known.program.is_pure()) {
                    return Ok(false);
                }
                let number = self.computed(subscript, Some(INTEGER));
                let Some(number) = number else { return Ok(false) };
                let Some(number) = self.host.number(&number?) else { return Ok(false) };
                number
            }
        };
        if self.put_register_item(at, number, sql)? {
            return Ok(true);
        }
        let Some(item) = self.computed_as_known(sql) else { return Ok(false) };
        let item = item?;
        let Some(slot) = self.scopes.slot_at(at) else { return Ok(false) };
        if let Content::Value { value, .. } = &mut slot.content
            && !self.host.put_item(value, number, &item)?
        {
            *value = self.host.with_item(value, &[ItemPlace::Item(number)], item)?;
        }
        Ok(true)
    }

    /// The place of a plain variable to whose type, or to that of whose items, the program of an expression converts.
    fn target_place(
        &mut self,
        target: &Target,
        sql: &Sql,
        item_type: Option<for<'h, 't> fn(&'h H, &'t str) -> Option<&'t str>>,
    ) -> Option<(usize, usize)> {
        let known = self.host.programs().get(sql.id)?;
        if let Some(target) = &known.target
            && self.scopes.plain_type_at(target.at).is_some_and(|of| target.is_of(of))
        {
            return Some(target.at);
        }
        let at = match &known.target {
            Some(target) => target.at,
            None => self.scopes.plain_place(target)?,
        };
        let of = self.scopes.plain_type_at(at)?;
        let assigned = match item_type {
            Some(item_type) => item_type(self.host, of)?,
            None => of,
        };
        let known = self.host.programs().get_mut(sql.id)?;
        let fits = known.to.as_deref() == Some(assigned);
        known.target = fits.then(|| KnownTarget { at, of: Arc::clone(of) });
        fits.then_some(at)
    }

    /// Makes a variable longer, if that is all that the assignment of an expression does.
    fn extended(&mut self, at: (usize, usize), sql: &Sql) -> Result<bool> {
        let Some(known) = self.host.programs().get(sql.id) else { return Ok(false) };
        let place = |number: usize| known.places.get(number)?.as_ref();
        let is_own = |of: &Place| (of.scope, of.slot) == at && of.field.is_none();
        if !known.program.extends().and_then(place).is_some_and(is_own) {
            return Ok(false);
        }
        let scopes = &self.scopes;
        let more = known.program.extension(&|number| scopes.at_place(place(number)?));
        let more = match more {
            None => return Ok(false),
            Some(Ok(more)) => more,
            Some(Err(error)) => return Err(self.of_expression(sql, error)),
        };
        match self.scopes.slot_at(at).map(|slot| &mut slot.content) {
            Some(Content::Value { value, .. }) => known.program.extend(value, more),
            _ => Ok(false),
        }
    }

    /// Gives the variable to which an expression was assigned before its value, if that is computed in a register. `false` if
    /// nothing was done.
    fn put_again(&mut self, sql: &Sql) -> bool {
        let Some(known) = self.host.programs().get(sql.id) else { return false };
        let Some(target) = &known.target else { return false };
        let Some(new) = known.register(&self.scopes) else { return false };
        let Some(slot) = self.scopes.slot_at(target.at) else { return false };
        match &mut slot.content {
            Content::Value { of, value } if !slot.is_constant && target.is_of(of) => {
                known.program.put(new, value)
            }
            _ => false,
        }
    }

    /// Gives a variable the value of an expression, if that is computed in a register. `false` if nothing was done.
    pub(super) fn put_register(&mut self, at: (usize, usize), sql: &Sql) -> bool {
        self.with_register(at, sql, |program, new, value| program.put(new, value)).unwrap_or(false)
    }

    /// As [`Self::put_register`], of an item of an array.
    fn put_register_item(&mut self, at: (usize, usize), number: i64, sql: &Sql) -> Result<bool> {
        let put = |program: &H::Program, new, array: &mut _| program.put_item(new, number, array);
        self.with_register(at, sql, put).unwrap_or(Ok(false))
    }

    /// Changes a variable with the value of an expression, if that is computed in a register. `None` if it is not.
    fn with_register<T>(
        &mut self,
        at: (usize, usize),
        sql: &Sql,
        change: impl FnOnce(&H::Program, Register, &mut H::Value) -> T,
    ) -> Option<T> {
        let known = self.host.programs().get(sql.id)?;
        let new = known.register(&self.scopes)?;
        match &mut self.scopes.slot_at(at)?.content {
            Content::Value { value, .. } => Some(change(&known.program, new, value)),
            _ => None,
        }
    }

    /// Puts a value of the right type into a plain variable.
    pub(super) fn put_at(&mut self, at: (usize, usize), new: H::Value) -> Result<()> {
        let Some(slot) = self.scopes.slot_at(at) else { return Ok(()) };
        if slot.not_null && self.host.is_null(&new) {
            return Err(null_refused(&slot.name));
        }
        if let Content::Value { value, .. } = &mut slot.content {
            *value = new;
        }
        Ok(())
    }
}
