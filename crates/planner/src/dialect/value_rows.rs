//! Columns of VALUES in which some values are cast: `VALUES ('a'::varchar(3)), ('b')`.
//!
//! DataFusion requires identical declared types in a column; PostgreSQL drops lengths that differ.
//! The declared types of such casts are dropped. Numbers in a column with a floating-point value
//! become floating-point: DataFusion would make all of them `numeric`.

use super::build::{call, cast, take};
use super::casts;
use datafusion::sql::sqlparser::ast::{
    DataType, Expr, Query, SetExpr, Statement, Value, Values, VisitorMut,
};
use functions::casts::conversion::UNDECLARED;
use parser::walk::visit_mut;
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
    let _ = visit_mut(statement, &mut Queries);
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
        let cells = || values.rows.iter().filter_map(|row| row.content.get(column));
        if let Some(float) = cells().filter_map(cast_type).find(|to| casts::is_float(to)).cloned() {
            let cells = values.rows.iter_mut().filter_map(|row| row.content.get_mut(column));
            cells.filter(|cell| is_number(cell)).for_each(|cell| {
                *cell = cast(take(cell), float.clone());
            });
        }
        let cells = values.rows.iter_mut().filter_map(|row| row.content.get_mut(column));
        for cell in cells.filter(|cell| cast_type(cell).is_some()) {
            *cell = call(UNDECLARED, vec![take(cell)]);
        }
    }
}

fn is_number(expr: &Expr) -> bool {
    match expr {
        Expr::Value(value) => matches!(value.value, Value::Number(..)),
        Expr::Nested(inner) | Expr::UnaryOp { expr: inner, .. } => is_number(inner),
        _ => false,
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
