//! Collects the references of a query to the names of a WITH clause.
//!
//! References in window definitions are not found.

use super::super::dialect::build::last;
use datafusion::sql::sqlparser::ast::{
    Cte, Expr, Function, GroupByExpr, Ident, Join, JoinConstraint, JoinOperator, LimitClause,
    Query, Select, SetExpr, SetOperator, SetQuantifier, Spanned, TableFactor, TableWithJoins,
    Visitor,
};
use datafusion::sql::sqlparser::tokenizer::Location;
use parser::names::fold;
use parser::walk::{Syntax, visit};
use std::ops::ControlFlow;

/// Where a reference stands. The outermost of these places that is not `Anywhere` counts, but a
/// subquery in an expression always does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Anywhere,
    Subquery,
    OuterJoin,
    Intersect,
    Except,
}

/// A reference to a common table expression.
#[derive(Debug)]
pub(super) struct Reference {
    /// The case-folded name.
    pub(super) name: String,
    pub(super) at: Location,
    pub(super) place: Place,
}

/// A walk over a query that collects references.
pub(super) struct Walk<'a> {
    names: &'a [String],
    is_aggregate: &'a dyn Fn(&str) -> bool,
    /// Names that inner WITH clauses define.
    hidden: Vec<String>,
    place: Place,
    /// Whether a reference stands in FROM of the innermost select.
    is_read: bool,
    /// The references, in the order of the query's parts.
    pub(super) found: Vec<Reference>,
    /// The places of the aggregates of selects with a reference in FROM.
    pub(super) aggregates: Vec<Location>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(names: &'a [String], is_aggregate: &'a dyn Fn(&str) -> bool) -> Self {
        Self {
            names,
            is_aggregate,
            hidden: Vec::new(),
            place: Place::Anywhere,
            is_read: false,
            found: Vec::new(),
            aggregates: Vec::new(),
        }
    }

    pub(super) fn query(&mut self, query: &Query) {
        let visible = self.hidden.len();
        if let Some(with) = &query.with {
            if with.recursive {
                self.hidden.extend(with.cte_tables.iter().map(table_name));
            }
            for table in &with.cte_tables {
                self.query(&table.query);
                if !with.recursive {
                    self.hidden.push(table_name(table));
                }
            }
        }
        self.set(&query.body);
        if let Some(order) = &query.order_by {
            self.subqueries(order);
        }
        match &query.limit_clause {
            Some(LimitClause::LimitOffset { limit, offset, .. }) => {
                let offset = offset.iter().map(|offset| &offset.value);
                limit.iter().chain(offset).for_each(|expr| self.subqueries(expr));
            }
            Some(LimitClause::OffsetCommaLimit { offset, limit }) => {
                self.subqueries(offset);
                self.subqueries(limit);
            }
            None => {}
        }
        self.hidden.truncate(visible);
    }

    pub(super) fn set(&mut self, body: &SetExpr) {
        match body {
            SetExpr::Select(select) => self.select(select),
            SetExpr::Query(query) => self.query(query),
            SetExpr::SetOperation { op, set_quantifier, left, right } => {
                let all = *set_quantifier == SetQuantifier::All;
                let (of_left, of_right) = match op {
                    SetOperator::Intersect if all => (Place::Intersect, Place::Intersect),
                    SetOperator::Except if all => (Place::Except, Place::Except),
                    SetOperator::Except | SetOperator::Minus => (Place::Anywhere, Place::Except),
                    SetOperator::Union | SetOperator::Intersect => {
                        (Place::Anywhere, Place::Anywhere)
                    }
                };
                self.within(of_left, |walk| walk.set(left));
                self.within(of_right, |walk| walk.set(right));
            }
            SetExpr::Values(values) => {
                let values = values.rows.iter().flat_map(|row| &row.content);
                values.for_each(|value| self.subqueries(value));
            }
            SetExpr::Table(table) => {
                if let (Some(name), None) = (&table.table_name, &table.schema_name) {
                    self.name(&Ident::new(name));
                }
            }
            SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => {}
        }
    }

    fn select(&mut self, select: &Select) {
        select.projection.iter().for_each(|item| self.subqueries(item));
        let outside = std::mem::take(&mut self.is_read);
        select.from.iter().for_each(|from| self.joined(from));
        if std::mem::replace(&mut self.is_read, outside) {
            select.projection.iter().for_each(|item| self.calls(item));
            select.having.iter().for_each(|condition| self.calls(condition));
        }
        let grouping = match &select.group_by {
            GroupByExpr::Expressions(by, _) => by.as_slice(),
            GroupByExpr::All(_) => &[],
        };
        let conditions = select.selection.iter().chain(grouping).chain(&select.having);
        conditions.for_each(|expr| self.subqueries(expr));
    }

    fn joined(&mut self, from: &TableWithJoins) {
        self.join(&from.relation, &from.joins);
    }

    /// The last join, whose left side is all joins before it.
    fn join(&mut self, relation: &TableFactor, joins: &[Join]) {
        let Some((last, before)) = joins.split_last() else { return self.factor(relation) };
        use JoinOperator as J;
        let (of_left, of_right, constraint) = match &last.join_operator {
            J::Left(by) | J::LeftOuter(by) => (Place::Anywhere, Place::OuterJoin, Some(by)),
            J::Right(by) | J::RightOuter(by) => (Place::OuterJoin, Place::Anywhere, Some(by)),
            J::FullOuter(by) => (Place::OuterJoin, Place::OuterJoin, Some(by)),
            J::Join(by) | J::Inner(by) | J::CrossJoin(by) => {
                (Place::Anywhere, Place::Anywhere, Some(by))
            }
            _ => (Place::Anywhere, Place::Anywhere, None),
        };
        self.within(of_left, |walk| walk.join(relation, before));
        self.within(of_right, |walk| walk.factor(&last.relation));
        if let Some(JoinConstraint::On(condition)) = constraint {
            self.subqueries(condition);
        }
    }

    fn factor(&mut self, factor: &TableFactor) {
        match factor {
            TableFactor::Table { name, args: None, .. } => {
                if let [part] = &name.0[..]
                    && let Some(ident) = part.as_ident()
                {
                    self.name(ident);
                }
            }
            TableFactor::Derived { subquery, .. } => self.query(subquery),
            TableFactor::NestedJoin { table_with_joins, .. } => self.joined(table_with_joins),
            TableFactor::TableFunction { expr, .. } => self.subqueries(expr),
            TableFactor::UNNEST { array_exprs, .. } => {
                array_exprs.iter().for_each(|expr| self.subqueries(expr));
            }
            _ => {}
        }
    }

    fn name(&mut self, written: &Ident) {
        let name = fold(written);
        if self.names.contains(&name) && !self.hidden.contains(&name) {
            let at = written.span.start;
            self.found.push(Reference { name, at, place: self.place });
            self.is_read = true;
        }
    }

    /// Walks a part that makes references in it stand at `place`.
    fn within(&mut self, place: Place, walk: impl FnOnce(&mut Self)) {
        let before = self.place;
        if before == Place::Anywhere {
            self.place = place;
        }
        walk(self);
        self.place = before;
    }

    fn calls(&mut self, part: &impl Syntax) {
        let _ = visit(part, &mut Aggregates { walk: self, depth: 0 });
    }

    /// The subqueries of an expression.
    fn subqueries(&mut self, part: &impl Syntax) {
        let before = std::mem::replace(&mut self.place, Place::Subquery);
        let _ = visit(part, &mut Subqueries { walk: self, depth: 0 });
        self.place = before;
    }
}

/// The case-folded name that a WITH clause gives to a query.
pub(super) fn table_name(table: &Cte) -> String {
    fold(&table.alias.name)
}

/// Walks the outermost subqueries of an expression.
struct Subqueries<'w, 'a> {
    walk: &'w mut Walk<'a>,
    depth: usize,
}

impl Visitor for Subqueries<'_, '_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        if self.depth == 0 {
            self.walk.query(query);
        }
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }
}

/// Finds the aggregates in an expression, but not in its subqueries.
struct Aggregates<'w, 'a> {
    walk: &'w mut Walk<'a>,
    depth: usize,
}

impl Visitor for Aggregates<'_, '_> {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if self.depth == 0
            && let Expr::Function(Function { name, over: None, .. }) = expr
            && (self.walk.is_aggregate)(&last(name))
        {
            self.walk.aggregates.push(name.span().start);
        }
        ControlFlow::Continue(())
    }
}
