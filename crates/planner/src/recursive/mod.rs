//! WITH RECURSIVE: orders its queries by their references, and refuses recursion that has no meaning.
//!
//! DataFusion takes any UNION in WITH RECURSIVE as a recursive query and drops what stands around
//! the UNION: WITH, ORDER BY, LIMIT. It accepts recursion that never ends, such as an aggregate of
//! the query's own rows. The rules and messages are PostgreSQL's.

mod references;

use super::dialect::array_queries::empty;
use datafusion::sql::sqlparser::ast::{
    Cte, LimitClause, Query, SetExpr, SetOperator, Spanned, Statement, VisitorMut, With,
};
use datafusion::sql::sqlparser::tokenizer::Location;
use parser::walk::visit_mut;
use references::{Place, Reference, Walk, table_name};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use values::error::{Error, Result, SqlState};
use values::lines::Lines;

/// Prepares the WITH RECURSIVE clauses of a statement for DataFusion. `text` is the statement's text,
/// in which errors get a position; it is empty if there is none.
///
/// # Errors
/// 42P19 for recursion that PostgreSQL refuses; 0A000 for what it does not implement.
pub(super) fn of_statement(
    mut statement: Statement,
    text: &str,
    is_aggregate: &dyn Fn(&str) -> bool,
) -> Result<Statement> {
    match visit_mut(&mut statement, &mut Clauses { text, is_aggregate }) {
        ControlFlow::Continue(()) => Ok(statement),
        ControlFlow::Break(error) => Err(error),
    }
}

struct Clauses<'a> {
    text: &'a str,
    is_aggregate: &'a dyn Fn(&str) -> bool,
}

impl VisitorMut for Clauses<'_> {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        let Some(with) = query.with.as_mut().filter(|with| with.recursive) else {
            return ControlFlow::Continue(());
        };
        match self.of_clause(with) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }
}

impl Clauses<'_> {
    fn of_clause(&self, with: &mut With) -> Result<()> {
        self.order(with)?;
        for table in &mut with.cte_tables {
            let own = [table_name(table)];
            let (references, _) = self.references(&own, |walk| walk.query(&table.query));
            if references.is_empty() {
                protect(&mut table.query);
            } else {
                self.check(table)?;
                give_to_terms(&mut table.query);
            }
        }
        Ok(())
    }

    /// Puts each query behind those that it refers to.
    fn order(&self, with: &mut With) -> Result<()> {
        let names: Vec<String> = with.cte_tables.iter().map(table_name).collect();
        let mut needed: Vec<BTreeSet<String>> = Vec::new();
        for (table, name) in with.cte_tables.iter().zip(&names) {
            let (references, _) = self.references(&names, |walk| walk.query(&table.query));
            let others = references.into_iter().map(|reference| reference.name);
            needed.push(others.filter(|other| other != name).collect());
        }
        for place in 0..names.len() {
            let Some(ready) = (place..names.len()).find(|other| needed[*other].is_empty()) else {
                let message = "mutual recursion between WITH items is not implemented";
                let at = with.cte_tables[place].alias.name.span.start;
                return Err(self.at(Error::unsupported(message), at));
            };
            with.cte_tables.swap(place, ready);
            needed.swap(place, ready);
            let done = table_name(&with.cte_tables[place]);
            needed.iter_mut().for_each(|names| {
                names.remove(&done);
            });
        }
        Ok(())
    }

    /// Refuses a recursive query that is not well formed.
    fn check(&self, table: &Cte) -> Result<()> {
        let (name, query) = (table_name(table), &*table.query);
        let own = [name.clone()];
        let SetExpr::SetOperation { op: SetOperator::Union, left, right, .. } = &*query.body else {
            let message = format!(
                "recursive query \"{name}\" does not have the form non-recursive-term UNION [ALL] \
                 recursive-term"
            );
            return Err(self.refused(message, table.alias.name.span.start));
        };
        let (in_left, _) = self.references(&own, |walk| walk.set(left));
        if let Some(reference) = in_left.first() {
            return Err(self.misplaced(reference, "within its non-recursive term"));
        }
        let (in_right, aggregates) = self.references(&own, |walk| walk.set(right));
        for (count, reference) in in_right.iter().enumerate() {
            let place = match reference.place {
                Place::Anywhere if count == 0 => continue,
                Place::Anywhere => "more than once",
                Place::Subquery => "within a subquery",
                Place::OuterJoin => "within an outer join",
                Place::Intersect => "within INTERSECT",
                Place::Except => "within EXCEPT",
            };
            return Err(self.misplaced(reference, place));
        }
        let tables = query.with.iter().flat_map(|with| &with.cte_tables);
        for inner in tables {
            let (references, _) = self.references(&own, |walk| walk.query(&inner.query));
            if let Some(reference) = references.first() {
                return Err(self.misplaced(reference, "within a subquery"));
            }
        }
        self.refuse_around(query)?;
        match aggregates.first() {
            Some(at) => {
                let message =
                    "aggregate functions are not allowed in a recursive query's recursive term";
                Err(self.refused(message, *at))
            }
            None => Ok(()),
        }
    }

    /// Refuses clauses around the UNION of a recursive query.
    fn refuse_around(&self, query: &Query) -> Result<()> {
        let unsupported = |what: &str, at: Option<Location>| {
            let error =
                Error::unsupported(format!("{what} in a recursive query is not implemented"));
            Err(match at {
                Some(at) => self.at(error, at),
                None => error,
            })
        };
        if let Some(order) = &query.order_by {
            return unsupported("ORDER BY", Some(order.span().start));
        }
        if let Some(LimitClause::LimitOffset { limit, offset, .. }) = &query.limit_clause {
            if let Some(offset) = offset {
                return unsupported("OFFSET", Some(offset.value.span().start));
            }
            if let Some(limit) = limit {
                return unsupported("LIMIT", Some(limit.span().start));
            }
        }
        if query.locks.is_empty() { Ok(()) } else { unsupported("FOR UPDATE/SHARE", None) }
    }

    fn references(
        &self,
        names: &[String],
        walk: impl FnOnce(&mut Walk<'_>),
    ) -> (Vec<Reference>, Vec<Location>) {
        let mut all = Walk::new(names, self.is_aggregate);
        walk(&mut all);
        (all.found, all.aggregates)
    }

    fn misplaced(&self, reference: &Reference, place: &str) -> Error {
        let name = &reference.name;
        let message = format!("recursive reference to query \"{name}\" must not appear {place}");
        self.refused(message, reference.at)
    }

    fn refused(&self, message: impl Into<String>, at: Location) -> Error {
        self.at(Error::new(SqlState::InvalidRecursion, message), at)
    }

    fn at(&self, error: Error, at: Location) -> Error {
        if at.line == 0 || self.text.is_empty() {
            return error;
        }
        error.at(Lines::new(self.text).character(at) + 1)
    }
}

/// Hides a UNION without recursion from DataFusion.
fn protect(query: &mut Query) {
    if matches!(*query.body, SetExpr::SetOperation { op: SetOperator::Union, .. }) {
        let hidden = std::mem::replace(query, empty());
        *query.body = SetExpr::Query(Box::new(hidden));
    }
}

/// Moves the WITH clause of a recursive query into both of its terms.
fn give_to_terms(query: &mut Query) {
    let Some(with) = query.with.take() else { return };
    let SetExpr::SetOperation { left, right, .. } = &mut *query.body else { return };
    for term in [left, right] {
        let mut with_tables = Query { with: Some(with.clone()), ..empty() };
        std::mem::swap(&mut with_tables.body, term);
        **term = SetExpr::Query(Box::new(with_tables));
    }
}
