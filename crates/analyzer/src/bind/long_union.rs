//! Long chains of UNION: `SELECT 1, 'a' UNION ALL SELECT 2, 'b' ...`.
//!
//! As set operations they would be a tree as deep as they are long. If all queries are single rows, they are the rows of a
//! VALUES. Others are a balanced tree.

use super::Binder;
use super::comparable::comparable;
use super::set_operation::{operator, output_location, sides};
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
        let mut bound: Vec<Query> = Vec::with_capacity(queries.len());
        for query in queries {
            let query = self.query(query)?;
            if let Some(first) = bound.first()
                && first.columns.len() != query.columns.len()
            {
                let message = "each UNION query must have the same number of columns";
                return Err(Error::new("42601", message).at(output_location(&query, 0)));
            }
            bound.push(query);
        }
        if !bound.iter().all(is_row_query) {
            return self.balanced(statement, bound);
        }
        let rows: Vec<Vec<Output>> = bound.into_iter().map(row_of).collect();
        let names = rows.first().into_iter().flatten().map(|output| output.name.clone());
        let names: Vec<String> = names.collect();
        let rows: Vec<Vec<Expr>> = rows
            .into_iter()
            .map(|row| row.into_iter().map(|output| output.expr).collect())
            .collect();
        let types = (0..names.len()).map(|at| {
            let column = rows.iter().map(|row| (row[at].sql_type, row[at].location.0));
            common_column(column, statement.all)
        });
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

    /// The chain as a tree whose depth is the logarithm of its length.
    fn balanced(&mut self, statement: &SelectStmt, mut queries: Vec<Query>) -> Result<Query> {
        let width = queries.first().map_or(0, |query| query.columns.len());
        let types = (0..width).map(|at| {
            let column = queries.iter();
            let column =
                column.map(|query| (query.columns[at].sql_type, output_location(query, at)));
            common_column(column, statement.all)
        });
        let types = types.collect::<Result<Vec<_>>>()?;
        let names = queries.first().into_iter().flat_map(|query| &query.columns);
        let names: Vec<String> = names.map(|column| column.name.clone()).collect();
        let columns = || {
            let columns = names.iter().zip(&types);
            columns.map(|(name, to)| Column { name: name.clone(), sql_type: *to }).collect()
        };
        while queries.len() > 1 {
            let mut pairs = Vec::with_capacity(queries.len().div_ceil(2));
            let mut rest = queries.into_iter();
            while let Some(mut left) = rest.next() {
                let Some(mut right) = rest.next() else {
                    pairs.push(left);
                    break;
                };
                let mut side = |query: &mut Query| {
                    let all = types.iter().enumerate();
                    all.map(|(at, to)| self.side_column(query, at, to.oid, "UNION")).collect()
                };
                let (left_columns, right_columns): (Result<Vec<_>>, Result<Vec<_>>) =
                    (side(&mut left), side(&mut right));
                let operation = SetOperation {
                    operator: SetOperator::Union,
                    all: statement.all,
                    left,
                    right,
                    left_columns: left_columns?,
                    right_columns: right_columns?,
                };
                pairs.push(query_of(Body::SetOperation(Box::new(operation)), columns()));
            }
            queries = pairs;
        }
        let Some(query) = queries.pop() else { return Err(Error::missing("this form")) };
        let order_by = self.sort_keys_of_columns(&statement.sort_clause, &query.columns)?;
        Ok(Query { order_by, ..query })
    }
}

/// The row of a query that is one.
fn row_of(query: Query) -> Vec<Output> {
    match query.body {
        Body::Select(select) => select.output,
        _ => Vec::new(),
    }
}

fn is_row_query(query: &Query) -> bool {
    let has_rest = !query.with.is_empty()
        || !query.order_by.is_empty()
        || query.limit.count.is_some()
        || query.limit.offset.is_some();
    matches!(&query.body, Body::Select(select) if !has_rest && is_row(select))
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
fn common_column(column: impl Iterator<Item = (SqlType, i32)>, all: bool) -> Result<SqlType> {
    let mut decided: Option<SqlType> = None;
    for (place, (next, location)) in column.enumerate() {
        let Some(before) = decided else {
            decided = Some(next);
            continue;
        };
        let oid = common_type(&[before.oid, next.oid]).map_err(|mixed| {
            let message = format!("UNION types {} and {} cannot be matched", mixed.0, mixed.1);
            Error::new("42804", message).at(location)
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
