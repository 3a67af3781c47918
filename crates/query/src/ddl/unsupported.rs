//! Errors for definitions of PostgreSQL that are not supported, with hints for alternatives.

use datafusion::sql::sqlparser::ast::{
    Statement, TableConstraint, UserDefinedTypeRepresentation as Representation,
};
use values::error::Error;

/// The hint for UNIQUE.
const UNIQUE_HINT: &str = "Only the primary key guarantees unique values.";
/// The hint for foreign keys.
const FOREIGN_KEY_HINT: &str =
    "Omit the clause. Referential integrity is not checked, and joins do not need it.";

/// The error for UNIQUE.
pub(super) fn unique() -> Error {
    Error::unsupported("UNIQUE constraints are not supported").with_hint(UNIQUE_HINT)
}

/// The error for REFERENCES and FOREIGN KEY.
pub(super) fn foreign_key() -> Error {
    Error::unsupported("foreign keys are not supported").with_hint(FOREIGN_KEY_HINT)
}

/// The error for an unsupported table constraint.
pub(super) fn constraint(constraint: &TableConstraint) -> Error {
    match constraint {
        TableConstraint::Unique(_) => unique(),
        TableConstraint::ForeignKey(_) => foreign_key(),
        other => Error::unsupported(format!("{other} is not supported")),
    }
}

/// The error for an unsupported statement.
pub(super) fn statement(statement: &Statement) -> Error {
    let (what, hint) = match statement {
        Statement::CreateIndex(index) if index.unique => ("unique indexes", UNIQUE_HINT),
        Statement::CreateIndex(_) => (
            "indexes",
            "Rows are sorted by the primary key. Put the columns of frequent conditions first.",
        ),
        Statement::CreateType { representation: Some(Representation::Enum { .. }), .. } => {
            ("enum types", "Use text with CHECK (... IN (...)).")
        }
        Statement::CreateType { .. } => ("user-defined types", "Use several columns, or json."),
        Statement::CreateDomain(_) => ("domains", "Use the type with a CHECK on the column."),
        Statement::CreateTrigger(_) => {
            ("triggers", "Use GENERATED ALWAYS AS (...) STORED, DEFAULT or CHECK.")
        }
        Statement::CreateFunction(_) => ("user-defined functions", "Use a view, or WITH."),
        other => {
            let text = other.to_string();
            let command: Vec<&str> = text.split_whitespace().take(2).collect();
            return Error::unsupported(format!("{} is not supported", command.join(" ")));
        }
    };
    Error::unsupported(format!("{what} are not supported")).with_hint(hint)
}
