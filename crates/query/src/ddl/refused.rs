//! What PostgreSQL defines and Pando does not: each is refused by its name, with what to do instead.

use crate::values::error::Error;
use datafusion::sql::sqlparser::ast::{
    Statement, TableConstraint, UserDefinedTypeRepresentation as Representation,
};

/// What to do where values of other columns than the key's are to be unique.
const UNIQUE_HINT: &str = "The primary key is the one constraint that makes values unique.";
/// What to do where values must be another table's.
const FOREIGN_KEY_HINT: &str = "Leave the clause out: rows are not checked against other tables, and joins need no constraint.";

/// UNIQUE, of a column or a table.
pub(super) fn unique() -> Error {
    Error::unsupported("UNIQUE constraints are not supported").with_hint(UNIQUE_HINT)
}

/// REFERENCES and FOREIGN KEY.
pub(super) fn foreign_key() -> Error {
    Error::unsupported("foreign keys are not supported").with_hint(FOREIGN_KEY_HINT)
}

/// A constraint of a table that there is none of here.
pub(super) fn constraint(constraint: &TableConstraint) -> Error {
    match constraint {
        TableConstraint::Unique(_) => unique(),
        TableConstraint::ForeignKey(_) => foreign_key(),
        other => Error::unsupported(format!("{other} is not supported")),
    }
}

/// A statement that there is none of here.
pub(super) fn statement(statement: &Statement) -> Error {
    let (what, hint) = match statement {
        Statement::CreateIndex(index) if index.unique => ("unique indexes", UNIQUE_HINT),
        Statement::CreateIndex(_) => (
            "indexes",
            "Rows are in the order of the primary key: begin it with the columns that queries ask for.",
        ),
        Statement::CreateType { representation: Some(Representation::Enum { .. }), .. } => {
            ("enum types", "Use text with CHECK (... IN (...)).")
        }
        Statement::CreateType { .. } => ("types of your own", "Use several columns, or json."),
        Statement::CreateDomain(_) => ("domains", "Use the type with a CHECK on the column."),
        Statement::CreateTrigger(_) => (
            "triggers",
            "GENERATED ALWAYS AS (...) STORED computes columns, DEFAULT fills and CHECK refuses.",
        ),
        Statement::CreateFunction(_) => ("functions of your own", "Use a view, or WITH."),
        other => {
            let text = other.to_string();
            let command: Vec<&str> = text.split_whitespace().take(2).collect();
            return Error::unsupported(format!("{} is not supported", command.join(" ")));
        }
    };
    Error::unsupported(format!("{what} are not supported")).with_hint(hint)
}
