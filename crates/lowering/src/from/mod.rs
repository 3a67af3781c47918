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
                let left = self.item(left)?;
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
            return self.lateral(left, kind, relation, condition);
        }
        let right = self.item(right)?;
        self.joined_on(left, right, kind, condition)
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
            Kind::And(parts) => {
                parts.iter().map(|part| self.condition(part)).collect::<Result<Vec<_>>>()
            }
            _ => self.condition(condition).map(|condition| vec![condition]),
        };
        self.is_joining = outer;
        let conditions = conditions?;
        let condition = self.logic(conditions, Logic::And)?;
        Ok(builder.join_on(right, join_type(kind), [condition])?.build()?)
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
