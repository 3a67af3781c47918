//! Prepared statements: by Parse messages and by PREPARE, executed by messages and by EXECUTE.

use super::oid;
use query::{Description, Error, Field, Listing, Rows, SqlState, SqlType, Statement};
use std::sync::{Arc, OnceLock};

/// A prepared statement.
pub(crate) struct Prepared {
    /// `None` for a text without a statement.
    pub(crate) statement: Option<(Statement, query::Prepared)>,
    /// Its text, as others may see it.
    pub(crate) text: Arc<str>,
    /// The parameter types that the client said.
    pub(crate) given: Vec<Option<SqlType>>,
    pub(super) description: OnceLock<Arc<Description>>,
    /// `None` without a name.
    pub(crate) listing: Option<Listing>,
}

impl Prepared {
    /// What a cursor is made from.
    pub(crate) fn nothing() -> Self {
        let (given, description) = (Vec::new(), OnceLock::new());
        Self { statement: None, text: Arc::from(""), given, description, listing: None }
    }

    /// Whether the client was told of other columns than there are now.
    pub(crate) fn promised_others(&self, rows: &Rows) -> bool {
        let promised = self.description.get().and_then(|known| known.fields.as_ref());
        let types = |fields: &[Field]| -> Vec<u32> {
            fields.iter().map(|field| oid::info(&field.sql_type).oid).collect()
        };
        promised.is_some_and(|promised| types(promised) != types(&rows.fields))
    }
}

/// What a statement is answered with whose columns are others than its client was told.
pub(crate) fn changed_result() -> Error {
    Error::new(SqlState::FeatureNotSupported, "cached plan must not change result type")
        .with_routine("RevalidateCachedQuery")
}

/// What a name that no prepared statement has is answered with.
pub(crate) fn no_statement(name: &str) -> Error {
    let message = match name {
        "" => "unnamed prepared statement does not exist".to_owned(),
        name => format!("prepared statement \"{name}\" does not exist"),
    };
    Error::new(SqlState::InvalidSqlStatementName, message)
}
