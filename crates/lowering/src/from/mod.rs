//! FROM: relations and joins.

mod functions;
mod lateral;
mod relations;
mod series;

use crate::long::Logic;
use crate::refusal::Result;
use crate::scope::Lowering;
use analyzer::tree::walk::{contains, from_expressions};
use analyzer::tree::{Expr, From, JoinKind, Kind, RelationId, full_joins};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr as Engine, JoinType, LogicalPlan, LogicalPlanBuilder};
use grammar::growing;
use std::collections::HashSet;
use values::error::Error;

/// The message of PostgreSQL for full joins that it cannot compute.
const NO_FULL_JOIN: &str =
    "FULL JOIN is only supported with merge-joinable or hash-joinable join conditions";

impl Lowering<'_> {
    /// The rows of the items of FROM; one row without columns if there are none.
    pub(crate) fn from(&mut self, items: &[From]) -> Result<LogicalPlan> {
        let mut plan = None;
        for (at, item) in items.iter().enumerate() {
            plan = Some(match plan {
                None => self.item(item)?,
                Some(left) if refers_to(item, &items[..at]) => self.along(left, item)?,
                Some(left) => self.join(left, JoinKind::Inner, item, None)?,
            });
        }
        match plan {
            Some(plan) => Ok(plan),
            None => Ok(LogicalPlanBuilder::empty(true).build()?),
        }
    }

    /// The join of a plan with a join whose relations refer to it: it is joined with one after the other.
    fn along(&mut self, left: LogicalPlan, item: &From) -> Result<LogicalPlan> {
        match item {
            From::Join { kind, left: first, right, condition }
                if matches!(kind, JoinKind::Inner | JoinKind::Left) =>
            {
                let left = growing(|| self.along(left, first))?;
                self.join(left, *kind, right, condition.as_ref())
            }
            item => self.join(left, JoinKind::Inner, item, None),
        }
    }

    fn item(&mut self, item: &From) -> Result<LogicalPlan> {
        growing(|| match item {
            From::Relation(relation) => self.relation(relation),
            From::Join { kind, left, right, condition } => {
                let is_left_nullable = matches!(kind, JoinKind::Right | JoinKind::Full);
                if let (JoinKind::Full, false, Some(condition)) =
                    (kind, self.is_filtered, condition)
                    && full_joins::is_refused(left, right, condition)
                {
                    return Err(Error::unsupported(NO_FULL_JOIN).into());
                }
                self.filtered_by(condition.is_some(), |lowering| {
                    let left = lowering.nullable(is_left_nullable, |of| of.item(left))?;
                    lowering.join(left, *kind, right, condition.as_ref())
                })
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
        if kind == JoinKind::Inner && condition.is_none() && begins_lateral(right) {
            return self.along(left, right);
        }
        let is_nullable = matches!(kind, JoinKind::Left | JoinKind::Full);
        let right = self.nullable(is_nullable, |lowering| lowering.item(right))?;
        self.joined_on(left, right, kind, condition)
    }

    /// Lowers what conditions around it may leave rows out of.
    pub(crate) fn filtered_by<T>(
        &mut self,
        is_filtered: bool,
        lower: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let before = self.is_filtered;
        self.is_filtered |= is_filtered;
        let lowered = lower(self);
        self.is_filtered = before;
        lowered
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

/// Whether a join refers to items before it.
fn refers_to(join: &From, before: &[From]) -> bool {
    if matches!(join, From::Relation(_)) {
        return false;
    }
    let mut known = HashSet::new();
    before.iter().for_each(|item| add_relations(item, &mut known));
    let is_known = |part: &Expr| matches!(&part.kind, Kind::Column(id, _) | Kind::WholeRow(id) if known.contains(id));
    let mut found = false;
    from_expressions(join, &mut |expr| {
        found = found || contains(expr, &mut |part| is_known(part));
    });
    found
}

fn add_relations(item: &From, relations: &mut HashSet<RelationId>) {
    match item {
        From::Relation(relation) => {
            relations.insert(relation.id);
        }
        From::Join { left, right, .. } => {
            add_relations(left, relations);
            add_relations(right, relations);
        }
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
