//! CREATE AGGREGATE.

use super::aggregate_options::{FinalModify, Options};
use super::{FunctionParameter, FunctionType, ParallelSafety};
use crate::names::{RelationName, incomplete, texts};
use crate::options::elements;
use crate::{Error, Result};
use grammar::tree::{DefineStmt, Node, NodeEnum};

/// CREATE AGGREGATE.
#[derive(Debug, Clone)]
pub struct CreateAggregate {
    /// The name.
    pub name: RelationName,
    /// OR REPLACE.
    pub replaces: bool,
    /// The parameters; none for `(*)`.
    pub parameters: Vec<FunctionParameter>,
    /// The number of parameters in front of ORDER BY; `None` without it.
    pub direct: Option<usize>,
    /// The functions, and their state.
    pub steps: AggregateSteps,
    /// COMBINEFUNC.
    pub combine: Option<RelationName>,
    /// The functions for frames that move, and their state.
    pub moving: Option<MovingSteps>,
    /// MFINALFUNC_EXTRA.
    pub moving_takes_all: bool,
    /// MFINALFUNC_MODIFY.
    pub moving_modifies: Option<FinalModify>,
    /// SORTOP: the schema and the name of the operator.
    pub sort_operator: Option<(Option<String>, String)>,
    /// PARALLEL.
    pub parallel: Option<ParallelSafety>,
    /// HYPOTHETICAL.
    pub is_hypothetical: bool,
}

/// The functions that make the value of an aggregate.
#[derive(Debug, Clone)]
pub struct AggregateSteps {
    /// SFUNC.
    pub transition: RelationName,
    /// STYPE.
    pub state: FunctionType,
    /// INITCOND.
    pub initial: Option<String>,
    /// FINALFUNC.
    pub finish: Option<RelationName>,
    /// FINALFUNC_EXTRA.
    pub takes_all: bool,
    /// FINALFUNC_MODIFY.
    pub modifies: Option<FinalModify>,
    /// SSPACE.
    pub space: u32,
}

/// The functions of an aggregate for frames that move.
#[derive(Debug, Clone)]
pub struct MovingSteps {
    /// MSFUNC.
    pub transition: RelationName,
    /// MINVFUNC.
    pub inverse: RelationName,
    /// MSTYPE.
    pub state: FunctionType,
    /// MINITCOND.
    pub initial: Option<String>,
    /// MFINALFUNC.
    pub finish: Option<RelationName>,
    /// MSSPACE.
    pub space: u32,
}

fn wrong(message: impl Into<String>) -> Error {
    Error::new("42P13", message)
}

impl CreateAggregate {
    pub(super) fn of(statement: &DefineStmt) -> Result<Self> {
        if statement.oldstyle {
            return Err(Error::missing("the old form of CREATE AGGREGATE"));
        }
        let mut options = Options::default();
        elements(&statement.definition).try_for_each(|element| options.set(element))?;
        let (parameters, direct) = parameters(&statement.args)?;
        let state = options.state.take();
        let state = state.ok_or_else(|| wrong("aggregate stype must be specified"))?;
        let transition = options.transition.take();
        let transition = transition.ok_or_else(|| wrong("aggregate sfunc must be specified"))?;
        let moving = moving(&mut options)?;
        let steps = AggregateSteps {
            transition,
            state,
            initial: options.initial,
            finish: options.finish,
            takes_all: options.takes_all,
            modifies: options.modifies,
            space: options.space.unwrap_or(0),
        };
        Ok(Self {
            name: RelationName::of_parts(&texts(&statement.defnames))?,
            replaces: statement.replace,
            parameters,
            direct,
            steps,
            combine: options.combine,
            moving,
            moving_takes_all: options.moving_takes_all,
            moving_modifies: options.moving_modifies,
            sort_operator: options.sort_operator,
            parallel: options.parallel,
            is_hypothetical: options.is_hypothetical,
        })
    }
}

/// The functions for frames that move. All that belongs to them goes with MSTYPE.
fn moving(options: &mut Options) -> Result<Option<MovingSteps>> {
    let Some(state) = options.moving_state.take() else {
        let given = [
            ("msfunc", options.moving_transition.is_some()),
            ("minvfunc", options.moving_inverse.is_some()),
            ("mfinalfunc", options.moving_finish.is_some()),
            ("msspace", options.moving_space.is_some_and(|space| space != 0)),
            ("minitcond", options.moving_initial.is_some()),
        ];
        return match given.iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) => {
                Err(wrong(format!("aggregate {name} must not be specified without mstype")))
            }
            None => Ok(None),
        };
    };
    let required = |function: Option<RelationName>, name: &str| {
        let message = format!("aggregate {name} must be specified when mstype is specified");
        function.ok_or_else(|| wrong(message))
    };
    Ok(Some(MovingSteps {
        transition: required(options.moving_transition.take(), "msfunc")?,
        inverse: required(options.moving_inverse.take(), "minvfunc")?,
        state,
        initial: options.moving_initial.take(),
        finish: options.moving_finish.take(),
        space: options.moving_space.unwrap_or(0),
    }))
}

/// The list of parameters, and the number of those in front of ORDER BY, if it is there.
fn parameters(nodes: &[Node]) -> Result<(Vec<FunctionParameter>, Option<usize>)> {
    let (list, direct) = match nodes {
        [list, direct] => (list, direct),
        _ => return Err(incomplete()),
    };
    let direct = match &direct.node {
        Some(NodeEnum::Integer(number)) => usize::try_from(number.ival).ok(),
        _ => None,
    };
    let Some(NodeEnum::List(list)) = &list.node else { return Ok((Vec::new(), direct)) };
    let parameter = |node: &Node| match &node.node {
        Some(NodeEnum::FunctionParameter(parameter)) => FunctionParameter::of(parameter),
        _ => Err(incomplete()),
    };
    let all = list.items.iter().map(parameter).collect::<Result<_>>()?;
    Ok((all, direct))
}
