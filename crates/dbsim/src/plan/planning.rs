//! Costs of planning a statement, which do not depend on the number of rows.

use super::{Kind, Operator, OperatorId, Plan, Task};
use crate::hardware::not_negative;
use serde::Deserialize;

/// Number of planning costs, without the elements of lists.
pub const KINDS: usize = 5;

/// Cycles of planning for each part of a statement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Planning {
    /// The statement itself.
    #[serde(deserialize_with = "not_negative")]
    pub statement: f64,
    /// An operator. A group-by and its aggregate count as one.
    #[serde(deserialize_with = "not_negative")]
    pub operator: f64,
    /// A table with a predicate: zone maps are checked and the selectivity is estimated.
    #[serde(deserialize_with = "not_negative")]
    pub filter: f64,
    /// A function of an aggregate.
    #[serde(deserialize_with = "not_negative")]
    pub function: f64,
    /// Any other expression.
    #[serde(deserialize_with = "not_negative")]
    pub expression: f64,
    /// An element of a list.
    #[serde(deserialize_with = "not_negative")]
    pub listed: f64,
}

impl Planning {
    /// Cycles of planning a plan, without the subqueries that are planned at each execution.
    pub fn cycles(&self, plan: &Plan) -> f64 {
        self.cycles_of(plan, plan.root())
    }

    /// Cycles of planning the subtree of a subquery.
    pub(crate) fn cycles_of(&self, plan: &Plan, root: OperatorId) -> f64 {
        let Self { statement, operator, filter, function, expression, listed } = *self;
        let costs = [statement, operator, filter, function, expression];
        let together = plan.planned_together(root);
        let values: f64 = together.iter().map(|id| plan.operators[*id].listed).sum();
        let parts = costs.iter().zip(plan.planned_of(&together)).map(|(cost, count)| cost * count);
        parts.sum::<f64>() + listed * values
    }
}

impl From<[f64; KINDS]> for Planning {
    fn from(costs: [f64; KINDS]) -> Self {
        let [statement, operator, filter, function, expression] = costs;
        Self { statement, operator, filter, function, expression, listed: 0.0 }
    }
}

impl Plan {
    /// Counts of the parts that [`Planning`] has costs for, in its order, without the elements of
    /// lists.
    pub fn planned(&self) -> [f64; KINDS] {
        self.planned_of(&self.planned_together(self.root()))
    }

    /// The operators of a statement, without those of its subqueries.
    fn planned_together(&self, root: OperatorId) -> Vec<OperatorId> {
        let (mut together, mut open) = (Vec::new(), vec![root]);
        while let Some(id) = open.pop() {
            together.push(id);
            let Operator { kind, children, .. } = &self.operators[id];
            let with_it = if *kind == Kind::Subquery { 1 } else { children.len() };
            open.extend(children.iter().take(with_it));
        }
        together
    }

    fn planned_of(&self, together: &[OperatorId]) -> [f64; KINDS] {
        let mut planned = [1.0, 0.0, 0.0, 0.0, 0.0];
        let [_, operators, filters, functions, expressions] = &mut planned;
        for operator in together.iter().map(|id| &self.operators[*id]) {
            let tasks = || operator.terms.iter().map(|term| term.task);
            let is_group_by = |child: &usize| self.operators[*child].kind == Kind::GroupBy;
            let of_groups = operator.kind == Kind::Aggregate;
            if !(of_groups && operator.children.iter().any(is_group_by)) {
                *operators += 1.0;
            }
            if operator.kind.is_scan() && tasks().any(chooses) {
                *filters += 1.0;
            }
            *functions += operator.functions;
            *expressions += tasks().filter(|task| is_written(*task)).count() as f64;
        }
        planned
    }
}

/// Whether the task is an expression of the statement, not a data movement that one causes.
fn is_written(task: Task) -> bool {
    use Task::{Among, Choose, Fetch, Moving, Order, Pass, Rank, Running};
    !matches!(task, Among | Choose | Pass | Fetch | Order | Rank | Running | Moving)
}

/// Whether the task belongs to a predicate.
fn chooses(task: Task) -> bool {
    matches!(task, Task::Compare | Task::Match | Task::MatchAgain | Task::Search)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Table, Term};

    #[test]
    fn the_parts_of_a_statement_are_counted() {
        let of = |kind, children: &[usize], tasks: &[Task]| Operator {
            terms: tasks.iter().map(|task| Term::new(*task, 1.0, 1.0)).collect(),
            ..Operator::new(kind, children, 10.0, 8.0)
        };
        let scan = |tasks: &[Task]| {
            let table = Table { name: "orders".to_owned(), rows: 10.0, row_bytes: 8.0 };
            Operator { table: Some(table), ..of(Kind::SequentialScan, &[], tasks) }
        };
        let operators = vec![
            scan(&[Task::Compare, Task::Among, Task::Choose, Task::Fetch, Task::Match]),
            Operator { listed: 8.0, ..scan(&[Task::Calculate, Task::Find]) },
            of(Kind::HashJoin, &[0, 1], &[]),
            of(Kind::GroupBy, &[2], &[Task::Key]),
            Operator { functions: 3.0, ..of(Kind::Aggregate, &[3], &[]) },
            of(Kind::Sort, &[4], &[Task::Order]),
        ];
        let plan = Plan::new("mine", operators).expect("a plan");
        assert_eq!(plan.planned(), [1.0, 5.0, 1.0, 3.0, 5.0]);
        let costs = Planning::from([1e6, 1e5, 1e4, 1e3, 1e2]);
        assert_eq!(costs.cycles(&plan), 1_513_500.0);
        let costs = Planning { listed: 50.0, ..costs };
        assert_eq!(costs.cycles(&plan), 1_513_500.0 + 8.0 * 50.0);
        let operators = [scan(&[]), scan(&[Task::Compare]), of(Kind::Subquery, &[0, 1], &[])];
        let plan = Plan::new("by row", operators.to_vec()).expect("a plan");
        assert_eq!(costs.cycles(&plan), 1_200_000.0, "a scan, and that there is a subquery");
        assert_eq!(costs.cycles_of(&plan, 1), 1_110_100.0, "a statement of its own");
    }
}
