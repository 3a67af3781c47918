//! CALL of a procedure.

use crate::names::{RelationName, incomplete, texts};
use crate::{Error, Result};
use grammar::expression_text;
use grammar::tree::a_const::Val;
use grammar::tree::{CallStmt, Node, NodeEnum, NodeRef};

/// CALL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The procedure.
    pub name: RelationName,
    /// The arguments, those with names at the end.
    pub arguments: Vec<CallArgument>,
    /// Whether the last argument is the array of variadic ones (VARIADIC).
    pub is_variadic_array: bool,
    /// The byte of the statement at which the name begins, or -1.
    pub location: i32,
}

/// An argument of CALL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallArgument {
    /// The name of the parameter, if it is written.
    pub name: Option<String>,
    /// The expression.
    pub text: String,
    /// Whether it is a string, NULL or a parameter, which may become a value of any type.
    pub is_unknown: bool,
}

impl Call {
    pub(crate) fn of(statement: &CallStmt) -> Result<Self> {
        let call = statement.funccall.as_deref().ok_or_else(incomplete)?;
        Ok(Self {
            name: RelationName::of_parts(&texts(&call.funcname))?,
            arguments: call.args.iter().map(CallArgument::of).collect::<Result<_>>()?,
            is_variadic_array: call.func_variadic,
            location: call.location,
        })
    }
}

impl CallArgument {
    fn of(node: &Node) -> Result<Self> {
        let (name, value) = match &node.node {
            Some(NodeEnum::NamedArgExpr(named)) => {
                (Some(named.name.clone()), named.arg.as_deref().ok_or_else(incomplete)?)
            }
            _ => (None, node),
        };
        let parts = value.node.as_ref().map(NodeEnum::nodes).unwrap_or_default();
        let subquery = parts.iter().find_map(|(part, ..)| match part {
            NodeRef::SubLink(link) => Some(link.location),
            _ => None,
        });
        if let Some(location) = subquery {
            let message = "cannot use subquery in CALL argument";
            return Err(Error::new("0A000", message).at(location));
        }
        let is_unknown = match &value.node {
            Some(NodeEnum::AConst(constant)) => {
                constant.isnull || matches!(constant.val, Some(Val::Sval(_)))
            }
            Some(NodeEnum::ParamRef(_)) => true,
            _ => false,
        };
        Ok(Self { name, text: expression_text(value).ok_or_else(incomplete)?, is_unknown })
    }
}
