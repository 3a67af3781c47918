//! ALTER FUNCTION with options, and DROP FUNCTION.

use super::{FunctionOptions, RoutineKind, RoutineName};
use crate::names::{incomplete, words_of};
use crate::{Error, Result};
use grammar::tree::{AlterFunctionStmt, DropBehavior, DropStmt};

/// ALTER FUNCTION with options.
#[derive(Debug, Clone)]
pub struct AlterFunction {
    /// The function.
    pub routine: RoutineName,
    /// The new options.
    pub options: FunctionOptions,
}

/// DROP of functions.
#[derive(Debug, Clone)]
pub struct DropFunctions {
    /// What the statement says that they are.
    pub kind: RoutineKind,
    /// The functions.
    pub routines: Vec<RoutineName>,
    /// IF EXISTS.
    pub if_exists: bool,
    /// CASCADE.
    pub cascade: bool,
}

impl AlterFunction {
    pub(crate) fn of(statement: &AlterFunctionStmt) -> Result<Self> {
        let kind = RoutineKind::of(statement.objtype())
            .ok_or_else(|| Error::missing(format!("ALTER {}", words_of(statement.objtype()))))?;
        let routine = statement.func.as_ref().ok_or_else(incomplete)?;
        Ok(Self {
            routine: RoutineName::of(kind, routine)?,
            options: FunctionOptions::of(&statement.actions, kind == RoutineKind::Procedure)?,
        })
    }
}

impl DropFunctions {
    pub(crate) fn of(kind: RoutineKind, statement: &DropStmt) -> Result<Self> {
        let routines = statement.objects.iter();
        let routines = routines.map(|object| RoutineName::of_node(kind, Some(object)));
        Ok(Self {
            kind,
            routines: routines.collect::<Result<_>>()?,
            if_exists: statement.missing_ok,
            cascade: statement.behavior() == DropBehavior::DropCascade,
        })
    }
}
