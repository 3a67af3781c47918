//! UNION, INTERSECT and EXCEPT.

use super::Binder;
use super::comparable::comparable;
use crate::error::{Error, Result};
use crate::resolve::common_type;
use crate::system::{Oid, SqlType};
use crate::tree::{Body, Column, Expr, Kind, Limit, Query, SetOperation, SetOperator};
use grammar::tree::{self, SelectStmt};

impl Binder<'_> {
    pub(super) fn set_operation(&mut self, statement: &SelectStmt) -> Result<Query> {
        let (left, right) = sides(statement)?;
        let left = self.query(left)?;
        let right = self.query(right)?;
        let mut query = self.combine(statement, left, right)?;
        query.order_by =
            self.sort_keys_of_columns(&statement.sort_clause, &query.columns.clone())?;
        Ok(query)
    }

    /// Converts the columns of both sides to their common types.
    pub(super) fn combine(
        &mut self,
        statement: &SelectStmt,
        mut left: Query,
        mut right: Query,
    ) -> Result<Query> {
        let (operator, name) = operator(statement);
        if left.columns.len() != right.columns.len() {
            let message = format!("each {name} query must have the same number of columns");
            return Err(Error::new("42601", message).at(location(&right)));
        }
        let mut columns = Vec::with_capacity(left.columns.len());
        let mut left_columns = Vec::new();
        let mut right_columns = Vec::new();
        for at in 0..left.columns.len() {
            let (first, second) = (left.columns[at].sql_type, right.columns[at].sql_type);
            let oid = common_type(&[first.oid, second.oid]).map_err(|mixed| {
                let message = format!("{name} types {} and {} cannot be matched", mixed.0, mixed.1);
                Error::new("42804", message).at(output_location(&right, at))
            })?;
            if !statement.all {
                comparable("=", oid, -1)?;
            }
            let modifier = if first == second { first.modifier } else { -1 };
            let sql_type = SqlType { oid, modifier };
            columns.push(Column { name: left.columns[at].name.clone(), sql_type });
            left_columns.push(self.side_column(&mut left, at, oid, name)?);
            right_columns.push(self.side_column(&mut right, at, oid, name)?);
        }
        let operation =
            SetOperation { operator, all: statement.all, left, right, left_columns, right_columns };
        Ok(Query {
            with: Vec::new(),
            body: Body::SetOperation(Box::new(operation)),
            order_by: Vec::new(),
            limit: Limit::default(),
            columns,
        })
    }

    /// A column of one side, converted. A literal of unknown type gets the type in its place.
    pub(super) fn side_column(
        &mut self,
        query: &mut Query,
        at: usize,
        oid: Oid,
        name: &str,
    ) -> Result<Expr> {
        if query.columns[at].sql_type.oid == Oid::UNKNOWN
            && let Body::Select(select) = &mut query.body
        {
            let taken = std::mem::replace(&mut select.output[at].expr, Expr::null(oid));
            let typed = self.convert_to_common(taken, oid, name)?;
            query.columns[at].sql_type = typed.sql_type;
            select.output[at].expr = typed;
            for key in &mut query.order_by {
                if matches!(key.expr.kind, Kind::Output(of) if of == at) {
                    key.expr.sql_type = oid.into();
                }
            }
        }
        let column =
            Expr::new(Kind::Output(at), query.columns[at].sql_type, output_location(query, at));
        self.convert_to_common(column, oid, name)
    }
}

pub(super) fn sides(statement: &SelectStmt) -> Result<(&SelectStmt, &SelectStmt)> {
    match (statement.larg.as_deref(), statement.rarg.as_deref()) {
        (Some(left), Some(right)) => Ok((left, right)),
        _ => Err(Error::missing("this set operation")),
    }
}

pub(super) fn operator(statement: &SelectStmt) -> (SetOperator, &'static str) {
    match statement.op() {
        tree::SetOperation::SetopIntersect => (SetOperator::Intersect, "INTERSECT"),
        tree::SetOperation::SetopExcept => (SetOperator::Except, "EXCEPT"),
        _ => (SetOperator::Union, "UNION"),
    }
}

fn location(query: &Query) -> i32 {
    output_location(query, 0)
}

pub(super) fn output_location(query: &Query, at: usize) -> i32 {
    match &query.body {
        Body::Select(select) => select.output.get(at).map_or(-1, |output| output.expr.location.0),
        Body::Values(rows) => {
            rows.first().and_then(|row| row.get(at)).map_or(-1, |value| value.location.0)
        }
        Body::SetOperation(operation) => output_location(&operation.left, at),
    }
}
