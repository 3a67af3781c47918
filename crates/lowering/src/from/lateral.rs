//! LATERAL: relations that refer to those before them.

use super::always;
use super::relations::aliased;
use crate::expressions::subquery_of;
use crate::names;
use crate::refusal::{Result, missing};
use crate::scope::{Lowering, OuterReferences};
use crate::sets::{Expanded, with_volatile};
use analyzer::tree::{Expr, JoinKind, Kind, Literal, Query, Relation, SetCall, Source};
use datafusion::common::{NullHandling, TableReference};
use datafusion::logical_expr::{Expr as Engine, JoinType, LogicalPlan, LogicalPlanBuilder};

impl Lowering<'_> {
    /// The join of a plan with a relation that may refer to its columns.
    pub(super) fn lateral(
        &mut self,
        left: LogicalPlan,
        kind: JoinKind,
        relation: &Relation,
        condition: Option<&Expr>,
    ) -> Result<LogicalPlan> {
        match &relation.source {
            Source::Functions { calls, ordinality } => {
                self.lateral_functions(left, kind, relation, condition, calls, *ordinality)
            }
            Source::Query(query) => self.lateral_query(left, kind, relation, condition, query),
            _ => {
                let right = self.relation(relation)?;
                self.joined_on(left, right, kind, condition)
            }
        }
    }

    fn lateral_query(
        &mut self,
        left: LogicalPlan,
        kind: JoinKind,
        relation: &Relation,
        condition: Option<&Expr>,
        query: &Query,
    ) -> Result<LogicalPlan> {
        let alias = self.qualifiers.add(&relation.alias);
        let ((plan, errors), outer) = self.in_subquery(|lowering| lowering.readable(query))?;
        self.unread.relations.insert(relation.id, errors);
        if outer.is_empty() {
            let right = aliased(plan, relation, &alias)?;
            let right = self.register(relation, right, &alias)?;
            return self.joined_on(left, right, kind, condition);
        }
        match condition {
            Some(condition) if kind == JoinKind::Left && !is_true(condition) => {
                let (right, more) = self.in_subquery(|lowering| {
                    let right = aliased(plan, relation, &alias)?;
                    lowering.filtered(relation, right, &alias, condition)
                })?;
                self.lateral_plan(left, kind, relation, None, right, outer.with(more))
            }
            condition => self.lateral_plan(left, kind, relation, condition, plan, outer),
        }
    }

    /// The rows of a relation that fulfil a condition of an outer join: those that a row of the left side is joined with.
    fn filtered(
        &mut self,
        relation: &Relation,
        right: LogicalPlan,
        alias: &str,
        condition: &Expr,
    ) -> Result<LogicalPlan> {
        self.in_frame(|lowering| {
            let right = lowering.register(relation, right, alias)?;
            let condition = lowering.condition(condition)?;
            Ok(LogicalPlanBuilder::from(right).filter(condition)?.build()?)
        })
    }

    /// The join of a plan with a plan that refers to its columns.
    fn lateral_plan(
        &mut self,
        left: LogicalPlan,
        kind: JoinKind,
        relation: &Relation,
        condition: Option<&Expr>,
        right: LogicalPlan,
        outer: OuterReferences,
    ) -> Result<LogicalPlan> {
        if self.is_nullable && self.whole_rows.contains(&relation.id) {
            return missing("the row of a LATERAL query that an outer join makes up");
        }
        let alias = self.qualifiers.add(&relation.alias);
        let right = renamed(right, relation)?;
        let right = LogicalPlan::Subquery(subquery_of(right, &outer));
        let name = TableReference::bare(alias.as_str());
        let right = LogicalPlanBuilder::from(right).alias(name)?.build()?;
        let right = self.register(relation, right, &alias)?;
        let condition = match condition {
            Some(condition) => self.condition(condition)?,
            None => always(),
        };
        let join = match kind {
            JoinKind::Inner => JoinType::Inner,
            JoinKind::Left => JoinType::Left,
            _ => return missing("LATERAL with this kind of join"),
        };
        Ok(LogicalPlanBuilder::from(left).join_on(right, join, [condition])?.build()?)
    }

    /// Functions of the columns of a plan: their rows are expanded in place.
    fn lateral_functions(
        &mut self,
        left: LogicalPlan,
        kind: JoinKind,
        relation: &Relation,
        condition: Option<&Expr>,
        calls: &[SetCall],
        ordinality: bool,
    ) -> Result<LogicalPlan> {
        if let Some(condition) = condition.filter(|condition| !is_true(condition))
            && kind == JoinKind::Left
        {
            let alias = self.qualifiers.add(&relation.alias);
            let (right, outer) = self.in_subquery(|lowering| {
                let right = lowering
                    .in_frame(|lowering| lowering.functions(calls, ordinality, relation, &alias))?;
                lowering.filtered(relation, right, &alias, condition)
            })?;
            return self.lateral_plan(left, kind, relation, None, right, outer);
        }
        let null_handling = match kind {
            JoinKind::Inner => NullHandling::Drop,
            JoinKind::Left => NullHandling::Preserve,
            _ => return missing("LATERAL with this kind of join"),
        };
        if self.is_nullable && self.whole_rows.contains(&relation.id) {
            return missing("the row of a LATERAL function that an outer join makes up");
        }
        let alias = self.qualifiers.add(&relation.alias);
        let own = left.schema().columns();
        let (mut left, mut columns) = self.columns_of(left, calls, ordinality)?;
        if kind == JoinKind::Left {
            left = with_volatile(left, &mut columns)?;
            // An array without items would drop its row, and NULL does not.
            for column in &mut columns {
                self.null_if_empty(column)?;
            }
        }
        let Expanded { plan, values } = self.expanded(left, columns, null_handling)?;
        let names = names::unique(relation.columns.iter().map(|column| &*column.name));
        let qualifier = TableReference::bare(alias);
        let width = own.len();
        let named = values.into_iter().zip(names);
        let named =
            named.map(|(value, name)| value.expr.alias_qualified(Some(qualifier.clone()), name));
        let all: Vec<Engine> = own.into_iter().map(Engine::Column).chain(named).collect();
        let plan = LogicalPlanBuilder::from(plan).project(all)?.build()?;
        let types = relation.columns.iter().map(|column| column.sql_type);
        self.add_relation_at(relation.id, &plan, width, types);
        self.add_row(relation, None);
        match condition.filter(|condition| !is_true(condition)) {
            Some(condition) => {
                let condition = self.condition(condition)?;
                Ok(LogicalPlanBuilder::from(plan).filter(condition)?.build()?)
            }
            None => Ok(plan),
        }
    }
}

/// A plan whose columns have the names of a relation's.
fn renamed(plan: LogicalPlan, relation: &Relation) -> Result<LogicalPlan> {
    let names = names::unique(relation.columns.iter().map(|column| &*column.name));
    let columns = plan.schema().columns();
    if columns.iter().map(|column| &column.name).eq(&names) {
        return Ok(plan);
    }
    let columns = columns.into_iter().zip(names);
    let columns = columns.map(|(column, name)| Engine::Column(column).alias(name));
    let columns: Vec<Engine> = columns.collect();
    Ok(LogicalPlanBuilder::from(plan).project(columns)?.build()?)
}

fn is_true(condition: &Expr) -> bool {
    matches!(condition.kind, Kind::Literal(Literal::Boolean(true)))
}
