//! Which columns of the queries in FROM and WITH are read, as PostgreSQL finds it: from the outermost query inwards, so that
//! what only an unread column needs is unread, too.
//!
//! All columns are read of a query with DISTINCT, of one in WITH that PostgreSQL computes by itself ([`is_moved`]), and of a
//! set operation, but for a UNION ALL whose sides PostgreSQL reads as if they stood in FROM ([`is_flat`]). Volatile columns and
//! sets are computed in any case, and so is what an order needs.

use crate::walk::{
    aggregate_expressions, children, contains, query_expressions, window_expressions,
};
use crate::{
    Body, Call, Column, Cte, CteId, Distinct, Expr, From, Kind, Limit, Query, Relation, RelationId,
    Select, SelectId, SetOperation, SetOperator, SortKey, Source, SubqueryKind, existence,
};
use std::collections::{HashMap, HashSet};
use system_catalog::functions::{self, Volatility};

/// What a statement reads.
#[derive(Default)]
pub struct Read<'a> {
    relations: HashMap<RelationId, &'a Relation>,
    ctes: HashMap<CteId, &'a Cte>,
    /// The SELECTs that are computed.
    selects: HashMap<SelectId, &'a Select>,
    /// The queries in WITH that are computed, and those of them that are moved to their readers.
    computed: HashSet<CteId>,
    moved: HashSet<CteId>,
    columns: HashSet<(RelationId, usize)>,
    outputs: HashSet<(SelectId, usize)>,
    aggregates: HashSet<(SelectId, usize)>,
}

impl<'a> Read<'a> {
    /// What a query reads, all of whose columns are read.
    pub fn of(query: &'a Query) -> Self {
        let mut read = Self::default();
        read.query(query, true);
        read
    }

    /// The columns of relations that are read.
    pub fn into_columns(self) -> HashSet<(RelationId, usize)> {
        self.columns
    }

