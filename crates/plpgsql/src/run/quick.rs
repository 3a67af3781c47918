//! Expressions that are computed at once, and statements that consist of nothing else.
//!
//! A host may have a program for an expression ([`Compute`](super::Compute)). The places of the variables that it reads are looked up
//! once: an expression stands in the same blocks whenever it is reached.

use super::host::{Host, Variable};
use super::programs::{Compute, Known, PROGRAMS_MAX};
use super::{Flow, Machine, Running};
use crate::tree::{Kind, Sql, Statement};
use values::error::Result;

/// How far statements came that only compute.
pub(super) enum Quick<'a, V> {
    /// To where they lead.
    Flow(Flow<V>),
    /// To the statement of this number, or to one within it.
    At(usize, Option<Box<Within<'a, V>>>),
}

/// Statements within a statement, and how far they came.
pub(super) struct Within<'a, V> {
    body: &'a [Statement],
    reached: Quick<'a, V>,
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
    fn computed_as_known(&mut self, sql: &Sql) -> Option<Result<H::Value>> {
        let scopes = &self.scopes;
        let known = self.host.programs().get(sql.id)?;
        known.program.compute(&|number| scopes.at_place(known.places.get(number)?.as_ref()?))
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
        let known = Known { to: to.map(str::to_owned), program, places };
        self.host.programs().put(sql.id, known);
    }

    /// Runs statements for as long as they only compute.
    pub(super) fn quickly<'a>(
        &mut self,
        statements: &'a [Statement],
    ) -> Result<Quick<'a, H::Value>> {
        for (at, statement) in statements.iter().enumerate() {
            let done = self.quick(statement);
            match self.noted(done, statement)? {
                Quick::Flow(Flow::Next) => {}
                Quick::Flow(flow) => return Ok(Quick::Flow(flow)),
                Quick::At(_, within) => return Ok(Quick::At(at, within)),
            }
        }
        Ok(Quick::Flow(Flow::Next))
    }

    fn quick<'a>(&mut self, statement: &'a Statement) -> Result<Quick<'a, H::Value>> {
        let not = Ok(Quick::At(0, None));
        match &statement.kind {
            Kind::Null => Ok(Quick::Flow(Flow::Next)),
            Kind::Assign(target, sql) => {
                let Some(of) = self.scopes.plain_type(target) else { return not };
                let known = self.host.programs().get(sql.id);
                if known.is_none_or(|known| known.to.as_deref() != Some(of)) {
                    return not;
                }
                let Some(value) = self.computed_as_known(sql) else { return not };
                self.set(target, value?)?;
                Ok(Quick::Flow(Flow::Next))
            }
            Kind::If(branches, otherwise) => {
                let mut chosen = otherwise;
                for (condition, body) in branches {
                    let boolean = super::variables::BOOLEAN;
                    let Some(value) = self.computed(condition, Some(boolean)) else { return not };
                    if self.host.truth(&value?) == Some(true) {
                        chosen = body;
                        break;
                    }
                }
                match self.quickly(chosen)? {
                    Quick::Flow(flow) => Ok(Quick::Flow(flow)),
                    reached => Ok(Quick::At(0, Some(Box::new(Within { body: chosen, reached })))),
                }
            }
            Kind::Leave { is_continue, label, when } => {
                let leaves = match when {
                    None => true,
                    Some(when) => {
                        let boolean = super::variables::BOOLEAN;
                        let Some(value) = self.computed(when, Some(boolean)) else { return not };
                        self.host.truth(&value?) == Some(true)
                    }
                };
                Ok(Quick::Flow(match (leaves, is_continue) {
                    (false, _) => Flow::Next,
                    (true, true) => Flow::Continue(label.clone()),
                    (true, false) => Flow::Exit(label.clone()),
                }))
            }
            _ => not,
        }
    }

    /// Runs the rest of statements that came so far.
    pub(super) fn rest<'a>(
        &'a mut self,
        statements: &'a [Statement],
        reached: Quick<'a, H::Value>,
    ) -> Running<'a, H::Value> {
        Box::pin(async move {
            let (at, within) = match reached {
                Quick::Flow(flow) => return Ok(flow),
                Quick::At(at, within) => (at, within),
            };
            let flow = match within {
                Some(within) => self.rest(within.body, within.reached).await?,
                None => self.statement(&statements[at]).await?,
            };
            match flow {
                Flow::Next => self.all(&statements[at + 1..]).await,
                flow => Ok(flow),
            }
        })
    }
}
