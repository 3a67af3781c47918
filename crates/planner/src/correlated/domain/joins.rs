//! Joins in a subquery, joined with the domain.

use super::super::bind;
use super::super::outside;
use super::nodes::made;
use super::{Builder, Made};
use datafusion::common::{Column, JoinType, Result};
use datafusion::logical_expr::{Expr, Join, LogicalPlan, Projection};
use std::sync::Arc;

impl Builder<'_> {
    /// A join. Rows of both sides join if they are of the same set, or if the rows of one side are the same for all sets.
    pub(super) fn of_join(&mut self, join: &Join, node: &LogicalPlan) -> Result<Option<Made>> {
        if !matches!(join.join_type, JoinType::Inner | JoinType::Left | JoinType::Right) {
            return Ok(None);
        }
        let Some(left) = self.of_plan(&join.left)? else { return Ok(None) };
        if bind::is_lateral(&join.right) {
            return self.of_lateral(join, left, node);
        }
        let Some(right) = self.of_plan(&join.right)? else { return Ok(None) };
        if self.answers_nothing {
            return Ok(None);
        }
        // The side whose rows all stay has rows of all sets; of an inner join, one that has them already.
        let is_right = match join.join_type {
            JoinType::Right => true,
            JoinType::Left => false,
            _ => left.sets.is_none() && right.sets.is_some(),
        };
        let (kept, other) = if is_right { (right, left) } else { (left, right) };
        let (kept, sets) = self.with_sets(kept)?;
        let mut on = join.on.clone();
        let own = if is_right { &join.left } else { &join.right }.schema().columns();
        if let Some(of_other) = &other.sets {
            let same = (Expr::Column(sets[0].clone()), Expr::Column(of_other[0].clone()));
            on.push(if is_right { (same.1, same.0) } else { same });
        }
        let shown = kept.schema().columns().into_iter().chain(own).map(Expr::Column).collect();
        let (left, right) = if is_right { (other.plan, kept) } else { (kept, other.plan) };
        let joined = self.joined(join, on, left, right, &sets, node)?;
        let plan = Projection::try_new(shown, Arc::new(joined))?;
        Ok(made(LogicalPlan::Projection(plan), sets))
    }

    /// A join whose right side runs for each row of the left one. It refers to outer columns as to those of the left side.
    fn of_lateral(&mut self, join: &Join, left: Made, node: &LogicalPlan) -> Result<Option<Made>> {
        if self.answers_nothing || join.join_type == JoinType::Right {
            return Ok(None);
        }
        let (left, sets) = self.with_sets(left)?;
        let right = bind::bind_lateral(&join.right, &self.bound(&sets))?;
        let joined = self.joined(join, join.on.clone(), left, right, &sets, node)?;
        Ok(made(joined, sets))
    }

    fn joined(
        &self,
        join: &Join,
        on: Vec<(Expr, Expr)>,
        left: LogicalPlan,
        right: LogicalPlan,
        sets: &[Column],
        node: &LogicalPlan,
    ) -> Result<LogicalPlan> {
        let (mut keys, mut filter) = (Vec::with_capacity(on.len()), join.filter.clone());
        for (left, right) in on {
            if outside::are_referred_to(self.columns, &[left.clone(), right.clone()])? {
                let same = left.eq(right);
                filter =
                    Some(filter.map_or_else(|| same.clone(), |filter| filter.and(same.clone())));
            } else {
                keys.push((left, right));
            }
        }
        let filter = filter.map(|filter| self.replaced(&filter, sets, node)).transpose()?;
        Ok(LogicalPlan::Join(Join::try_new(
            Arc::new(left),
            Arc::new(right),
            keys,
            filter,
            join.join_type,
            join.join_constraint,
            join.null_equality,
            join.null_aware,
        )?))
    }
}
