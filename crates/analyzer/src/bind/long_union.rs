//! Long chains of UNION whose queries are single rows: `SELECT 1, 'a' UNION ALL SELECT 2, 'b' ...`.
//!
//! As set operations they would be a tree as deep as they are long. They are the rows of a VALUES.

use super::Binder;
use super::comparable::comparable;
use super::set_operation::{operator, sides};
use crate::error::{Error, Result};
use crate::resolve::common_type;
use crate::system::{Oid, SqlType};
use crate::tree::{Body, Column, Expr, Kind, Limit, Output, Query, Select};
use crate::tree::{SetOperation, SetOperator};
use grammar::tree::SelectStmt;

/// The number of queries from which on a chain is long.
const LONG: usize = 40;

/// The queries of a long chain of UNION or of UNION ALL, from the left.
pub(super) fn queries(statement: &SelectStmt) -> Option<Vec<&SelectStmt>> {
    let mut all = Vec::new();
    let mut next = statement;
    while let (SetOperator::Union, Ok((left, right))) = (operator(next).0, sides(next)) {
        let is_same = next.all == statement.all && (std::ptr::eq(next, statement) || !is_cut(next));
        if !is_same {
            break;
        }
        all.push(right);
        next = left;
    }
    all.push(next);
    all.reverse();
    (all.len() >= LONG).then_some(all)
}

fn is_cut(statement: &SelectStmt) -> bool {
    statement.with_clause.is_some()
        || !statement.sort_clause.is_empty()
        || !statement.locking_clause.is_empty()
        || statement.limit_count.is_some()
        || statement.limit_offset.is_some()
}

impl Binder<'_> {
    /// A long chain of UNION.
    pub(super) fn long_union(
        &mut self,
        statement: &SelectStmt,
        queries: &[&SelectStmt],
    ) -> Result<Query> {
        let mut rows: Vec<Vec<Output>> = Vec::with_capacity(queries.len());
        for query in queries {
            let row = row_of(self.query(query)?)?;
            if let Some(first) = rows.first()
                && first.len() != row.len()
            {
                let message = "each UNION query must have the same number of columns";
                let location = row.first().map_or(-1, |output| output.expr.location.0);
                return Err(Error::new("42601", message).at(location));
            }
            rows.push(row);
        }
        let names = rows.first().into_iter().flatten().map(|output| output.name.clone());
        let names: Vec<String> = names.collect();
        let rows: Vec<Vec<Expr>> = rows
            .into_iter()
            .map(|row| row.into_iter().map(|output| output.expr).collect())
            .collect();
        let types = (0..names.len()).map(|at| common_column(&rows, at, statement.all));
        let types = types.collect::<Result<Vec<_>>>()?;
        let rows = rows.into_iter().map(|row| {
            let row = row.into_iter().zip(&types);
            row.map(|(value, to)| self.convert_to_common(value, to.oid, "UNION")).collect()
        });
        let rows = rows.collect::<Result<Vec<Vec<Expr>>>>()?;
        let columns = names.into_iter().zip(types);
        let columns: Vec<_> = columns.map(|(name, sql_type)| Column { name, sql_type }).collect();
        let body = if statement.all { Body::Values(rows) } else { distinct(rows, &columns) };
        let order_by = self.sort_keys_of_columns(&statement.sort_clause, &columns)?;
        Ok(Query { order_by, ..query_of(body, columns) })
    }
}

/// The row of a query that has one.
fn row_of(query: Query) -> Result<Vec<Output>> {
    let has_rest = !query.with.is_empty()
        || !query.order_by.is_empty()
        || query.limit.count.is_some()
        || query.limit.offset.is_some();
    match query.body {
        Body::Select(select) if !has_rest && is_row(&select) => Ok(select.output),
        _ => Err(Error::missing("a set operation of this length")),
    }
}

fn is_row(select: &Select) -> bool {
    select.from.is_empty()
        && select.filter.is_none()
        && !select.is_grouped
        && select.windows.is_empty()
        && select.sets.is_empty()
        && select.distinct.is_none()
}

/// The type of a column. Each UNION decides on the type of the queries before it and of the next one. A later one that
/// decides otherwise would convert values twice, which exact numbers do not show.
fn common_column(rows: &[Vec<Expr>], at: usize, all: bool) -> Result<SqlType> {
    let mut decided: Option<SqlType> = None;
    for (place, row) in rows.iter().enumerate() {
        let next = row[at].sql_type;
        let Some(before) = decided else {
            decided = Some(next);
            continue;
        };
        let oid = common_type(&[before.oid, next.oid]).map_err(|mixed| {
            let message = format!("UNION types {} and {} cannot be matched", mixed.0, mixed.1);
            Error::new("42804", message).at(row[at].location.0)
        })?;
        if place > 1 && oid != before.oid && !(is_exact(before.oid) && is_exact(oid)) {
            return Err(Error::missing("a set operation of these types"));
        }
        let modifier = if before == next { next.modifier } else { -1 };
        decided = Some(SqlType { oid, modifier });
    }
    let decided = decided.unwrap_or(Oid::TEXT.into());
    if !all {
        comparable("=", decided.oid, -1)?;
    }
    Ok(decided)
}

fn is_exact(oid: Oid) -> bool {
    matches!(oid, Oid::INT2 | Oid::INT4 | Oid::INT8 | Oid::NUMERIC)
}

/// The rows that differ: the first as one side of a UNION.
fn distinct(mut rows: Vec<Vec<Expr>>, columns: &[Column]) -> Body {
    let others = rows.split_off(1);
    let outputs = || {
        let outputs = columns.iter().enumerate();
        outputs.map(|(at, column)| Expr::new(Kind::Output(at), column.sql_type, -1)).collect()
    };
    Body::SetOperation(Box::new(SetOperation {
        operator: SetOperator::Union,
        all: false,
        left: query_of(Body::Values(rows), columns.to_vec()),
        right: query_of(Body::Values(others), columns.to_vec()),
        left_columns: outputs(),
        right_columns: outputs(),
    }))
}

fn query_of(body: Body, columns: Vec<Column>) -> Query {
    Query { with: Vec::new(), body, order_by: Vec::new(), limit: Limit::default(), columns }
}
