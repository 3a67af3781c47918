//! `VALUES ('a'::varchar(3)), ('b')`: a column some of whose values are cast.
//!
//! The engine wants the declared types of a column's values to be the same to the letter; PostgreSQL forgets
//! lengths that differ. Casts among other values lose what they declare here.

use super::build::{call, take};
use crate::functions::conversion::UNDECLARED;
use datafusion::sql::sqlparser::ast::{
    DataType, Expr, Query, SetExpr, Statement, Values, VisitMut, VisitorMut,
};
use std::ops::ControlFlow;

pub(super) fn rewrite(statement: &mut Statement) {
    struct Queries;
    impl VisitorMut for Queries {
        type Break = ();

        fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
            of_body(&mut query.body);
            ControlFlow::Continue(())
        }
    }
    let _ = statement.visit(&mut Queries);
}

fn of_body(body: &mut SetExpr) {
    match body {
        SetExpr::Values(values) => of_values(values),
        SetExpr::SetOperation { left, right, .. } => {
            of_body(left);
            of_body(right);
        }
        _ => {}
    }
}

fn of_values(values: &mut Values) {
    let columns = values.rows.first().map_or(0, |row| row.content.len());
    for column in 0..columns {
        let mut cells = values.rows.iter().filter_map(|row| row.content.get(column));
        let Some(first) = cells.next().map(cast_type) else { continue };
        if cells.all(|cell| cast_type(cell) == first) {
            continue;
        }
        let cells = values.rows.iter_mut().filter_map(|row| row.content.get_mut(column));
        for cell in cells.filter(|cell| cast_type(cell).is_some()) {
            *cell = call(UNDECLARED, vec![take(cell)]);
        }
    }
}

/// The type that an expression is cast to.
fn cast_type(expr: &Expr) -> Option<&DataType> {
    match expr {
        Expr::Cast { data_type, .. } => Some(data_type),
        Expr::TypedString(typed) => Some(&typed.data_type),
        Expr::Nested(inner) => cast_type(inner),
        _ => None,
    }
}
