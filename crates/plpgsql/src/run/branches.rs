//! IF and CASE: the statements of the first condition that is true.
//!
//! When a condition turns out to have no program, those before it are not evaluated again, nor is the operand of CASE.

use super::host::Host;
use super::quick::{Inside, Quick, Tried};
use super::rows::content;
use super::scope::{Content, Slot};
use super::{Flow, Machine};
use crate::tree::{Kind, Operand, Sql, Statement};
use values::error::{Error, Result, SqlState};

/// The parts of IF or CASE.
#[derive(Clone, Copy)]
struct Branches<'a> {
    /// The operand of CASE.
    operand: Option<&'a Operand>,
    /// The conditions and their statements.
    conditions: &'a [(Sql, Vec<Statement>)],
    /// ELSE. CASE may have none.
    otherwise: Option<&'a [Statement]>,
}

impl<'a> Branches<'a> {
    /// Those of a statement. `None` if it is neither IF nor CASE.
    fn of(kind: &'a Kind) -> Option<Self> {
        match kind {
            Kind::If(conditions, otherwise) => {
                Some(Self { operand: None, conditions, otherwise: Some(otherwise) })
            }
            Kind::Case(operand, conditions, otherwise) => {
                let (operand, otherwise) = (operand.as_ref(), otherwise.as_deref());
                Some(Self { operand, conditions, otherwise })
            }
            _ => None,
        }
    }
}

impl<H: Host> Machine<'_, H> {
    /// IF or CASE, from the first condition on that has not been tried.
    pub(super) async fn branch(
        &mut self,
        kind: &Kind,
        tried: Tried<H::Value>,
    ) -> Result<Flow<H::Value>> {
        let Some(branches) = Branches::of(kind) else { return Ok(Flow::Next) };
        let depth = self.scopes.depth();
        if let Some(operand) = branches.operand {
            let value = match tried.operand {
                Some(value) => value,
                None => self.value(&operand.value, None).await?,
            };
            self.declare_operand(operand, value);
        }
        let rest = branches.conditions.get(tried.count..).unwrap_or_default();
        let chosen = self.chosen(rest).await;
        self.scopes.close_to(depth);
        let Some(chosen) = chosen?.or(branches.otherwise) else {
            return Err(Error::new(SqlState::CaseNotFound, "case not found")
                .with_hint("CASE statement is missing ELSE part."));
        };
        self.all(chosen).await
    }

    /// The statements of the first condition that is true.
    async fn chosen<'b>(
        &mut self,
        conditions: &'b [(Sql, Vec<Statement>)],
    ) -> Result<Option<&'b [Statement]>> {
        for (condition, body) in conditions {
            if self.holds(condition).await? {
                return Ok(Some(body));
            }
        }
        Ok(None)
    }

    /// IF or CASE, for as long as it only computes.
    pub(super) fn quick_branch<'a>(&mut self, kind: &'a Kind) -> Result<Quick<'a, H::Value>> {
        let nothing = Quick::At(0, Inside::Nothing);
        let Some(branches) = Branches::of(kind) else { return Ok(nothing) };
        let depth = self.scopes.depth();
        let mut operand = None;
        if let Some(of) = branches.operand {
            let Some(value) = self.computed(&of.value, None) else { return Ok(nothing) };
            let value = value?;
            operand = Some(value.clone());
            self.declare_operand(of, value);
        }
        let tried = self.quick_condition(branches.conditions);
        self.scopes.close_to(depth);
        let (count, holds) = tried?;
        let chosen = match branches.conditions.get(count) {
            Some((_, body)) => holds.then_some(body.as_slice()),
            None => branches.otherwise,
        };
        let Some(body) = chosen else {
            let tried = Box::new(Tried { count, operand });
            return Ok(Quick::At(0, Inside::Condition(tried)));
        };
        match self.quickly(body)? {
            Quick::Flow(flow) => Ok(Quick::Flow(flow)),
            reached => Ok(Quick::At(0, Inside::Body(body, Box::new(reached)))),
        }
    }

    /// The place of the first condition that is true or has no program, and whether it is true. The place behind the last one if
    /// none is true.
    fn quick_condition(&mut self, conditions: &[(Sql, Vec<Statement>)]) -> Result<(usize, bool)> {
        for (place, (condition, _)) in conditions.iter().enumerate() {
            let Some(holds) = self.quick_truth(condition) else { return Ok((place, false)) };
            if holds? {
                return Ok((place, true));
            }
        }
        Ok((conditions.len(), false))
    }

    /// Declares the variable that has the value of the operand of CASE, in a block of its own.
    fn declare_operand(&mut self, operand: &Operand, value: H::Value) {
        let of = self.host.type_of(&value);
        let held = match (self.host.attributes(&value), self.host.fields(&value)) {
            // A row without a type is a record, which conditions mean by its fields.
            (None, Some(fields)) => {
                let named = (1..).zip(fields).map(|(at, field)| (format!("f{at}"), field));
                Content::Record(Some(named.collect()))
            }
            _ => content(self.host, of, value),
        };
        self.scopes.open(None);
        self.scopes.declare(Slot::new(operand.variable.clone(), held));
    }
}
