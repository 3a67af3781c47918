//! Columns of subqueries in FROM that may stay unread.
//!
//! PostgreSQL takes such columns out of a subquery before it computes constants: `SELECT a FROM (SELECT a, 1 / 0 AS b FROM t) x`
//! is no error. The error of a constant in the select list is kept with its column, and counts when the column is read. Keys of
//! ORDER BY, and the columns of DISTINCT and of set operations, are needed in any case.

use crate::refusal::Result;
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::tree::{Body, Cte, CteId, Kind, Query, RelationId, Select, SelectId, SortKey};
use datafusion::logical_expr::LogicalPlan;
use std::collections::HashMap;
use values::error::Error;

/// The errors of constants in columns, by the places of the columns.
pub(crate) type Errors = Vec<(usize, Error)>;

/// What is known of columns that may stay unread.
#[derive(Default)]
pub(crate) struct Unread {
    /// The SELECTs with such columns, while they are lowered, and the errors so far.
    selects: HashMap<SelectId, Errors>,
    /// Queries in WITH that are lowered.
    queries: HashMap<CteId, Errors>,
    /// The relations that can be read.
    relations: HashMap<RelationId, Errors>,
}

impl Lowering<'_> {
    /// The plan of a query of which some columns may stay unread, and the errors of its columns.
    pub(crate) fn readable(&mut self, query: &Query) -> Result<(LogicalPlan, Errors)> {
        let select = match &query.body {
            Body::Select(select) if select.distinct.is_none() => select.id,
            _ => return Ok((self.query(query)?, Errors::new())),
        };
        self.unread.selects.insert(select, Errors::new());
        let plan = self.query(query);
        let errors = self.unread.selects.remove(&select).unwrap_or_default();
        Ok((plan?, errors))
    }

    /// As [`readable`](Self::readable), for a query in WITH. One that PostgreSQL does not move to its reader has no such columns.
    pub(crate) fn readable_cte(&mut self, cte: &Cte) -> Result<(LogicalPlan, Errors)> {
        match (cte.materialized, cte.references) {
            (Some(false), 1..) | (None, 1) => self.readable(&cte.query),
            _ => Ok((self.query(&cte.query)?, Errors::new())),
        }
    }

    /// Adds the errors of the columns of a query in WITH. Those of a volatile one count in any case: it is computed once.
    pub(crate) fn set_unread_of_cte(&mut self, cte: CteId, errors: Errors, is_volatile: bool) {
        match errors.first() {
            Some((_, error)) if is_volatile => _ = self.constant_error.get_or_insert(error.clone()),
            _ => _ = self.unread.queries.insert(cte, errors),
        }
    }

    /// Adds the errors of a relation's columns.
    pub(crate) fn set_unread(&mut self, relation: RelationId, errors: Errors) {
        self.unread.relations.insert(relation, errors);
    }

    /// Adds the errors of the columns of a relation that reads a query in WITH.
    pub(crate) fn set_unread_as_cte(&mut self, relation: RelationId, cte: CteId) {
        if let Some(errors) = self.unread.queries.get(&cte) {
            self.unread.relations.insert(relation, errors.clone());
        }
    }

    /// Notes that a column of a relation is read.
    pub(crate) fn read(&mut self, relation: RelationId, column: usize) {
        let errors = self.unread.relations.get(&relation);
        let error = errors.and_then(|errors| errors.iter().find(|(place, _)| *place == column));
        if let Some((_, error)) = error {
            self.constant_error.get_or_insert_with(|| error.clone());
        }
    }

    /// Whether columns of a SELECT may stay unread.
    pub(crate) fn may_stay_unread(&self, select: &Select) -> bool {
        self.unread.selects.contains_key(&select.id)
    }

    /// A value of a select list.
    pub(crate) fn output(
        &mut self,
        select: &Select,
        place: usize,
        keys: &[SortKey],
    ) -> Result<Typed> {
        let expr = &select.output[place].expr;
        let is_key = |key: &SortKey| key.expr.kind == Kind::Output(place) || key.expr == *expr;
        if !self.may_stay_unread(select) || keys.iter().any(is_key) {
            return self.expr(expr);
        }
        let before = self.constant_error.take();
        let value = self.expr(expr);
        let error = std::mem::replace(&mut self.constant_error, before);
        let errors = self.unread.selects.entry(select.id).or_default();
        errors.extend(error.map(|error| (place, error)));
        value
    }
}
