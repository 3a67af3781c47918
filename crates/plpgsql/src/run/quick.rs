//! Expressions that are computed at once, and statements that consist of nothing else.
//!
//! A host may have a program for an expression ([`Compute`](super::Compute)). The places of the variables that it reads are looked up
//! once: an expression stands in the same blocks whenever it is reached.

use super::context::of_sql;
use super::host::{Host, Variable};
use super::programs::{Compute, Known, PROGRAMS_MAX};
use super::register::{Kind as RegisterKind, Register};
use super::scope::Scopes;
use super::variables::BOOLEAN;
use super::{Flow, Machine, Running};
use crate::tree::{Block, Into, Kind, Rows, Sql, Statement};
use values::error::Result;

/// How far statements came that only compute.
pub(super) enum Quick<'a, V> {
    /// To where they lead.
    Flow(Flow<V>),
    /// To a place in the statement of this number.
    At(usize, Inside<'a, V>),
}

/// How far a statement came.
pub(super) enum Inside<'a, V> {
    /// It has not begun.
    Nothing,
    /// To one of its conditions.
    Condition(Box<Tried<V>>),
    /// To a place in statements within it.
    Body(&'a [Statement], Box<Quick<'a, V>>),
    /// To a place in it, which is a block, or to an error that it may handle.
    Block(&'a Block, Box<Result<Quick<'a, V>>>),
}

/// The conditions of a statement that have been tried.
pub(super) struct Tried<V> {
    /// The number of the first conditions that are not true.
    pub(super) count: usize,
    /// The value of the operand of CASE, once it is known.
    pub(super) operand: Option<V>,
}

impl<V> Default for Tried<V> {
    fn default() -> Self {
        Self { count: 0, operand: None }
    }
}

impl<P> Known<P> {
    /// The value, if it is computed in a register. `None` of others, and of errors.
    pub(super) fn register<V: Clone>(&self, scopes: &Scopes<V>) -> Option<Register>
    where
        P: Compute<V>,
    {
        let place = |number: usize| self.places.get(number)?.as_ref();
        self.program.register(&|number| scopes.at_place(place(number)?))
    }
}

