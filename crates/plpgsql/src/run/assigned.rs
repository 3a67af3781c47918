//! Assignments of expressions that are computed at once.
//!
//! The place of the variable is looked up once, as those of the variables that the expression reads. A text or an array that
//! only becomes longer, or gets another item, is changed where it is.

use super::Machine;
use super::host::{Host, Place as ItemPlace};
use super::programs::{Compute, Place};
use super::scope::Content;
use super::variables::null_refused;
use crate::tree::{Sql, Step, Target};
use values::error::Result;

/// The type of a subscript.
const INTEGER: &str = "integer";

impl<H: Host> Machine<'_, H> {
    /// Assigns an expression to a plain variable, or to a field of a row. `false` if nothing was done, because it has no
    /// program.
    pub(super) fn quick_assign(&mut self, target: &Target, sql: &Sql) -> Result<bool> {
        let Some(at) = self.target_place(target, sql, false) else {
            return self.quick_field(target, sql);
        };
        if self.put_register(at, sql) || self.extended(at, sql)? {
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
        let Some(at) = self.target_place(target, sql, true) else { return Ok(false) };
        let known = self.host.programs().get(subscript.id);
        // It is computed again if the value turns out to have no program.
        if known.is_none_or(|known| !known.program.is_pure()) {
            return Ok(false);
        }
        let Some(number) = self.computed(subscript, Some(INTEGER)) else { return Ok(false) };
        let Some(number) = self.host.number(&number?) else { return Ok(false) };
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
        is_item: bool,
    ) -> Option<(usize, usize)> {
        let at = match self.host.programs().get(sql.id)?.target {
            Some(at) => at,
            None => self.scopes.plain_place(target)?,
        };
        let of = self.scopes.plain_type_at(at)?;
        let of = if is_item { self.host.item_type(of)? } else { of };
        let known = self.host.programs().get_mut(sql.id)?;
        known.target = (known.to.as_deref() == Some(of)).then_some(at);
        known.target
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

    /// Gives a variable the value of an expression, if that is computed in a register. `false` if nothing was done.
    pub(super) fn put_register(&mut self, at: (usize, usize), sql: &Sql) -> bool {
        let Some(new) = self.register(sql) else { return false };
        let Some(known) = self.host.programs().get(sql.id) else { return false };
        match self.scopes.slot_at(at).map(|slot| &mut slot.content) {
            Some(Content::Value { value, .. }) => known.program.put(new, value),
            _ => false,
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
