//! FOREIGN KEY and REFERENCES, and SET CONSTRAINTS.

use crate::names::{RelationName, incomplete, some, texts};
use crate::{Error, Result};
use grammar::tree::{Constraint, ConstraintsSetStmt, Node};

/// ON DELETE and ON UPDATE.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReferentialAction {
    /// NO ACTION.
    #[default]
    NoAction,
    /// RESTRICT.
    Restrict,
    /// CASCADE.
    Cascade,
    /// SET NULL.
    SetNull,
    /// SET DEFAULT.
    SetDefault,
}

impl ReferentialAction {
    fn of(letter: &str) -> Self {
        match letter {
            "r" => Self::Restrict,
            "c" => Self::Cascade,
            "n" => Self::SetNull,
            "d" => Self::SetDefault,
            _ => Self::NoAction,
        }
    }
}

/// A foreign key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignKeyDefinition {
    /// The name, if it is written.
    pub name: Option<String>,
    /// The columns that refer.
    pub columns: Vec<String>,
    /// The table that they refer to.
    pub table: RelationName,
    /// The columns that they refer to; empty for the primary key.
    pub referenced: Vec<String>,
    /// ON DELETE.
    pub on_delete: ReferentialAction,
    /// ON UPDATE.
    pub on_update: ReferentialAction,
    /// The columns of ON DELETE SET NULL and SET DEFAULT; empty for all.
    pub set_columns: Vec<String>,
    /// MATCH FULL.
    pub is_full: bool,
    /// DEFERRABLE.
    pub is_deferrable: bool,
    /// INITIALLY DEFERRED.
    pub is_deferred: bool,
    /// Not with NOT VALID.
    pub is_valid: bool,
}

impl ForeignKeyDefinition {
    /// A constraint of a table, or of a column.
    pub(crate) fn of(constraint: &Constraint, column: Option<&str>) -> Result<Self> {
        let at = constraint.location;
        if constraint.fk_with_period || constraint.pk_with_period {
            return Err(Error::missing("PERIOD").at(at));
        }
        let columns = match column {
            Some(column) => vec![column.to_owned()],
            None => texts(&constraint.fk_attrs),
        };
        Ok(Self {
            name: some(&constraint.conname),
            columns,
            table: RelationName::of(constraint.pktable.as_ref())?,
            referenced: texts(&constraint.pk_attrs),
            on_delete: ReferentialAction::of(&constraint.fk_del_action),
            on_update: ReferentialAction::of(&constraint.fk_upd_action),
            set_columns: texts(&constraint.fk_del_set_cols),
            is_full: constraint.fk_matchtype == "f",
            is_deferrable: constraint.deferrable,
            is_deferred: constraint.initdeferred,
            is_valid: !constraint.skip_validation,
        })
    }
}

/// SET CONSTRAINTS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetConstraints {
    /// The constraints; `None` for all.
    pub names: Option<Vec<RelationName>>,
    /// DEFERRED.
    pub is_deferred: bool,
}

impl SetConstraints {
    pub(crate) fn of(statement: &ConstraintsSetStmt) -> Result<Self> {
        let name = |node: &Node| match &node.node {
            Some(grammar::tree::NodeEnum::RangeVar(range)) => RelationName::of(Some(range)),
            _ => Err(incomplete()),
        };
        let names = statement.constraints.iter().map(name).collect::<Result<Vec<_>>>()?;
        Ok(Self { names: (!names.is_empty()).then_some(names), is_deferred: statement.deferred })
    }
}
