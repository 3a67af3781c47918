//! The options of views.

use crate::names::{incomplete, node, texts};
use crate::options::{elements, text};
use crate::{Error, Result};
use grammar::tree::{AlterTableCmd, AlterTableType, DefElem, Node, NodeEnum, ViewCheckOption};

/// Of which views rows that are written through a view must fulfil the conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckScope {
    /// The view.
    Local,
    /// The view and those below it.
    Cascaded,
}

/// The options of a view that a statement sets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ViewOptions {
    /// WITH CHECK OPTION, or that there is none.
    pub check: Option<Option<CheckScope>>,
    /// Whether the query is executed with the privileges of the user.
    pub security_invoker: Option<bool>,
}

impl ViewOptions {
    /// The options in parentheses, and WITH CHECK OPTION.
    pub(crate) fn of(nodes: &[Node], check: ViewCheckOption) -> Result<Self> {
        let mut options = Self::read(nodes, false)?;
        let written = match check {
            ViewCheckOption::LocalCheckOption => CheckScope::Local,
            ViewCheckOption::CascadedCheckOption => CheckScope::Cascaded,
            ViewCheckOption::NoCheckOption | ViewCheckOption::Undefined => return Ok(options),
        };
        if options.check.is_some() {
            return Err(repeated("check_option"));
        }
        options.check = Some(Some(written));
        Ok(options)
    }

    /// The options of ALTER VIEW ... SET or RESET; `None` for another operation.
    pub(crate) fn altered(operation: &AlterTableCmd) -> Result<Option<Self>> {
        let are_reset = match operation.subtype() {
            AlterTableType::AtSetRelOptions => false,
            AlterTableType::AtResetRelOptions => true,
            _ => return Ok(None),
        };
        match node(operation.def.as_deref())? {
            NodeEnum::List(options) => Self::read(&options.items, are_reset).map(Some),
            _ => Err(incomplete()),
        }
    }

    /// The options of SET, or those that RESET gives their defaults.
    fn read(nodes: &[Node], are_reset: bool) -> Result<Self> {
        let (mut options, mut seen) = (Self::default(), Vec::new());
        for element in elements(nodes) {
            let name = element.defname.as_str();
            if !element.defnamespace.is_empty() {
                let space = &element.defnamespace;
                let message = format!("unrecognized parameter namespace \"{space}\"");
                return Err(Error::new("22023", message));
            }
            if seen.contains(&name) {
                return Err(repeated(name));
            }
            seen.push(name);
            match name {
                "check_option" if are_reset => options.check = Some(None),
                "security_invoker" if are_reset => options.security_invoker = Some(false),
                "check_option" => options.check = Some(Some(check(element)?)),
                "security_invoker" => options.security_invoker = Some(boolean(element)?),
                "security_barrier" if are_reset || !boolean(element)? => {}
                "security_barrier" => {
                    return Err(Error::missing("security_barrier of a view").at(element.location));
                }
                _ => {
                    let message = format!("unrecognized parameter \"{name}\"");
                    return Err(Error::new("22023", message));
                }
            }
        }
        Ok(options)
    }
}

/// The error for an option that is given twice.
pub(crate) fn repeated(name: &str) -> Error {
    Error::new("22023", format!("parameter \"{name}\" specified more than once"))
}

/// The value of an option as a text; an option without one is on.
pub(crate) fn value(element: &DefElem) -> String {
    element.arg.as_deref().map_or_else(|| Some("true".to_owned()), word).unwrap_or_default()
}

fn word(value: &Node) -> Option<String> {
    match &value.node {
        // A name that is no constant.
        Some(NodeEnum::TypeName(name)) => texts(&name.names).pop(),
        _ => text(value),
    }
}

fn check(element: &DefElem) -> Result<CheckScope> {
    let written = value(element);
    match written.to_ascii_lowercase().as_str() {
        "local" => Ok(CheckScope::Local),
        "cascaded" => Ok(CheckScope::Cascaded),
        _ => {
            let message = format!("invalid value for enum option \"check_option\": {written}");
            Err(Error::new("22023", message).detail("Valid values are \"local\" and \"cascaded\"."))
        }
    }
}

/// Whether an option is on.
///
/// # Errors
/// 22023 for another value.
pub(crate) fn boolean(element: &DefElem) -> Result<bool> {
    let written = value(element);
    let is_prefix = |word: &str, letters_min: usize| {
        let lower = written.to_ascii_lowercase();
        lower.len() >= letters_min && word.starts_with(&lower)
    };
    if is_prefix("true", 1) || is_prefix("yes", 1) || is_prefix("on", 2) || written == "1" {
        return Ok(true);
    }
    if is_prefix("false", 1) || is_prefix("no", 1) || is_prefix("off", 2) || written == "0" {
        return Ok(false);
    }
    let name = &element.defname;
    Err(Error::new("22023", format!("invalid value for boolean option \"{name}\": {written}")))
}