impl<H: Host> Machine<'_, H> {
    /// The value of an expression that has a program. `None` for others.
    pub(super) fn computed(&mut self, sql: &Sql, to: Option<&str>) -> Option<Result<H::Value>> {
        if self.host.programs().get(sql.id)?.to.as_deref() != to {
            return None;
        }
        self.computed_as_known(sql)
    }

    /// As [`Self::computed`], as a value of the type to which the program converts.
    pub(super) fn computed_as_known(&mut self, sql: &Sql) -> Option<Result<H::Value>> {
        let value = self.program_value(sql)?;
        Some(value.map_err(|error| self.of_expression(sql, error)))
    }

    /// The value of an expression or statement that has a program. `None` of others.
    fn program_value(&mut self, sql: &Sql) -> Option<Result<H::Value>> {
        let scopes = &self.scopes;
        let known = self.host.programs().get(sql.id)?;
        let place = |number: usize| known.places.get(number)?.as_ref();
        known.program.compute(&|number| scopes.at_place(place(number)?))
    }

    /// Gives a plain variable the value of a query that consists of one expression. `false` if nothing was done.
    fn quick_into(&mut self, query: &Sql, into: &Into) -> Result<bool> {
        // It is computed again if its value has to be converted.
        let is_pure = |known: &Known<H::Program>| known.program.is_pure();
        let [target] = into.targets.as_slice() else { return Ok(false) };
        if !self.host.programs().get(query.id).is_some_and(is_pure) {
            return Ok(false);
        }
        let Some(at) = self.scopes.plain_place(target) else { return Ok(false) };
        if self.scopes.plain_type_at(at).is_none() {
            return Ok(false);
        }
        if !self.put_register(at, query) {
            let Some(value) = self.program_value(query) else { return Ok(false) };
            let value = value.map_err(of_sql(&query.text))?;
            let of = self.scopes.plain_type_at(at).map(|of| &**of);
            if of != self.host.written_type(&value).as_deref() {
                return Ok(false);
            }
            self.put_at(at, value)?;
        }
        self.count(1)?;
        Ok(true)
    }

    /// Keeps the program of an expression, if the host has one by now.
    pub(super) fn learn(&mut self, sql: &Sql, variables: &[Variable<H::Value>], to: Option<&str>) {
        if sql.id > PROGRAMS_MAX {
            return;
        }
        let Some(program) = self.host.program(sql, variables, to) else { return };
        let used = program.variables();
        let places = self.scopes.places(sql);
        let place = |number: usize| places.get(number).cloned().filter(|_| used.contains(&number));
        let places = (0..places.len()).map(place).collect();
        let known = Known { to: to.map(str::to_owned), program, places, target: None };
        self.host.programs().put(sql.id, known);
    }

    /// Runs statements for as long as they only compute.
    pub(super) fn quickly<'a>(
        &mut self,
        statements: &'a [Statement],
    ) -> Result<Quick<'a, H::Value>> {
        for (at, statement) in statements.iter().enumerate() {
            match self.quick(statement) {
                Ok(Quick::Flow(Flow::Next)) => {}
                Ok(Quick::Flow(flow)) => return Ok(Quick::Flow(flow)),
                Ok(Quick::At(_, inside)) => return Ok(Quick::At(at, inside)),
                failed => return self.noted(failed, statement),
            }
        }
        Ok(Quick::Flow(Flow::Next))
    }

    fn quick<'a>(&mut self, statement: &'a Statement) -> Result<Quick<'a, H::Value>> {
        let is_done = match &statement.kind {
            Kind::Null => true,
            Kind::Assign(target, sql) => self.quick_assign(target, sql)?,
            Kind::AssignItem(target, steps, sql) => self.quick_item(target, steps, sql)?,
            Kind::If(..) | Kind::Case(..) => return self.quick_branch(&statement.kind),
            Kind::Block(block) if block.declarations.is_empty() => return self.quick_block(block),
            Kind::Leave { is_continue, label, when } => {
                let leaves = match when.as_ref().map(|when| self.quick_truth(when)) {
                    None => true,
                    Some(Some(leaves)) => leaves?,
                    Some(None) => return Ok(Quick::At(0, Inside::Nothing)),
                };
                return Ok(Quick::Flow(match (leaves, is_continue) {
                    (false, _) => Flow::Next,
                    (true, true) => Flow::Continue(label.clone()),
                    (true, false) => Flow::Exit(label.clone()),
                }));
            }
            Kind::Perform(query) => match self.program_value(query) {
                Some(value) => {
                    value.map_err(of_sql(&query.text))?;
                    self.count(1)?;
                    true
                }
                None => false,
            },
            Kind::Execute(Rows::Query(query), Some(into)) => self.quick_into(query, into)?,
            Kind::Return(value) if self.returned_row.is_some() => {
                let flow = self.return_changed_row(value.as_ref())?;
                return Ok(flow.map_or(Quick::At(0, Inside::Nothing), Quick::Flow));
            }
            Kind::Return(None) => {
                return Ok(Quick::Flow(Flow::Return(None)));
            }
            Kind::Return(Some(sql)) if self.returns_value() => match self.computed(sql, None) {
                Some(value) => return Ok(Quick::Flow(Flow::Return(Some(value?)))),
                None => false,
            },
            _ => false,
        };
        Ok(if is_done { Quick::Flow(Flow::Next) } else { Quick::At(0, Inside::Nothing) })
    }

    /// The value of an expression whose program computes it in a register. `None` of others, and of errors.
    pub(super) fn register(&mut self, sql: &Sql) -> Option<Register> {
        self.host.programs().get(sql.id)?.register(&self.scopes)
    }

    /// Whether a condition is true, if it has a program. `None` for others.
    pub(super) fn quick_truth(&mut self, condition: &Sql) -> Option<Result<bool>> {
        if let Some(value) = self.register(condition)
            && matches!(value.kind(), RegisterKind::Truth | RegisterKind::Null)
        {
            return Some(Ok(value.is_true()));
        }
        let value = self.computed(condition, Some(BOOLEAN))?;
        Some(value.map(|value| self.host.truth(&value) == Some(true)))
    }

    /// Runs the rest of statements that came so far.
    pub(super) fn rest<'a>(
        &'a mut self,
        statements: &'a [Statement],
        reached: Quick<'a, H::Value>,
    ) -> Running<'a, H::Value> {
        Box::pin(async move {
            let (at, inside) = match reached {
                Quick::Flow(flow) => return Ok(flow),
                Quick::At(at, inside) => (at, inside),
            };
            let statement = &statements[at];
            let flow = match inside {
                Inside::Nothing => self.statement(statement).await?,
                Inside::Condition(tried) => {
                    let done = self.branch(&statement.kind, *tried).await;
                    self.noted(done, statement)?
                }
                Inside::Body(body, reached) => self.rest(body, *reached).await?,
                Inside::Block(block, reached) => {
                    let done = self.rest_of_block(block, *reached).await;
                    self.noted(done, statement)?
                }
            };
            match flow {
                Flow::Next => self.all(&statements[at + 1..]).await,
                flow => Ok(flow),
            }
        })
    }
}
