//! The options of CREATE AGGREGATE, as written.

use super::{FunctionType, ParallelSafety};
use crate::names::{RelationName, incomplete, texts};
use crate::options::{integer, is_on, text, words};
use crate::{Error, Result};
use grammar::tree::{DefElem, Node, NodeEnum};

/// Whether a final function changes the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinalModify {
    /// READ_ONLY.
    ReadOnly,
    /// SHAREABLE.
    Shareable,
    /// READ_WRITE.
    ReadWrite,
}

/// The options that are given.
#[derive(Default)]
pub(super) struct Options {
    pub(super) transition: Option<RelationName>,
    pub(super) state: Option<FunctionType>,
    pub(super) initial: Option<String>,
    pub(super) combine: Option<RelationName>,
    pub(super) finish: Option<RelationName>,
    pub(super) takes_all: bool,
    pub(super) modifies: Option<FinalModify>,
    pub(super) space: Option<u32>,
    pub(super) moving_transition: Option<RelationName>,
    pub(super) moving_inverse: Option<RelationName>,
    pub(super) moving_state: Option<FunctionType>,
    pub(super) moving_initial: Option<String>,
    pub(super) moving_finish: Option<RelationName>,
    pub(super) moving_takes_all: bool,
    pub(super) moving_modifies: Option<FinalModify>,
    pub(super) moving_space: Option<u32>,
    pub(super) sort_operator: Option<(Option<String>, String)>,
    pub(super) parallel: Option<ParallelSafety>,
    pub(super) is_hypothetical: bool,
}

impl Options {
    /// Takes an option. Of several, the last counts.
    pub(super) fn set(&mut self, element: &DefElem) -> Result<()> {
        let value = element.arg.as_deref();
        match element.defname.as_str() {
            "sfunc" => self.transition = Some(function(value)?),
            "combinefunc" => self.combine = Some(function(value)?),
            "finalfunc" => self.finish = Some(function(value)?),
            "msfunc" => self.moving_transition = Some(function(value)?),
            "minvfunc" => self.moving_inverse = Some(function(value)?),
            "mfinalfunc" => self.moving_finish = Some(function(value)?),
            "stype" => self.state = Some(type_name(value)?),
            "mstype" => self.moving_state = Some(type_name(value)?),
            "initcond" => self.initial = Some(constant(value)?),
            "minitcond" => self.moving_initial = Some(constant(value)?),
            "sspace" => self.space = Some(space(element)?),
            "msspace" => self.moving_space = Some(space(element)?),
            "finalfunc_modify" => self.modifies = Some(modifies(element)?),
            "mfinalfunc_modify" => self.moving_modifies = Some(modifies(element)?),
            "sortop" => self.sort_operator = Some(operator(value)?),
            "parallel" => self.parallel = Some(parallel(value)?),
            "finalfunc_extra" => self.takes_all = is_on(element),
            "mfinalfunc_extra" => self.moving_takes_all = is_on(element),
            "hypothetical" => self.is_hypothetical = is_on(element),
            name => {
                let what = format!("{} in CREATE AGGREGATE", name.to_uppercase());
                return Err(Error::missing(what).at(element.location));
            }
        }
        Ok(())
    }
}

/// The name of a function.
fn function(value: Option<&Node>) -> Result<RelationName> {
    match value.and_then(|node| node.node.as_ref()) {
        Some(NodeEnum::TypeName(name)) => RelationName::of_parts(&texts(&name.names)),
        Some(NodeEnum::String(name)) => RelationName::of_parts(std::slice::from_ref(&name.sval)),
        _ => Err(incomplete()),
    }
}

fn type_name(value: Option<&Node>) -> Result<FunctionType> {
    match value.and_then(|node| node.node.as_ref()) {
        Some(NodeEnum::TypeName(name)) => FunctionType::of(name),
        _ => Err(incomplete()),
    }
}

fn constant(value: Option<&Node>) -> Result<String> {
    value.and_then(text).ok_or_else(incomplete)
}

/// The bytes of a state.
fn space(element: &DefElem) -> Result<u32> {
    let is_number = matches!(
        element.arg.as_deref().and_then(|node| node.node.as_ref()),
        Some(NodeEnum::Integer(_))
    );
    let number = if is_number { integer(element)? } else { None };
    number.and_then(|number| u32::try_from(number).ok()).ok_or_else(|| {
        let message = format!("{} requires an integer value", element.defname);
        Error::new("42601", message).at(element.location)
    })
}

/// The word of an option.
fn word(value: Option<&Node>) -> String {
    let mut words = value.map_or_else(Vec::new, words);
    words.pop().unwrap_or_default()
}

fn modifies(element: &DefElem) -> Result<FinalModify> {
    Ok(match word(element.arg.as_deref()).as_str() {
        "read_only" => FinalModify::ReadOnly,
        "shareable" => FinalModify::Shareable,
        "read_write" => FinalModify::ReadWrite,
        _ => {
            let message = format!(
                "parameter \"{}\" must be READ_ONLY, SHAREABLE, or READ_WRITE",
                element.defname
            );
            return Err(Error::new("42601", message));
        }
    })
}

fn parallel(value: Option<&Node>) -> Result<ParallelSafety> {
    Ok(match word(value).as_str() {
        "safe" => ParallelSafety::Safe,
        "restricted" => ParallelSafety::Restricted,
        "unsafe" => ParallelSafety::Unsafe,
        _ => {
            let message = "parameter \"parallel\" must be SAFE, RESTRICTED, or UNSAFE";
            return Err(Error::new("42601", message));
        }
    })
}

/// The schema and the name of an operator.
fn operator(value: Option<&Node>) -> Result<(Option<String>, String)> {
    let parts = match value.and_then(|node| node.node.as_ref()) {
        Some(NodeEnum::List(list)) => texts(&list.items),
        Some(NodeEnum::TypeName(name)) => texts(&name.names),
        Some(NodeEnum::String(name)) => vec![name.sval.clone()],
        _ => return Err(incomplete()),
    };
    match parts.as_slice() {
        [name] => Ok((None, name.clone())),
        [.., schema, name] => Ok((Some(schema.clone()), name.clone())),
        [] => Err(incomplete()),
    }
}
