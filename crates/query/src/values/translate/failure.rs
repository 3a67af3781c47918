//! Errors of statements on their way between servers.

use crate::values::error::{Culprit, Error, SqlState};
use store::Failure;

/// An error as it is told to another server.
pub(crate) fn told(error: Error) -> store::Error {
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
        literal: match error.culprit() {
            Some(Culprit::Literal(text)) => Some(text.clone()),
            _ => None,
        },
    }))
}

/// An error that another server has told.
pub(super) fn heard(failure: Failure) -> Error {
    let state = SqlState::of_code(&failure.sql_state).unwrap_or(SqlState::InternalError);
    let mut error = Error::new(state, failure.message);
    error = failure.detail.into_iter().fold(error, Error::with_detail);
    error = failure.hint.into_iter().fold(error, Error::with_hint);
    if let (Some(schema), Some(table)) = (failure.schema, failure.table) {
        error = error.of_table(&schema, &table);
    }
    error = failure.column.iter().fold(error, |error, column| error.of_column(column));
    error = failure.constraint.iter().fold(error, |error, name| error.of_constraint(name));
    failure.literal.iter().fold(error, |error, text| error.blaming_literal(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_heard() {
        let error = Error::new(SqlState::CheckViolation, "no")
            .with_detail("more")
            .with_hint("do")
            .of_table("public", "t")
            .of_constraint("positive")
            .blaming_literal("x");
        assert_eq!(Error::from(told(error.clone())), error);
        let plain = Error::new(SqlState::DivisionByZero, "division by zero");
        assert_eq!(Error::from(told(plain.clone())), plain);
    }
}
