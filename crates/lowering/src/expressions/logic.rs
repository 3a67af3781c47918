//! Logic on truth values.

use super::waiting::where_needed;
use crate::long::{LONG, Logic, is_of_join, is_plain, listed};
use crate::refusal::Result;
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::tree::{Expr, TruthTest};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::{Exists, InList, InSubquery, Like};
use datafusion::logical_expr::{Expr as Engine, lit};

/// The number of conditions up to which they are joined one after the other, as the statement has them. More are joined
/// as a tree, which is not deep.
const IN_ORDER: usize = 64;

impl Lowering<'_> {
    /// Conditions joined by AND or OR.
    pub(super) fn joined(&mut self, parts: &[Expr], logic: Logic) -> Result<Typed> {
        let mut is_decided = false;
        let mut conditions = Vec::with_capacity(parts.len());
        for part in parts {
            let part = self.skipping(is_decided, |lowering| lowering.condition(part))?;
            // NULL decides nothing.
            let decides = Engine::Literal(ScalarValue::Boolean(Some(logic == Logic::Or)), None);
            is_decided |= part == decides;
            conditions.push(part);
        }
        if is_decided && self.around.folds {
            return Ok(Typed::boolean(lit(logic == Logic::Or)));
        }
        Ok(Typed::boolean(self.logic(conditions, logic)?))
    }

    /// Conditions joined to one. Many are a call ([`crate::long`]), but for what the engine looks for in them: lists, and
    /// of an AND some of the conditions, first those of joins.
    pub(crate) fn logic(&mut self, mut parts: Vec<Engine>, logic: Logic) -> Result<Engine> {
        parts.iter_mut().skip(1).try_for_each(where_needed)?;
        let join = |left, right| logic.join(left, right);
        if parts.len() <= LONG {
            return Ok(all(parts, join));
        }
        let parts = listed(parts, logic);
        let (mut plain, mut others): (Vec<_>, Vec<_>) = parts.into_iter().partition(is_plain);
        if logic == Logic::And {
            plain.sort_by_key(|part| !is_of_join(part));
            others.extend(plain.drain(..plain.len().min(LONG)));
        }
        if plain.len() > LONG {
            others.push(self.compiled_logic(plain, logic)?);
        } else {
            others.append(&mut plain);
        }
        Ok(all(others, join))
    }

    pub(super) fn negation(&mut self, inner: &Expr) -> Result<Typed> {
        Ok(Typed::boolean(negated(self.expr(inner)?.expr)))
    }

    pub(super) fn truth(&mut self, inner: &Expr, test: TruthTest) -> Result<Typed> {
        let inner = self.expr(inner)?.expr;
        if let (Engine::Literal(ScalarValue::Boolean(value), _), true) = (&inner, self.around.folds)
        {
            return Ok(Typed::boolean(lit(of_constant(*value, test))));
        }
        Ok(Typed::boolean(match test {
            TruthTest::True => inner.is_true(),
            TruthTest::NotTrue => inner.is_not_true(),
            TruthTest::False => inner.is_false(),
            TruthTest::NotFalse => inner.is_not_false(),
            TruthTest::Unknown => inner.is_unknown(),
            TruthTest::NotUnknown => inner.is_not_unknown(),
        }))
    }
}

/// The test of a known truth value.
fn of_constant(value: Option<bool>, test: TruthTest) -> bool {
    match test {
        TruthTest::True => value == Some(true),
        TruthTest::NotTrue => value != Some(true),
        TruthTest::False => value == Some(false),
        TruthTest::NotFalse => value != Some(false),
        TruthTest::Unknown => value.is_none(),
        TruthTest::NotUnknown => value.is_some(),
    }
}

/// Conditions joined to one.
pub(crate) fn all(
    mut parts: Vec<Engine>,
    join: impl Fn(Engine, Engine) -> Engine + Copy,
) -> Engine {
    if parts.len() <= IN_ORDER {
        let joined = parts.into_iter().reduce(join);
        return joined.unwrap_or(Engine::Literal(ScalarValue::Boolean(Some(true)), None));
    }
    let rest = parts.split_off(parts.len() / 2);
    join(all(parts, join), all(rest, join))
}

/// The negation of a condition. Subqueries and lists have negated forms.
pub(crate) fn negated(expr: Engine) -> Engine {
    match expr {
        Engine::InList(list) => Engine::InList(InList { negated: !list.negated, ..list }),
        Engine::Like(like) => Engine::Like(Like { negated: !like.negated, ..like }),
        Engine::Exists(exists) => Engine::Exists(Exists { negated: !exists.negated, ..exists }),
        Engine::InSubquery(within) => {
            Engine::InSubquery(InSubquery { negated: !within.negated, ..within })
        }
        other => Engine::Not(Box::new(other)),
    }
}
