//! Conversion of errors for transport between servers.

use crate::error::{Error, SqlState};
use store::Failure;

/// Converts an error for transport to another server.
pub fn to_store_error(error: Error) -> store::Error {
    let owned = |text: Option<&str>| text.map(ToOwned::to_owned);
    let subject = error.subject().clone();
    store::Error::Failed(Box::new(Failure {
        sql_state: error.state().code().to_owned(),
        message: error.message().to_owned(),
        detail: owned(error.detail()),
        hint: owned(error.hint()),
        schema: subject.schema,
        table: subject.table,
        column: subject.column,
        constraint: subject.constraint,
        literal: owned(error.literal()),
        context: owned(error.context()),
    }))
}

/// Restores an error that another server has sent.
pub(super) fn from_failure(failure: Failure) -> Error {
    let state = SqlState::chosen(&failure.sql_state);
    let mut error = Error::new(state, failure.message);
    error = failure.detail.into_iter().fold(error, Error::with_detail);
    error = failure.hint.into_iter().fold(error, Error::with_hint);
    if let (Some(schema), Some(table)) = (failure.schema, failure.table) {
        error = error.of_table(&schema, &table);
    }
    error = failure.column.iter().fold(error, |error, column| error.of_column(column));
    error = failure.constraint.iter().fold(error, |error, name| error.of_constraint(name));
    error = failure.context.into_iter().fold(error, Error::with_context);
    failure.literal.iter().fold(error, |error, text| error.at_literal(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_survive_transport() {
        let error = Error::new(SqlState::CheckViolation, "no")
            .with_detail("more")
            .with_hint("do")
            .of_table("public", "t")
            .of_constraint("positive")
            .with_context("around")
            .at_literal("x");
        assert_eq!(Error::from(to_store_error(error.clone())), error);
        let chosen = Error::new(SqlState::chosen("P4242"), "a user's");
        assert_eq!(Error::from(to_store_error(chosen.clone())), chosen);
        let plain = Error::new(SqlState::DivisionByZero, "division by zero");
        assert_eq!(Error::from(to_store_error(plain.clone())), plain);
    }
}
