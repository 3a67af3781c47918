//! SET, RESET and SHOW.

use crate::names::{incomplete, node};
use crate::options::{constant_text, text};
use crate::transaction::{Mode, modes};
use crate::{Error, Result};
use grammar::tree::{Node, NodeEnum, VariableSetKind, VariableSetStmt};

/// A statement about settings. Names are in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingStatement {
    /// SET.
    Set {
        /// The name.
        name: String,
        /// The value.
        value: SettingValue,
        /// LOCAL.
        is_local: bool,
    },
    /// SET TRANSACTION.
    Transaction(Vec<Mode>),
    /// SET SESSION CHARACTERISTICS AS TRANSACTION.
    Characteristics(Vec<Mode>),
    /// RESET.
    Reset(String),
    /// RESET ALL.
    ResetAll,
    /// SHOW; `all` for SHOW ALL.
    Show(String),
}

/// The value of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingValue {
    /// One or several values.
    Values(Vec<String>),
    /// An interval, for the time zone. A number without a unit counts hours.
    Interval(String),
    /// DEFAULT.
    Default,
    /// The current value (FROM CURRENT).
    Current,
}

impl SettingStatement {
    pub(crate) fn of(statement: &VariableSetStmt) -> Result<Self> {
        let name = statement.name.to_lowercase();
        let is_local = statement.is_local;
        Ok(match statement.kind() {
            VariableSetKind::VarSetValue => {
                Self::Set { name, value: value(&statement.args)?, is_local }
            }
            VariableSetKind::VarSetDefault => {
                Self::Set { name, value: SettingValue::Default, is_local }
            }
            VariableSetKind::VarSetCurrent => {
                Self::Set { name, value: SettingValue::Current, is_local }
            }
            VariableSetKind::VarSetMulti => match name.as_str() {
                "transaction" => Self::Transaction(modes(&statement.args)),
                "session characteristics" => Self::Characteristics(modes(&statement.args)),
                _ => return Err(Error::missing("SET TRANSACTION SNAPSHOT")),
            },
            VariableSetKind::VarReset => Self::Reset(name),
            VariableSetKind::VarResetAll => Self::ResetAll,
            VariableSetKind::Undefined => return Err(incomplete()),
        })
    }
}

/// The words of a setting's value.
pub(crate) fn words(arguments: &[Node]) -> Vec<String> {
    arguments.iter().filter_map(text).collect()
}

fn value(arguments: &[Node]) -> Result<SettingValue> {
    if let [Node { node: Some(NodeEnum::TypeCast(cast)) }] = arguments {
        let NodeEnum::AConst(constant) = node(cast.arg.as_deref())? else {
            return Err(incomplete());
        };
        let text = constant_text(constant).unwrap_or_default();
        let fields = cast.type_name.as_ref().and_then(|name| name.typmods.first());
        let is_number = fields.is_some() && !text.contains(':');
        let text = if is_number { format!("{text} hour") } else { text };
        return Ok(SettingValue::Interval(text));
    }
    Ok(SettingValue::Values(words(arguments)))
}