    /// The SELECTs that are computed.
    pub(crate) fn selects(&self) -> impl Iterator<Item = &'a Select> {
        self.selects.values().copied()
    }

    /// Whether an item of the select list of a SELECT is read.
    pub(crate) fn has_output(&self, select: SelectId, place: usize) -> bool {
        self.outputs.contains(&(select, place))
    }

    /// Whether an aggregate of a SELECT is read.
    pub(crate) fn has_aggregate(&self, select: SelectId, place: usize) -> bool {
        self.aggregates.contains(&(select, place))
    }

    fn query(&mut self, query: &'a Query, is_whole: bool) {
        grammar::growing(|| self.query_here(query, is_whole));
    }

    fn query_here(&mut self, query: &'a Query, is_whole: bool) {
        self.ctes.extend(query.with.iter().map(|cte| (cte.id, cte)));
        match &query.body {
            Body::Select(select) => self.select(select, &query.order_by, is_whole),
            Body::Values(rows) => rows.iter().flatten().for_each(|value| self.expr(value)),
            Body::SetOperation(operation) => {
                let is_flat = is_bare(query) && is_flat(query, &query.columns);
                self.sides(operation, is_whole || !is_flat);
            }
        }
        let Limit { count, offset, .. } = &query.limit;
        count.iter().chain(offset).for_each(|limit| self.expr(limit));
    }

    fn sides(&mut self, operation: &'a SetOperation, is_whole: bool) {
        for side in [&operation.left, &operation.right] {
            match &side.body {
                Body::SetOperation(operation) if is_bare(side) => {
                    grammar::growing(|| self.sides(operation, is_whole));
                }
                _ => self.query(side, is_whole),
            }
        }
    }

    fn select(&mut self, select: &'a Select, keys: &'a [SortKey], is_whole: bool) {
        self.rows(select);
        select.group_by.iter().chain(&select.having).for_each(|expr| self.expr(expr));
        for window in &select.windows {
            window_expressions(window, &mut |expr| self.expr(expr));
        }
        for set in &select.sets {
            set.call.arguments.iter().for_each(|argument| self.expr(argument));
        }
        for key in keys {
            self.expr(&key.expr);
            each_output(&key.expr, &mut |place| self.output(select, place));
        }
        if let Some(Distinct::On(on)) = &select.distinct {
            on.iter().for_each(|expr| self.expr(expr));
        }
        let is_whole = is_whole || select.distinct.is_some();
        for (place, output) in select.output.iter().enumerate() {
            if is_whole || self.has_effect(&output.expr) {
                self.output(select, place);
            }
        }
    }

    /// The rows of FROM and WHERE.
    fn rows(&mut self, select: &'a Select) {
        self.selects.insert(select.id, select);
        select.from.iter().for_each(|from| self.from(from));
        select.filter.iter().for_each(|filter| self.expr(filter));
    }

    fn from(&mut self, from: &'a From) {
        match from {
            From::Relation(relation) => {
                self.relations.insert(relation.id, relation);
                match &relation.source {
                    Source::Query(query) => self.query(query, false),
                    Source::Cte(id) => self.cte(*id),
                    Source::Functions { calls, .. } => {
                        let arguments = calls.iter().flat_map(|set| &set.call.arguments);
                        arguments.for_each(|argument| self.expr(argument));
                    }
                    Source::Table(_) => {}
                }
            }
            From::Join { left, right, condition, .. } => {
                grammar::growing(|| {
                    self.from(left);
                    self.from(right);
                });
                condition.iter().for_each(|condition| self.expr(condition));
            }
        }
    }

    fn cte(&mut self, id: CteId) {
        if let Some(cte) = self.ctes.get(&id).copied()
            && self.computed.insert(id)
        {
            let is_moved = is_moved(cte);
            if is_moved {
                self.moved.insert(id);
            }
            self.query(&cte.query, !is_moved);
        }
    }

    fn expr(&mut self, expr: &'a Expr) {
        grammar::growing(|| {
            match &expr.kind {
                Kind::Column(relation, place) => self.column(*relation, *place),
                Kind::WholeRow(relation) => {
                    let columns = self.relations.get(relation).map_or(0, |of| of.columns.len());
                    (0..columns).for_each(|place| self.column(*relation, place));
                }
                Kind::Aggregate(select, place) => self.aggregate(*select, *place),
                Kind::Subquery(subquery) => {
                    let is_existence = matches!(subquery.kind, SubqueryKind::Exists);
                    match existence::rows_of(&subquery.query).filter(|_| is_existence) {
                        Some(select) => {
                            let with = subquery.query.with.iter();
                            self.ctes.extend(with.map(|cte| (cte.id, cte)));
                            self.rows(select);
                        }
                        None => self.query(&subquery.query, true),
                    }
                }
                _ => {}
            }
            children(expr, &mut |part| self.expr(part));
        });
    }

    fn aggregate(&mut self, select: SelectId, place: usize) {
        let select_of = self.selects.get(&select).copied();
        let known = select_of.and_then(|select| select.aggregates.get(place));
        if let Some(aggregate) = known
            && self.aggregates.insert((select, place))
        {
            aggregate_expressions(aggregate, &mut |expr| self.expr(expr));
        }
    }

    fn column(&mut self, relation: RelationId, place: usize) {
        if !self.columns.insert((relation, place)) {
            return;
        }
        let relation = self.relations.get(&relation).copied();
        let query = match relation.map(|relation| &relation.source) {
            Some(Source::Query(query)) => Some(&**query),
            Some(Source::Cte(id)) if self.moved.contains(id) => {
                self.ctes.get(id).copied().map(|cte| &cte.query)
            }
            _ => None,
        };
        if let Some(query) = query {
            self.place(query, place);
        }
    }

    /// A column of a query is read.
    fn place(&mut self, query: &'a Query, place: usize) {
        match &query.body {
            Body::Select(select) => self.output(select, place),
            Body::Values(_) => {}
            Body::SetOperation(operation) => {
                let left = (&operation.left, &operation.left_columns);
                for (side, columns) in [left, (&operation.right, &operation.right_columns)] {
                    if let Some(column) = columns.get(place) {
                        each_output(column, &mut |place| {
                            grammar::growing(|| self.place(side, place));
                        });
                    }
                }
            }
        }
    }

    fn output(&mut self, select: &'a Select, place: usize) {
        if let Some(output) = select.output.get(place)
            && self.outputs.insert((select.id, place))
        {
            self.expr(&output.expr);
        }
    }

    /// Whether a value is computed, even if nothing reads it.
    fn has_effect(&self, expr: &Expr) -> bool {
        contains(expr, &mut |part| match part.kind {
            Kind::Set(..) => true,
            Kind::Aggregate(select, place) => {
                let select = self.selects.get(&select);
                let mut is_volatile = false;
                if let Some(aggregate) = select.and_then(|select| select.aggregates.get(place)) {
                    aggregate_expressions(aggregate, &mut |expr| {
                        is_volatile = is_volatile || contains(expr, &mut self::is_volatile);
                    });
                }
                is_volatile
            }
            _ => is_volatile(part),
        })
    }
}

