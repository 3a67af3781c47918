//! CREATE AGGREGATE.

use super::{FunctionParameter, FunctionType};
use crate::names::{RelationName, incomplete, texts};
use crate::options::{elements, text};
use crate::{Error, Result};
use grammar::tree::{DefElem, DefineStmt, Node, NodeEnum};

/// CREATE AGGREGATE.
#[derive(Debug, Clone)]
pub struct CreateAggregate {
    /// The name.
    pub name: RelationName,
    /// OR REPLACE.
    pub replaces: bool,
    /// The parameters; none for `(*)`.
    pub parameters: Vec<FunctionParameter>,
    /// SFUNC.
    pub transition: RelationName,
    /// STYPE.
    pub state: FunctionType,
    /// INITCOND.
    pub initial: Option<String>,
    /// COMBINEFUNC.
    pub combine: Option<RelationName>,
    /// FINALFUNC.
    pub finish: Option<RelationName>,
}

/// The options, as written.
#[derive(Default)]
struct Options {
    transition: Option<RelationName>,
    state: Option<FunctionType>,
    initial: Option<String>,
    combine: Option<RelationName>,
    finish: Option<RelationName>,
}

impl CreateAggregate {
    pub(super) fn of(statement: &DefineStmt) -> Result<Self> {
        if statement.oldstyle {
            return Err(Error::missing("the old form of CREATE AGGREGATE"));
        }
        let mut options = Options::default();
        elements(&statement.definition).try_for_each(|element| options.set(element))?;
        let wrong = |message: &str| Error::new("42P13", message);
        Ok(Self {
            name: RelationName::of_parts(&texts(&statement.defnames))?,
            replaces: statement.replace,
            parameters: parameters(&statement.args)?,
            transition: options
                .transition
                .ok_or_else(|| wrong("aggregate sfunc must be specified"))?,
            state: options.state.ok_or_else(|| wrong("aggregate stype must be specified"))?,
            initial: options.initial,
            combine: options.combine,
            finish: options.finish,
        })
    }
}

/// The list of parameters, and the number of those in front of ORDER BY, or -1.
fn parameters(nodes: &[Node]) -> Result<Vec<FunctionParameter>> {
    let (list, direct) = match nodes {
        [list, direct] => (list, direct),
        _ => return Err(incomplete()),
    };
    if matches!(&direct.node, Some(NodeEnum::Integer(number)) if number.ival >= 0) {
        return Err(Error::missing("an ordered-set aggregate of a user"));
    }
    let Some(NodeEnum::List(list)) = &list.node else { return Ok(Vec::new()) };
    let parameter = |node: &Node| match &node.node {
        Some(NodeEnum::FunctionParameter(parameter)) => FunctionParameter::of(parameter),
        _ => Err(incomplete()),
    };
    list.items.iter().map(parameter).collect()
}

impl Options {
    fn set(&mut self, element: &DefElem) -> Result<()> {
        let name = element.defname.as_str();
        let value = element.arg.as_deref();
        let taken = match name {
            "sfunc" => self.transition.replace(function(value)?).is_some(),
            "combinefunc" => self.combine.replace(function(value)?).is_some(),
            "finalfunc" => self.finish.replace(function(value)?).is_some(),
            "stype" => match value.and_then(|node| node.node.as_ref()) {
                Some(NodeEnum::TypeName(name)) => {
                    self.state.replace(FunctionType::of(name)?).is_some()
                }
                _ => return Err(incomplete()),
            },
            "initcond" => match value.and_then(text) {
                Some(text) => self.initial.replace(text).is_some(),
                None => return Err(incomplete()),
            },
            // It concerns PostgreSQL's parallel plans alone, as for functions.
            "parallel" => false,
            _ => {
                let what = format!("{} in CREATE AGGREGATE", name.to_uppercase());
                return Err(Error::missing(what).at(element.location));
            }
        };
        match taken {
            true => {
                let message = "conflicting or redundant options";
                Err(Error::new("42601", message).at(element.location))
            }
            false => Ok(()),
        }
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
