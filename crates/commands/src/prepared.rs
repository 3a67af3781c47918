//! PREPARE, EXECUTE and DISCARD.

use crate::Result;
use crate::constraint::too_deep;
use crate::data_type::DataType;
use crate::names::{incomplete, node};
use crate::options::constant_text;
use grammar::expression_text;
use grammar::tree::a_const::Val;
use grammar::tree::{DiscardMode, DiscardStmt, ExecuteStmt, Node, NodeEnum, PrepareStmt};

/// PREPARE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepare {
    /// The name.
    pub name: String,
    /// The declared types of `$1`, `$2`, ...; `None` for `unknown`.
    pub types: Vec<Option<DataType>>,
}

/// EXECUTE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execute {
    /// The name of the prepared statement.
    pub name: String,
    /// The arguments, in order.
    pub arguments: Vec<Argument>,
}

/// An argument of EXECUTE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Argument {
    /// A quoted constant, by its text; `None` for NULL.
    Constant(Option<String>),
    /// A number or a truth value, by its text.
    Typed(String),
    /// A parameter of the EXECUTE itself, by its number from 0.
    Parameter(usize),
    /// Another expression, by its text.
    Expression(String),
}

/// DISCARD.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discard {
    /// ALL.
    All,
    /// PLANS.
    Plans,
    /// SEQUENCES.
    Sequences,
    /// TEMP.
    Temporary,
}

impl Prepare {
    pub(crate) fn of(statement: &PrepareStmt) -> Result<Self> {
        let types = statement.argtypes.iter().map(|name| match node(Some(name))? {
            NodeEnum::TypeName(name) => {
                let data_type = DataType::of(name)?;
                let is_unknown = data_type.sql_type.oid == analyzer::system::Oid::UNKNOWN;
                Ok(Some(data_type).filter(|known| !is_unknown || known.of_users.is_some()))
            }
            _ => Err(incomplete()),
        });
        Ok(Self { name: statement.name.clone(), types: types.collect::<Result<_>>()? })
    }
}

impl Execute {
    pub(crate) fn of(statement: &ExecuteStmt) -> Result<Self> {
        let arguments = statement.params.iter().map(Argument::of).collect::<Result<_>>()?;
        Ok(Self { name: statement.name.clone(), arguments })
    }
}

impl Argument {
    fn of(value: &Node) -> Result<Self> {
        match node(Some(value))? {
            NodeEnum::AConst(constant) => Ok(match (constant_text(constant), &constant.val) {
                (Some(text), Some(Val::Ival(_) | Val::Fval(_) | Val::Boolval(_))) => {
                    Self::Typed(text)
                }
                (text, _) => Self::Constant(text),
            }),
            NodeEnum::ParamRef(parameter) if parameter.number > 0 => {
                Ok(Self::Parameter(parameter.number.unsigned_abs() as usize - 1))
            }
            _ => expression_text(value).map(Self::Expression).ok_or_else(too_deep),
        }
    }
}

impl Discard {
    pub(crate) fn of(statement: &DiscardStmt) -> Self {
        match statement.target() {
            DiscardMode::DiscardPlans => Self::Plans,
            DiscardMode::DiscardSequences => Self::Sequences,
            DiscardMode::DiscardTemp => Self::Temporary,
            DiscardMode::DiscardAll | DiscardMode::Undefined => Self::All,
        }
    }
}
