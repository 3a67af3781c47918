//! Constraints of tables, and what all constraints have in common.

use crate::check::Check;
use crate::index::Unique;
use crate::names::{incomplete, some, texts};
use crate::{Error, Result};
use grammar::expression_text;
use grammar::tree::{ConstrType, Constraint};

/// A constraint of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableConstraint {
    /// PRIMARY KEY, with its columns.
    PrimaryKey(Vec<String>),
    /// UNIQUE.
    Unique(Unique),
    /// CHECK.
    Check(Check),
}

impl TableConstraint {
    pub(crate) fn of(constraint: &Constraint) -> Result<Self> {
        missing_attributes(constraint)?;
        let at = constraint.location;
        match constraint.contype() {
            ConstrType::ConstrPrimary if !constraint.indexname.is_empty() => {
                Err(Error::missing("PRIMARY KEY USING INDEX").at(at))
            }
            ConstrType::ConstrPrimary => Ok(Self::PrimaryKey(texts(&constraint.keys))),
            ConstrType::ConstrCheck => Ok(Self::Check(Check {
                name: some(&constraint.conname),
                condition: expression(constraint)?,
            })),
            ConstrType::ConstrUnique => Ok(Self::Unique(Unique::of(constraint, None)?)),
            ConstrType::ConstrForeign => Err(REFERENCES.error().at(at)),
            other => Err(conflicting(other).at(at)),
        }
    }
}

/// A kind of constraint that there is not.
pub(crate) struct Missing {
    what: &'static str,
    hint: &'static str,
}

impl Missing {
    /// The error for it.
    pub(crate) fn error(&self) -> Error {
        Error::new("0A000", format!("{} are not supported", self.what)).hint(self.hint)
    }
}

/// REFERENCES and FOREIGN KEY.
pub(crate) const REFERENCES: Missing = Missing {
    what: "foreign keys",
    hint: "Omit the clause. Referential integrity is not checked, and joins do not need it.",
};

/// The error for another kind of constraint.
pub(crate) fn conflicting(kind: ConstrType) -> Error {
    Error::missing(match kind {
        ConstrType::ConstrExclusion => "EXCLUDE",
        ConstrType::ConstrAttrDeferrable | ConstrType::ConstrAttrDeferred => "DEFERRABLE",
        ConstrType::ConstrAttrNotDeferrable => "NOT DEFERRABLE",
        ConstrType::ConstrAttrImmediate => "INITIALLY IMMEDIATE",
        ConstrType::ConstrAttrEnforced => "ENFORCED",
        ConstrType::ConstrAttrNotEnforced => "NOT ENFORCED",
        ConstrType::ConstrNotnull => "NOT NULL as a constraint of a table",
        _ => "this constraint",
    })
}

/// Refuses the attributes of constraints that are not supported.
pub(crate) fn missing_attributes(constraint: &Constraint) -> Result<()> {
    let attributes = [
        (constraint.deferrable, "DEFERRABLE"),
        (constraint.initdeferred, "INITIALLY DEFERRED"),
        (constraint.skip_validation && constraint.is_enforced, "NOT VALID"),
        (constraint.skip_validation, "NOT ENFORCED"),
        (constraint.is_no_inherit, "NO INHERIT"),
        (constraint.without_overlaps, "WITHOUT OVERLAPS"),
        (!constraint.including.is_empty(), "INCLUDE"),
        (!constraint.indexspace.is_empty(), "USING INDEX TABLESPACE"),
    ];
    let is_key = constraint.contype() == ConstrType::ConstrPrimary;
    let storage = is_key && !constraint.options.is_empty();
    let used = attributes.into_iter().find(|(used, _)| *used);
    match used.or(storage.then_some((true, "WITH of a primary key"))) {
        Some((_, what)) => Err(Error::missing(what).at(constraint.location)),
        None => Ok(()),
    }
}

/// The text of a constraint's expression.
///
/// # Errors
/// 54001 if it nests too deep.
pub(crate) fn expression(constraint: &Constraint) -> Result<String> {
    let expression = constraint.raw_expr.as_deref().ok_or_else(incomplete)?;
    expression_text(expression).ok_or_else(too_deep)
}

/// The error for what nests too deep to be kept.
pub(crate) fn too_deep() -> Error {
    Error::new("54001", "the statement nests too deep")
}
