//! Prepared statements, created by Parse messages and PREPARE.

use super::oid;
use super::texts::Planned;
use query::{Description, Error, Field, Listing, Rows, SqlState, SqlType};
use std::sync::{Arc, OnceLock};

/// A prepared statement.
pub(crate) struct Prepared {
    /// `None` for an empty text.
    pub(crate) statement: Option<Planned>,
    /// The text as displayed to others.
    pub(crate) text: Arc<str>,
    /// The parameter types that the client specified.
    pub(crate) given: Vec<Option<SqlType>>,
    pub(super) description: OnceLock<Arc<Description>>,
    /// `None` for the unnamed statement.
    pub(crate) listing: Option<Listing>,
}

impl Prepared {
    /// The statement of a cursor.
    pub(crate) fn nothing() -> Self {
        let (given, description) = (Vec::new(), OnceLock::new());
        Self { statement: None, text: Arc::from(""), given, description, listing: None }
    }

    /// Whether the columns differ from those that the client was told.
    pub(crate) fn promised_others(&self, rows: &Rows) -> bool {
        let promised = self.description.get().and_then(|known| known.fields.as_ref());
        let types = |fields: &[Field]| -> Vec<u32> {
            fields.iter().map(|field| oid::info(&field.sql_type).oid).collect()
        };
        promised.is_some_and(|promised| types(promised) != types(&rows.fields))
    }
}

/// The error for a statement whose columns have changed.
pub(crate) fn changed_result() -> Error {
    Error::new(SqlState::FeatureNotSupported, "cached plan must not change result type")
        .with_routine("RevalidateCachedQuery")
}

/// The error for an unknown name.
pub(crate) fn no_statement(name: &str) -> Error {
    let message = match name {
        "" => "unnamed prepared statement does not exist".to_owned(),
        name => format!("prepared statement \"{name}\" does not exist"),
    };
    Error::new(SqlState::InvalidSqlStatementName, message)
}
