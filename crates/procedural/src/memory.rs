//! What a host has planned, kept from one call of a function to the next.

use crate::host::StatementHost;
use crate::known::{Key, Known, Shared};
use crate::program::Program;
use crate::shapes::Shapes;
use crate::statements::Statements;
use crate::value::Value;
use planner::Conflict;
use plpgsql::Programs;
use std::collections::HashMap;

/// What a host has planned for the texts of one function.
#[derive(Default)]
pub struct Memory {
    known: HashMap<Key, Known>,
    programs: Programs<Program>,
    shapes: Shapes,
    /// The first values of variables, by their types.
    nulls: HashMap<String, Value>,
}

impl Memory {
    /// What is known in another statement with the same catalog and settings: without expressions that may have other values
    /// there.
    pub fn lasting(mut self) -> Self {
        self.known.values_mut().for_each(Known::settle);
        self.programs.retain(Program::is_lasting);
        self
    }
}

impl<S: Statements> StatementHost<S> {
    /// A host that knows what an earlier one has planned for the same function.
    pub fn resume(statements: S, memory: Memory) -> Self {
        let mut host = Self::new(statements);
        (host.known, host.programs) = (memory.known, memory.programs);
        (host.shapes, host.nulls) = (memory.shapes, memory.nulls);
        host
    }

    /// As [`Self::resume`], for the statements of a function in SQL, in which columns hide parameters.
    pub fn of_sql(statements: S, memory: Memory) -> Self {
        let mut host = Self::resume(statements, memory);
        host.conflict = Conflict::Column;
        host
    }

    /// Also knows what other hosts of its function have found out.
    pub(crate) fn sharing(mut self, shared: Option<Shared>) -> Self {
        self.shared = shared;
        self
    }

    /// Forgets expressions that may have other values in the next transaction.
    pub(crate) fn settle(&mut self) {
        self.known.values_mut().for_each(Known::settle);
        (self.programs, self.caller) = (Programs::default(), None);
    }

    /// Forgets what was planned.
    pub(crate) fn forget(&mut self) {
        for known in self.known.values_mut() {
            (known.compiled, known.scalar, known.is_planned) = (None, None, false);
        }
        self.nulls.clear();
        self.shapes.clear();
        (self.programs, self.caller, self.shared) = (Programs::default(), None, None);
    }

    /// What runs its statements.
    pub fn statements_mut(&mut self) -> &mut S {
        &mut self.statements
    }

    /// What it has planned.
    pub fn into_memory(mut self) -> Memory {
        if self.has_moved {
            self.forget();
        }
        // Who calls functions for one statement does not for the next one.
        self.programs.retain(|program| !matches!(program, Program::Calling(..)));
        let Self { known, programs, shapes, nulls, .. } = self;
        Memory { known, programs, shapes, nulls }
    }
}
