//! What a host has planned, kept from one call of a function to the next.

use crate::host::{Key, Known, StatementHost, Statements};
use std::collections::HashMap;

/// What a host has planned for the texts of one function.
#[derive(Default)]
pub struct Memory(HashMap<Key, Known>);

impl<S: Statements> StatementHost<S> {
    /// A host that knows what an earlier one has planned for the same function.
    pub fn resume(statements: S, memory: Memory) -> Self {
        let mut host = Self::new(statements);
        host.known = memory.0;
        host
    }

    /// What runs its statements.
    pub fn statements_mut(&mut self) -> &mut S {
        &mut self.statements
    }

    /// What it has planned.
    pub fn into_memory(self) -> Memory {
        Memory(self.known)
    }
}
