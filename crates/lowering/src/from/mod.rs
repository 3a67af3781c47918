//! FROM: relations and joins.

mod functions;
mod lateral;
mod relations;
mod series;

use crate::long::Logic;
use crate::refusal::Result;
use crate::scope::Lowering;
use analyzer::tree::{Expr, From, JoinKind, Kind};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr as Engine, JoinType, LogicalPlan, LogicalPlanBuilder};
use grammar::growing;

impl Lowering<'_> {
    /// The rows of the items of FROM; one row without columns if there are none.
    pub(crate) fn from(&mut self, items: &[From]) -> Result<LogicalPlan> {
        let mut plan = None;
        for item in items {
            plan = Some(match plan {
                None => self.item(item)?,
                Some(left) => self.join(left, JoinKind::Inner, item, None)?,
            });
        }
        match plan {
            Some(plan) => Ok(plan),
            None => Ok(LogicalPlanBuilder::empty(true).build()?),
        }
    }

    fn item(&mut self, item: &From) -> Result<LogicalPlan> {
        growing(|| match item {
            From::Relation(relation) => self.relation(relation),
            From::Join { kind, left, right, condition } => {
                let is_left_nullable = matches!(kind, JoinKind::Right | JoinKind::Full);
                let left = self.nullable(is_left_nullable, |lowering| lowering.item(left))?;
                self.join(left, *kind, right, condition.as_ref())
            }
        })
    }

    fn join(
        &mut self,
        left: LogicalPlan,
        kind: JoinKind,
        right: &From,
        condition: Option<&Expr>,
    ) -> Result<LogicalPlan> {
        if let From::Relation(relation) = right
            && relation.is_lateral
        {
            let is_nullable = kind == JoinKind::Left;
            return self.nullable(is_nullable, |lowering| {
                lowering.lateral(left, kind, relation, condition)
            });
        }
        if kind == JoinKind::Inner
            && condition.is_none()
            && let From::Join { kind, left: first, right: others, condition } = right
            && begins_lateral(right)
        {
            // Its first relation refers to the left side, which is joined with it before the others are.
            let left = self.join(left, JoinKind::Inner, first, None)?;
            return self.join(left, *kind, others, condition.as_ref());
        }
        let is_nullable = matches!(kind, JoinKind::Left | JoinKind::Full);
        let right = self.nullable(is_nullable, |lowering| lowering.item(right))?;
        self.joined_on(left, right, kind, condition)
    }

    /// Lowers a side of a join, of which an outer join may make up rows.
    fn nullable<T>(
        &mut self,
        is_nullable: bool,
        lower: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let before = self.is_nullable;
        self.is_nullable |= is_nullable;
        let lowered = lower(self);
        self.is_nullable = before;
        lowered
    }

    /// The join of two plans.
    fn joined_on(
        &mut self,
        left: LogicalPlan,
        right: LogicalPlan,
        kind: JoinKind,
        condition: Option<&Expr>,
    ) -> Result<LogicalPlan> {
        let builder = LogicalPlanBuilder::from(left);
        let Some(condition) = condition else {
            return Ok(match kind {
                JoinKind::Inner => builder.cross_join(right)?.build()?,
                kind => builder.join_on(right, join_type(kind), [always()])?.build()?,
            });
        };
        let outer = std::mem::replace(&mut self.is_joining, true);
        let conditions = match &condition.kind {
            Kind::And(parts) => self.all_of(parts, Self::condition),
            _ => self.condition(condition).map(|condition| vec![condition]),
        };
        self.is_joining = outer;
        let conditions = conditions?;
        let condition = self.logic(conditions, Logic::And)?;
        Ok(builder.join_on(right, join_type(kind), [condition])?.build()?)
    }
}

/// Whether an item begins with a relation that refers to those before the item.
fn begins_lateral(item: &From) -> bool {
    match item {
        From::Relation(relation) => relation.is_lateral,
        From::Join { kind: JoinKind::Inner | JoinKind::Left, left, .. } => begins_lateral(left),
        From::Join { .. } => false,
    }
}

fn join_type(kind: JoinKind) -> JoinType {
    match kind {
        JoinKind::Inner => JoinType::Inner,
        JoinKind::Left => JoinType::Left,
        JoinKind::Right => JoinType::Right,
        JoinKind::Full => JoinType::Full,
    }
}

/// The condition that every pair fulfills.
fn always() -> Engine {
    Engine::Literal(ScalarValue::Boolean(Some(true)), None)
}