/// Calls a function for the place of each [`Kind::Output`] in an expression.
fn each_output(expr: &Expr, note: &mut dyn FnMut(usize)) {
    contains(expr, &mut |part| {
        if let Kind::Output(place) = part.kind {
            note(place);
        }
        false
    });
}

/// Whether PostgreSQL moves a query in WITH to who reads it.
pub fn is_moved(cte: &Cte) -> bool {
    let is_asked = matches!((cte.materialized, cte.references), (Some(false), _) | (None, 1));
    is_asked && !cte.is_recursive && !is_volatile_query(&cte.query)
}

/// Whether a query has no clauses around its rows.
fn is_bare(query: &Query) -> bool {
    query.with.is_empty() && query.order_by.is_empty() && query.limit == Limit::default()
}

/// Whether a side of UNION ALL, or what consists of such sides, has the types of the result.
fn is_flat(query: &Query, types: &[Column]) -> bool {
    match &query.body {
        Body::SetOperation(operation) if is_bare(query) => grammar::growing(|| {
            operation.operator == SetOperator::Union
                && operation.all
                && is_flat(&operation.left, types)
                && is_flat(&operation.right, types)
        }),
        _ => {
            let mut pairs = query.columns.iter().zip(types);
            pairs.all(|(column, result)| column.sql_type.oid == result.sql_type.oid)
        }
    }
}

/// Whether a query calls a volatile function.
fn is_volatile_query(query: &Query) -> bool {
    let mut found = has_volatile_set(query);
    query_expressions(query, &mut |expr| found = found || contains(expr, &mut is_volatile));
    found
}

/// Whether a part of an expression, without its own parts, calls a volatile function.
pub(crate) fn is_volatile(part: &Expr) -> bool {
    match &part.kind {
        Kind::Call(call) => is_volatile_call(call),
        Kind::Foreign(call) => call.volatility == Volatility::Volatile,
        Kind::Subquery(subquery) => has_volatile_set(&subquery.query),
        _ => false,
    }
}

fn is_volatile_call(call: &Call) -> bool {
    match &call.executed {
        Some(executed) => executed.is_volatile,
        None => functions::of(call.function)
            .is_some_and(|function| function.volatility == Volatility::Volatile),
    }
}

/// Whether a query, or one in its WITH and FROM, has a volatile function for a set.
fn has_volatile_set(query: &Query) -> bool {
    grammar::growing(|| {
        query.with.iter().any(|cte| has_volatile_set(&cte.query))
            || match &query.body {
                Body::Select(select) => {
                    select.sets.iter().any(|set| is_volatile_call(&set.call))
                        || select.from.iter().any(is_volatile_from)
                }
                Body::Values(_) => false,
                Body::SetOperation(operation) => {
                    has_volatile_set(&operation.left) || has_volatile_set(&operation.right)
                }
            }
    })
}

fn is_volatile_from(from: &From) -> bool {
    match from {
        From::Relation(relation) => match &relation.source {
            Source::Query(query) => has_volatile_set(query),
            Source::Functions { calls, .. } => calls.iter().any(|set| is_volatile_call(&set.call)),
            Source::Table(_) | Source::Cte(_) => false,
        },
        From::Join { left, right, .. } => {
            grammar::growing(|| is_volatile_from(left) || is_volatile_from(right))
        }
    }
}
