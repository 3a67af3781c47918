//! Constraints of tables, and what all constraints have in common.

use crate::check::Check;
use crate::foreign_key::ForeignKeyDefinition;
use crate::index::Unique;
use crate::names::{incomplete, some, texts};
use crate::storage_options::{self, Stored};
use crate::{Error, Result};
use grammar::expression_text;
use grammar::tree::{ConstrType, Constraint, Node, NodeEnum};

/// A primary key that is not deferrable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrimaryKey {
    /// The name of the constraint, if it is written.
    pub name: Option<String>,
    /// The columns.
    pub columns: Vec<String>,
}

/// A primary key or UNIQUE of an index that exists (USING INDEX); not deferrable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExistingIndex {
    /// The name of the constraint, if it is written.
    pub name: Option<String>,
    /// The index, which is in the schema of the table.
    pub index: String,
    /// Whether it is a primary key.
    pub is_primary: bool,
    /// The byte of the statement at which the constraint begins, or -1.
    pub location: i32,
}

/// A constraint of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableConstraint {
    /// PRIMARY KEY; not deferrable.
    PrimaryKey(PrimaryKey),
    /// UNIQUE, or a primary key that is deferrable.
    Unique(Unique),
    /// PRIMARY KEY or UNIQUE with USING INDEX.
    Existing(ExistingIndex),
    /// CHECK.
    Check(Check),
    /// FOREIGN KEY.
    ForeignKey(Box<ForeignKeyDefinition>),
}

impl TableConstraint {
    pub(crate) fn of(constraint: &Constraint) -> Result<Self> {
        missing_attributes(constraint)?;
        let at = constraint.location;
        match constraint.contype() {
            kind @ (ConstrType::ConstrPrimary | ConstrType::ConstrUnique)
                if !constraint.indexname.is_empty() =>
            {
                if constraint.deferrable {
                    return Err(Error::missing("USING INDEX of a deferrable constraint").at(at));
                }
                Ok(Self::Existing(ExistingIndex {
                    name: some(&constraint.conname),
                    index: constraint.indexname.clone(),
                    is_primary: kind == ConstrType::ConstrPrimary,
                    location: at,
                }))
            }
            ConstrType::ConstrPrimary if constraint.deferrable => {
                Ok(Self::Unique(Unique::of(constraint, None)?))
            }
            ConstrType::ConstrPrimary => Ok(Self::PrimaryKey(PrimaryKey {
                name: some(&constraint.conname),
                columns: texts(&constraint.keys),
            })),
            ConstrType::ConstrCheck => Ok(Self::Check(Check {
                name: some(&constraint.conname),
                condition: expression(constraint)?,
                is_valid: !constraint.skip_validation,
            })),
            ConstrType::ConstrUnique => Ok(Self::Unique(Unique::of(constraint, None)?)),
            ConstrType::ConstrForeign => {
                let key = ForeignKeyDefinition::of(constraint, None)?;
                Ok(Self::ForeignKey(Box::new(key)))
            }
            other => Err(conflicting(other).at(at)),
        }
    }
}

/// The constraints of a column, each with the attributes that follow it.
///
/// # Errors
/// 42601 for attributes at a wrong place.
pub(crate) fn with_attributes(nodes: &[Node]) -> Result<Vec<Constraint>> {
    let mut constraints: Vec<Constraint> = Vec::with_capacity(nodes.len());
    let (mut deferrable, mut initially) = (None, None);
    for node in nodes {
        let Some(NodeEnum::Constraint(constraint)) = &node.node else { return Err(incomplete()) };
        let (what, of, is) = match constraint.contype() {
            ConstrType::ConstrAttrDeferrable => ("DEFERRABLE", &mut deferrable, true),
            ConstrType::ConstrAttrNotDeferrable => ("NOT DEFERRABLE", &mut deferrable, false),
            ConstrType::ConstrAttrDeferred => ("INITIALLY DEFERRED", &mut initially, true),
            ConstrType::ConstrAttrImmediate => ("INITIALLY IMMEDIATE", &mut initially, false),
            _ => {
                (deferrable, initially) = (None, None);
                constraints.push(Constraint::clone(constraint));
                continue;
            }
        };
        let wrong = |message: String| Err(Error::new("42601", message).at(constraint.location));
        let Some(last) = constraints.last_mut().filter(|last| has_attributes(last)) else {
            return wrong(format!("misplaced {what} clause"));
        };
        if of.replace(is).is_some() {
            let pair = match what.starts_with("INITIALLY") {
                true => "INITIALLY IMMEDIATE/DEFERRED",
                false => "DEFERRABLE/NOT DEFERRABLE",
            };
            return wrong(format!("multiple {pair} clauses not allowed"));
        }
        if (deferrable, initially) == (Some(false), Some(true)) {
            let message = "constraint declared INITIALLY DEFERRED must be DEFERRABLE";
            return wrong(message.to_owned());
        }
        let may_wait = may_wait(last.contype());
        if is && !may_wait {
            return Err(conflicting(constraint.contype()).at(constraint.location));
        }
        last.initdeferred = initially == Some(true);
        last.deferrable = deferrable.unwrap_or(last.initdeferred);
    }
    Ok(constraints)
}

/// Whether a constraint of a kind may be checked later than rows are written.
fn may_wait(kind: ConstrType) -> bool {
    use ConstrType::{ConstrForeign, ConstrPrimary, ConstrUnique};
    matches!(kind, ConstrForeign | ConstrPrimary | ConstrUnique)
}

/// Whether a constraint may be DEFERRABLE.
fn has_attributes(constraint: &Constraint) -> bool {
    matches!(
        constraint.contype(),
        ConstrType::ConstrPrimary
            | ConstrType::ConstrUnique
            | ConstrType::ConstrExclusion
            | ConstrType::ConstrForeign
    )
}

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
    let is_foreign = constraint.contype() == ConstrType::ConstrForeign;
    let may_wait = may_wait(constraint.contype());
    let is_plain_key = constraint.contype() == ConstrType::ConstrPrimary && !constraint.deferrable;
    let may_skip = is_foreign || constraint.contype() == ConstrType::ConstrCheck;
    let attributes = [
        (constraint.deferrable && !may_wait, "DEFERRABLE"),
        (constraint.initdeferred && !may_wait, "INITIALLY DEFERRED"),
        (constraint.skip_validation && constraint.is_enforced && !may_skip, "NOT VALID"),
        (constraint.skip_validation && !constraint.is_enforced, "NOT ENFORCED"),
        (constraint.is_no_inherit, "NO INHERIT"),
        (constraint.without_overlaps, "WITHOUT OVERLAPS"),
        (!constraint.including.is_empty() && is_plain_key, "INCLUDE of a primary key"),
        (!constraint.indexspace.is_empty(), "USING INDEX TABLESPACE"),
    ];
    match attributes.into_iter().find(|(used, _)| *used) {
        Some((_, what)) => Err(Error::missing(what).at(constraint.location)),
        None if matches!(
            constraint.contype(),
            ConstrType::ConstrPrimary | ConstrType::ConstrUnique
        ) =>
        {
            storage_options::check(&constraint.options, Stored::Index { is_hash: false })
        }
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
