//! Functions and types as statements name them.

use crate::names::{RelationName, incomplete, texts};
use crate::{Error, Result};
use analyzer::declared_type;
use analyzer::system::Oid;
use grammar::tree::{FunctionParameterMode, Node, NodeEnum, ObjectType, ObjectWithArgs, TypeName};

/// What a statement says that a function is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoutineKind {
    /// FUNCTION.
    Function,
    /// PROCEDURE.
    Procedure,
    /// ROUTINE: any.
    Routine,
    /// AGGREGATE.
    Aggregate,
}

impl RoutineKind {
    /// The kind of an object. `None` for what is no function.
    pub(crate) fn of(kind: ObjectType) -> Option<Self> {
        Some(match kind {
            ObjectType::ObjectFunction => Self::Function,
            ObjectType::ObjectProcedure => Self::Procedure,
            ObjectType::ObjectRoutine => Self::Routine,
            ObjectType::ObjectAggregate => Self::Aggregate,
            _ => return None,
        })
    }

    /// How messages call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Procedure => "procedure",
            Self::Routine => "routine",
            Self::Aggregate => "aggregate",
        }
    }
}

/// A type in the signature of a function.
#[derive(Debug, Clone)]
pub struct FunctionType {
    /// The type of the system; the error if there is none. Then it may be the name of a relation.
    pub known: Result<Oid>,
    /// The name. With a column, the name of its relation.
    pub name: RelationName,
    /// The column whose type it is (`%TYPE`).
    pub column: Option<String>,
    /// Whether it is an array.
    pub is_array: bool,
    /// SETOF.
    pub is_set: bool,
    /// The byte of the statement at which it begins, or -1.
    pub location: i32,
}

impl FunctionType {
    pub(crate) fn of(name: &TypeName) -> Result<Self> {
        let mut parts = texts(&name.names);
        let column = if name.pct_type { parts.pop() } else { None };
        if let (Some(column), true) = (&column, parts.is_empty()) {
            let message = format!("improper %TYPE reference (too few dotted names): {column}");
            return Err(Error::new("42601", message).at(name.location));
        }
        let relation = RelationName::of_parts(&parts)?;
        Ok(Self {
            known: match &column {
                Some(_) => Err(absent(&relation).at(name.location)),
                None => declared_type(name).map(|found| found.oid),
            },
            name: relation,
            column,
            is_array: !name.array_bounds.is_empty(),
            is_set: name.setof,
            location: name.location,
        })
    }
}

/// The error for a relation that does not exist.
fn absent(name: &RelationName) -> Error {
    Error::new("42P01", format!("relation \"{name}\" does not exist"))
}

/// A function as statements name it.
#[derive(Debug, Clone)]
pub struct RoutineName {
    /// What the statement says that it is.
    pub kind: RoutineKind,
    /// The name.
    pub name: RelationName,
    /// The types of the input parameters, if they are written.
    pub arguments: Option<Vec<FunctionType>>,
    /// Whether modes are written with the types. Without them, those of a procedure may be of all its parameters.
    pub has_modes: bool,
}

impl RoutineName {
    pub(crate) fn of(kind: RoutineKind, object: &ObjectWithArgs) -> Result<Self> {
        let name = RelationName::of_parts(&texts(&object.objname))?;
        let argument = |node: &Node| match &node.node {
            Some(NodeEnum::TypeName(name)) => FunctionType::of(name),
            _ => Err(incomplete()),
        };
        let arguments = match object.args_unspecified {
            true => None,
            false => Some(object.objargs.iter().map(argument).collect::<Result<_>>()?),
        };
        let is_marked = |node: &Node| match &node.node {
            Some(NodeEnum::FunctionParameter(parameter)) => {
                parameter.mode() != FunctionParameterMode::FuncParamDefault
            }
            _ => false,
        };
        let has_modes = object.objfuncargs.iter().any(is_marked);
        Ok(Self { kind, name, arguments, has_modes })
    }

    pub(crate) fn of_node(kind: RoutineKind, node: Option<&Node>) -> Result<Self> {
        match node.and_then(|node| node.node.as_ref()) {
            Some(NodeEnum::ObjectWithArgs(object)) => Self::of(kind, object),
            _ => Err(incomplete()),
        }
    }

    /// The tag of ALTER.
    pub fn alter_tag(&self) -> &'static str {
        match self.kind {
            RoutineKind::Function => "ALTER FUNCTION",
            RoutineKind::Procedure => "ALTER PROCEDURE",
            RoutineKind::Routine => "ALTER ROUTINE",
            RoutineKind::Aggregate => "ALTER AGGREGATE",
        }
    }
}
