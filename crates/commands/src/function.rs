//! CREATE, ALTER, DROP and COMMENT ON of functions and procedures.

mod aggregate;
mod aggregate_options;
mod alter;
mod create;
mod named;
mod options;

pub use aggregate::{AggregateSteps, CreateAggregate, MovingSteps};
pub use aggregate_options::FinalModify;
pub use alter::{AlterFunction, DropFunctions};
pub use create::{CreateFunction, FunctionParameter, ParameterKind};
pub use named::{FunctionType, RoutineKind, RoutineName};
pub use options::{FunctionOptions, FunctionSetting, ParallelSafety, Stability};

use crate::Result;
use crate::names::some;
use grammar::tree::{Node, NodeEnum, ObjectType};

/// A statement that changes the definition of a function.
#[derive(Debug, Clone)]
pub enum RoutineDefinition {
    /// CREATE FUNCTION or PROCEDURE.
    Create(Box<CreateFunction>),
    /// CREATE AGGREGATE.
    CreateAggregate(Box<CreateAggregate>),
    /// DROP.
    Drop(DropFunctions),
    /// ALTER ... RENAME TO.
    Rename {
        /// The function.
        routine: RoutineName,
        /// The new name.
        to: String,
    },
    /// ALTER ... SET SCHEMA.
    SetSchema {
        /// The function.
        routine: RoutineName,
        /// The new schema.
        to: String,
    },
    /// ALTER with options.
    Alter(AlterFunction),
    /// COMMENT ON.
    Comment {
        /// The function.
        routine: RoutineName,
        /// The text; `None` removes it.
        text: Option<String>,
    },
}

impl RoutineDefinition {
    /// The definition that a statement is. `None` for statements about other objects.
    pub(crate) fn of(statement: &NodeEnum) -> Result<Option<Self>> {
        let named =
            |kind, object: &Option<Box<Node>>| RoutineName::of_node(kind, object.as_deref());
        Ok(match statement {
            NodeEnum::CreateFunctionStmt(create) => {
                Some(Self::Create(Box::new(CreateFunction::of(create)?)))
            }
            NodeEnum::DefineStmt(define) if define.kind() == ObjectType::ObjectAggregate => {
                Some(Self::CreateAggregate(Box::new(CreateAggregate::of(define)?)))
            }
            NodeEnum::AlterFunctionStmt(alter) => Some(Self::Alter(AlterFunction::of(alter)?)),
            NodeEnum::DropStmt(drop) => match RoutineKind::of(drop.remove_type()) {
                Some(kind) => Some(Self::Drop(DropFunctions::of(kind, drop)?)),
                None => None,
            },
            NodeEnum::RenameStmt(rename) => match RoutineKind::of(rename.rename_type()) {
                Some(kind) => {
                    let (routine, to) = (named(kind, &rename.object)?, rename.newname.clone());
                    Some(Self::Rename { routine, to })
                }
                None => None,
            },
            NodeEnum::AlterObjectSchemaStmt(alter) => match RoutineKind::of(alter.object_type()) {
                Some(kind) => {
                    let (routine, to) = (named(kind, &alter.object)?, alter.newschema.clone());
                    Some(Self::SetSchema { routine, to })
                }
                None => None,
            },
            NodeEnum::CommentStmt(comment) => match RoutineKind::of(comment.objtype()) {
                Some(kind) => {
                    let (routine, text) = (named(kind, &comment.object)?, some(&comment.comment));
                    Some(Self::Comment { routine, text })
                }
                None => None,
            },
            _ => None,
        })
    }

    /// The command tag.
    pub(crate) fn tag(&self) -> &'static str {
        use RoutineKind::{Aggregate, Function, Procedure, Routine};
        match self {
            Self::Create(create) if create.is_procedure => "CREATE PROCEDURE",
            Self::Create(_) => "CREATE FUNCTION",
            Self::CreateAggregate(_) => "CREATE AGGREGATE",
            Self::Drop(drop) => match drop.kind {
                Function => "DROP FUNCTION",
                Procedure => "DROP PROCEDURE",
                Routine => "DROP ROUTINE",
                Aggregate => "DROP AGGREGATE",
            },
            Self::Rename { routine, .. } | Self::SetSchema { routine, .. } => routine.alter_tag(),
            Self::Alter(alter) => alter.routine.alter_tag(),
            Self::Comment { .. } => "COMMENT",
        }
    }
}
