//! Listing prepared statements and cursors in `pg_prepared_statements` and `pg_cursors`. An entry is listed until its
//! [`Listing`] is dropped.

use super::Session;
use crate::context::Listed;
use catalog_views::session_context::{Entry, Kind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

/// Keeps an entry listed.
#[derive(Debug)]
pub struct Listing {
    listed: Arc<Listed>,
    number: u64,
    entry: Arc<Entry>,
}

impl Listing {
    /// Sets the parameter types of a prepared statement.
    pub fn described(&self, description: &super::Description) {
        if let Kind::Prepared { parameters, .. } = &self.entry.kind {
            parameters.get_or_init(|| description.parameters.clone());
        }
    }

    /// Notes that the transaction of a cursor has committed.
    pub fn committed(&self) {
        if let Kind::Cursor { is_committed, .. } = &self.entry.kind {
            is_committed.store(true, Ordering::Relaxed);
        }
    }

    /// Counts an execution of a prepared statement.
    pub fn executed(&self) {
        if let Kind::Prepared { executions, .. } = &self.entry.kind {
            executions.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Listing {
    fn drop(&mut self) {
        self.listed.remove(self.number);
    }
}

impl Session {
    /// Lists a prepared statement.
    pub fn list_prepared(&self, name: &str, statement: &str, from_sql: bool) -> Listing {
        let executions = AtomicU64::new(0);
        let parameters = OnceLock::new();
        self.list(name, statement, Kind::Prepared { from_sql, parameters, executions })
    }

    /// Lists a cursor.
    pub fn list_cursor(
        &self,
        name: &str,
        statement: &str,
        is_binary: bool,
        scrolls: bool,
        holds: bool,
    ) -> Listing {
        let is_committed = AtomicBool::new(false);
        self.list(name, statement, Kind::Cursor { holds, is_binary, scrolls, is_committed })
    }

    fn list(&self, name: &str, statement: &str, kind: Kind) -> Listing {
        let (name, statement) = (name.to_owned(), statement.to_owned());
        let search_path = self.inner().settings.load().search_path.clone();
        let made = SystemTime::now();
        let entry = Arc::new(Entry { name, statement, search_path, made, kind });
        let listed = Arc::clone(&self.inner().context.listed);
        let number = listed.add(Arc::clone(&entry));
        Listing { listed, number, entry }
    }
}
