//! The turns of loops.
//!
//! Those that only compute run one after another without futures: the state of a future takes longer to move than such a turn
//! takes to run.

use super::host::Host;
use super::quick::Quick;
use super::{Flow, Machine};
use crate::tree::{Sql, Statement};
use values::error::Result;

/// Where a turn of a loop leads.
pub(super) enum Turn<V> {
    /// To the next turn.
    Again,
    /// Behind the loop.
    End,
    /// Out of the loop.
    Leave(Flow<V>),
}

impl<V> Turn<V> {
    /// Where a turn leads whose statements lead somewhere, in a loop with a label.
    fn of(flow: Flow<V>, label: Option<&String>) -> Self {
        let is_own = |name: &Option<String>| name.is_none() || name.as_ref() == label;
        match flow {
            Flow::Next => Self::Again,
            Flow::Continue(name) if is_own(&name) => Self::Again,
            Flow::Exit(name) if is_own(&name) => Self::End,
            flow => Self::Leave(flow),
        }
    }
}

/// Whether a loop has another turn.
pub(super) enum Next<'a> {
    /// It has begun.
    Begun,
    /// There is none.
    None,
    /// There is one if this condition holds, which has to be evaluated.
    If(&'a Sql),
}

/// What begins the turns of a loop.
pub(super) trait Turns<'a, H: Host> {
    /// Begins the next turn.
    fn next(&mut self, machine: &mut Machine<'_, H>) -> Result<Next<'a>>;
}

/// How far turns came that only compute.
enum Reached<'a, V> {
    /// Where one leads.
    Turn(Turn<V>),
    /// Others are to run before the next turn.
    GivesWay,
    /// A condition has to be evaluated before the next turn.
    If(&'a Sql),
    /// To a place in the body.
    At(Quick<'a, V>),
}

impl<H: Host> Machine<'_, H> {
    /// One turn of a loop.
    pub(super) async fn turn(
        &mut self,
        label: Option<&String>,
        body: &[Statement],
    ) -> Result<Turn<H::Value>> {
        if self.host.turn()? {
            self.host.give_way().await;
        }
        let flow = match self.quickly(body)? {
            Quick::Flow(flow) => flow,
            reached => self.rest(body, reached).await?,
        };
        Ok(Turn::of(flow, label))
    }

    /// All turns of a loop.
    pub(super) async fn repeat<'a>(
        &mut self,
        label: Option<&String>,
        body: &'a [Statement],
        turns: &mut impl Turns<'a, H>,
    ) -> Result<Flow<H::Value>> {
        loop {
            let turn = match self.turns_quickly(label, body, turns)? {
                Reached::Turn(turn) => turn,
                Reached::GivesWay => {
                    self.host.give_way().await;
                    Turn::Again
                }
                Reached::If(condition) => match self.holds(condition).await? {
                    true => self.turn(label, body).await?,
                    false => Turn::End,
                },
                Reached::At(reached) => Turn::of(self.rest(body, reached).await?, label),
            };
            match turn {
                Turn::Again => {}
                Turn::End => return Ok(Flow::Next),
                Turn::Leave(flow) => return Ok(flow),
            }
        }
    }

    /// Turns of a loop, for as long as they only compute.
    fn turns_quickly<'a>(
        &mut self,
        label: Option<&String>,
        body: &'a [Statement],
        turns: &mut impl Turns<'a, H>,
    ) -> Result<Reached<'a, H::Value>> {
        loop {
            if self.host.turn()? {
                return Ok(Reached::GivesWay);
            }
            match turns.next(self)? {
                Next::Begun => {}
                Next::None => return Ok(Reached::Turn(Turn::End)),
                Next::If(condition) => return Ok(Reached::If(condition)),
            }
            match self.quickly(body)? {
                Quick::Flow(Flow::Next) => {}
                Quick::Flow(flow) => match Turn::of(flow, label) {
                    Turn::Again => {}
                    turn => return Ok(Reached::Turn(turn)),
                },
                reached => return Ok(Reached::At(reached)),
            }
        }
    }
}
