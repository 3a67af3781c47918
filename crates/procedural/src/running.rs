//! What runs around a statement of a function: queries whose rows loops go through, or that call functions, and triggers.

use parking_lot::Mutex;
use store::catalog::TableId;
use values::error::{Error, Result, SqlState};

/// What runs in a session around a statement of a function, from the outside to the inside.
#[derive(Debug, Default)]
pub struct Running {
    queries: Mutex<Vec<RunningQuery>>,
    /// The tables whose triggers' functions run.
    firing: Mutex<Vec<TableId>>,
}

/// A query that runs.
#[derive(Debug, Clone)]
pub struct RunningQuery {
    /// Its text.
    pub text: String,
    /// The search path with which it began.
    pub search_path: Vec<String>,
    /// Whether it is no loop through the rows of a statement that changes rows, before whose end no transaction ends.
    only_reads: bool,
}

/// Something that runs until this is dropped.
#[derive(Debug)]
pub struct Around<'a> {
    running: &'a Running,
    is_trigger: bool,
}

impl Running {
    /// Notes a query, until [`Self::end`].
    pub(crate) fn begin(&self, query: &str, search_path: Vec<String>, only_reads: bool) {
        let text = query.to_owned();
        self.queries.lock().push(RunningQuery { text, search_path, only_reads });
    }

    /// Ends the innermost query, unless its transaction has ended before.
    pub(crate) fn end(&self) {
        self.queries.lock().pop();
    }

    /// Notes a query, until the result is dropped.
    pub fn query(&self, text: &str, search_path: Vec<String>) -> Around<'_> {
        self.begin(text, search_path, true);
        Around { running: self, is_trigger: false }
    }

    /// Notes a trigger of a table, until the result is dropped.
    pub fn trigger(&self, table: TableId) -> Around<'_> {
        self.firing.lock().push(table);
        Around { running: self, is_trigger: true }
    }

    /// The queries.
    pub fn queries(&self) -> Vec<RunningQuery> {
        self.queries.lock().clone()
    }

    /// The number of queries.
    pub fn depth(&self) -> usize {
        self.queries.lock().len()
    }

    /// Ends the innermost queries, of which so many are left: a statement that was cancelled does not end its own.
    pub fn end_to(&self, depth: usize) {
        self.queries.lock().truncate(depth);
    }

    /// Whether a trigger of a table runs.
    pub fn is_firing(&self, table: TableId) -> bool {
        self.firing.lock().contains(&table)
    }

    /// The number of triggers.
    pub fn trigger_depth(&self) -> i64 {
        self.firing.lock().len() as i64
    }

    /// Checks that the transaction may end.
    ///
    /// # Errors
    /// 55000 in a loop through the rows of a statement that does not only read.
    pub fn check_end(&self) -> Result<()> {
        if self.queries.lock().iter().all(|query| query.only_reads) {
            return Ok(());
        }
        let message =
            "cannot perform transaction commands inside a cursor loop that is not read-only";
        Err(Error::new(SqlState::ObjectNotInPrerequisiteState, message))
    }

    /// Forgets the queries: what they read is theirs when their transaction has ended.
    pub fn end_transaction(&self) {
        self.queries.lock().clear();
    }
}

impl Drop for Around<'_> {
    fn drop(&mut self) {
        match self.is_trigger {
            true => drop(self.running.firing.lock().pop()),
            false => self.running.end(),
        }
    }
}
